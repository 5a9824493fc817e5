"""What a run needs from the network, tried before anything is spent: its store, and inputs that have an address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from outlast.errors import NotFoundError, SpecError
from outlast.inside.net.retry import Policy
from outlast.inside.place import ACCESSES
from outlast.inside.stores import is_remote
from outlast.inside.stores.base import Store
from outlast.keeper.accesses import Accesses, Granted, encode
from outlast.keeper.home import Home
from outlast.model.quantities import format_size
from outlast.model.spec import Input
from outlast.operations.faults import spoken
from outlast.operations.resolve import Resolved

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Reached:
    """What was found: the store, open; the keys that the run will use; and how much has to be fetched."""

    store: Store
    granted: dict[str, Granted]
    input_bytes: int = 0  # not in this home's cache yet
    notices: tuple[str, ...] = ()

    @property
    def secrets(self) -> dict[str, str]:
        """As a run keeps them and its runners get them; empty when nothing of it lies in a network."""
        return {ACCESSES: encode(self.granted)} if self.granted else {}


def reach(resolved: Resolved, home: Home, tell: Tell) -> Reached:
    """Open the store and look at every input, with real calls. One error names what cannot be used and why."""
    accesses = Accesses(home)
    inputs = [given for given in resolved.inputs if is_remote(given.source)]
    granted = accesses.grant([resolved.store, *(given.source for given in inputs)])
    store = _open(resolved.store, granted)
    notices: list[str] = []
    if is_remote(resolved.store):
        tell(f"trying {resolved.store}")
        _try_store(resolved.store, store, granted, notices)
    fetched_bytes = sum(_look_at(given, granted, home, notices, tell) for given in inputs)
    return Reached(store, granted, fetched_bytes, tuple(notices))


def _open(url: str, granted: dict[str, Granted]) -> Store:
    from outlast.store.registry import open_store

    root = next((root for root in granted if (url + "/").startswith(root + "/")), None)
    return open_store(url, granted[root].access if root else None, Policy())


def _try_store(url: str, store: Store, granted: dict[str, Granted], notices: list[str]) -> None:
    from outlast.store.probe import probe_store

    with spoken(f"the store {url} cannot be used"):
        probe_store(store)
        conditional = store.conditional
    root = next(root for root in granted if (url + "/").startswith(root + "/"))
    # Found out once, here: every runner would otherwise try again.
    granted[root] = granted[root]._replace(access=granted[root].access._replace(conditional=conditional))
    if not conditional:
        notices.append(
            f"{root} does not refuse to overwrite: a claim and a checkpoint take about four seconds longer there"
        )


def _look_at(given: Input, granted: dict[str, Granted], home: Home, notices: list[str], tell: Tell) -> int:
    """How many bytes of an input have to be fetched; `SpecError` when there is nothing to fetch."""
    from outlast.inside.sources import Source, is_cached

    tell(f"looking at {given.source}")
    try:
        with spoken(f"input {given.name}"):
            source = Source.open(given.source, {root: each.access for root, each in granted.items()})
    except NotFoundError:
        raise SpecError(
            f"input {given.name}: there is nothing at {given.source}",
            hint=f"see what is there with: outlast ls {_above(given)}",
        ) from None
    packed = " (packed)" if source.is_packed else ""
    files = "1 file" if source.file_count == 1 else f"{source.file_count:,} files"
    notices.append(f"input {given.name}: {files}, {format_size(source.size_bytes)} at {given.source}{packed}")
    return 0 if is_cached(str(home.cache), source) else source.size_bytes


def _above(given: Input) -> str:
    """The folder or bucket that an address lies in."""
    return given.source.rstrip("/").rpartition("/")[0] + "/"
