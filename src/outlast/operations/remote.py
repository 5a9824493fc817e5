"""What a run needs from the network, tried before anything is spent: its store, and inputs that have an address."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from outlast.errors import CredentialError, NotFoundError, SpecError
from outlast.inside.contracts.modelarts import is_own_bucket
from outlast.inside.move.address import parse
from outlast.inside.move.base import Tree
from outlast.inside.net.retry import Policy
from outlast.inside.place import ACCESSES
from outlast.inside.stores import is_remote
from outlast.inside.stores.base import Store
from outlast.keeper.accesses import Accesses, Granted, encode, is_played
from outlast.keeper.home import Home
from outlast.model.quantities import format_size
from outlast.model.spec import Input, Output
from outlast.operations.contracts import MOXING
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
    single_files: frozenset[str] = frozenset()  # inputs that turned out to be one file

    @property
    def secrets(self) -> dict[str, str]:
        """As a run keeps them and its runners get them; empty when nothing of it lies in a network."""
        return {ACCESSES: encode(self.granted)} if self.granted else {}


def reach(resolved: Resolved, home: Home, tell: Tell) -> Reached:
    """Open the store and look at every input, with real calls. One error names what cannot be used and why."""
    accesses = Accesses(home)
    inputs = [given for given in resolved.inputs if is_remote(given.source)]
    outputs = [each for each in resolved.outputs if is_remote(each.target) and not is_own_bucket(each.target)]
    named = [*(given.source for given in inputs), *(each.target for each in outputs)]
    granted = accesses.grant([resolved.store])
    for url in named:
        if not is_played(url, resolved.maps):
            granted.update(_granted(accesses, url))
    store = _open(resolved.store, granted)
    notices: list[str] = []
    if is_remote(resolved.store):
        tell(f"trying {resolved.store}")
        _try_store(resolved.store, store, granted, notices)
    looking = _Looking(resolved, granted, home, notices, tell)
    fetched_bytes = sum(map(looking.at_input, inputs))
    for each in outputs:
        looking.at_output(each)
    if resolved.contract in MOXING:
        for root, each_granted in accesses.grant_usual("obs").items():
            granted.setdefault(root, each_granted)
            notices.append("the script can use your keys of OBS through moxing")
    return Reached(store, granted, fetched_bytes, tuple(notices), frozenset(looking.single_files))


def _granted(accesses: Accesses, url: str) -> dict[str, Granted]:
    try:
        return accesses.grant([url])
    except CredentialError as error:
        bucket = parse(url)._replace(profile="").root
        ways = f"{error.hint}, or let a folder play it: outlast store map {bucket} ./folder"
        raise CredentialError(error.message, hint=ways) from None


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


class _Looking:
    """Inputs and outputs at addresses, one after the other."""

    def __init__(
        self, resolved: Resolved, granted: dict[str, Granted], home: Home, notices: list[str], tell: Tell
    ) -> None:
        self._resolved = resolved
        self._accesses = {root: each.access for root, each in granted.items()}
        self._home = home
        self._notices = notices
        self._tell = tell
        self.single_files: set[str] = set()

    def at_input(self, given: Input) -> int:
        """How many bytes of an input have to be fetched; `SpecError` when there is nothing to fetch."""
        from outlast.inside.sources import Source, is_cached

        self._tell(f"looking at {given.source}")
        if self._resolved.contract == "modelarts-v1":
            return self._at_address(given)
        with self._found(given):
            source = Source.open(given.source, self._accesses, self._resolved.maps)
        if not source.is_folder:
            self.single_files.add(given.name)
        packed = " (packed)" if source.is_packed else ""
        files = "1 file" if source.file_count == 1 else f"{source.file_count:,} files"
        self._notices.append(f"input {given.name}: {files}, {format_size(source.size_bytes)} at {given.source}{packed}")
        return 0 if is_cached(str(self._home.cache), source) else source.size_bytes

    def _at_address(self, given: Input) -> int:
        """The script copies such an input itself, as much of it as it likes: only whether it exists is asked."""
        if is_own_bucket(given.source):
            return 0  # a file or folder of this machine, which was found
        from outlast.inside.move.plan import Place, identify

        with self._found(given):
            identify(Place(parse(given.source), self._tree(given.source)), single=False)
        return 0

    def at_output(self, output: Output) -> None:
        """`OutlastError` when its bucket or server does not answer."""
        self._tell(f"looking at {output.target}")
        with spoken(f"output {output.name}"):
            self._tree(output.target).stat(parse(output.target).path)

    def _tree(self, url: str) -> Tree:
        from outlast.inside.move.trees import open_tree

        address = parse(url)
        return open_tree(address, self._accesses.get(address.root), self._resolved.maps)

    @contextlib.contextmanager
    def _found(self, given: Input) -> Iterator[None]:
        try:
            with spoken(f"input {given.name}"):
                yield
        except NotFoundError:
            raise SpecError(
                f"input {given.name}: there is nothing at {given.source}",
                hint=f"see what is there with: outlast ls {_above(given)}",
            ) from None


def _above(given: Input) -> str:
    """The folder or bucket that an address lies in."""
    return given.source.rstrip("/").rpartition("/")[0] + "/"
