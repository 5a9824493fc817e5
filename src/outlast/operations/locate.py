"""From what a user typed to one run: an id, the beginning of one, or a name."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outlast.errors import NotFoundError, UsageError
from outlast.inside import layout
from outlast.inside.net.retry import Policy
from outlast.inside.stores import is_remote
from outlast.inside.stores.base import Store
from outlast.keeper.home import Home
from outlast.keeper.inbox import absorb, markers
from outlast.keeper.observe import RunFolder
from outlast.operations.faults import spoken
from outlast.operations.served import served
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.keeper.index import Index, RunRow

_RUN_ID = re.compile(r"\d{4}-[a-z]+-[a-z]+-[a-z0-9]+")


@dataclass(frozen=True)
class Located:
    """A run and the store that holds its folder."""

    run: str
    url: str
    store: Store

    def folder(self) -> RunFolder:
        """The run's documents, freshly read."""
        with spoken(f"run {self.run}"):
            folder = RunFolder(self.store, self.run)
            folder.refresh()
            return folder


def open_index(settings: Settings) -> Index:
    """The index, with every run that waits in the inbox."""
    from outlast.keeper.opening import index_of

    home = Home(settings.home)
    index = index_of(settings, home)
    absorb(home, index, take=False)
    return index


@served("runs")
def locate(settings: Settings, ref: str) -> Located:
    """The run that `ref` means. A whole id is found without the database.

    An id wins over a name, a name (its newest run) over the beginning of an id. Several runs that begin alike are a
    `UsageError` that lists them, no run at all a `NotFoundError` with the nearest names.
    """
    home = Home(settings.home)
    if _RUN_ID.fullmatch(ref):
        waiting = {marker.run: marker.store for marker in markers(home)}
        url = waiting.get(ref, settings.store)
        # A store over a network is asked only for runs that are known to lie there.
        if ref in waiting or not is_remote(url):
            store = open_run_store(home, url, ref)
            with spoken(f"run {ref}"):
                if store.head(layout.spec_key(ref)) is not None:
                    return Located(ref, url, store)
    row = find_row(settings, ref)
    return Located(row.id, row.store, open_run_store(home, row.store, row.id))


def open_run_store(home: Home, url: str, run: str) -> Store:
    """The store of a run, with the keys it was submitted with or, should these be refused, with those known now."""
    if not is_remote(url):
        from outlast.store.registry import open_store

        return open_store(url)
    from outlast.keeper.accesses import Accesses

    return Accesses(home).open_run(url, run, Policy())


def find_row(settings: Settings, ref: str) -> RunRow:
    """The index's row of the run that `ref` means."""
    index = open_index(settings)
    try:
        found = index.find(ref) if ref else []
        exact = [row for row in found if row.id == ref] or [row for row in found if row.name == ref][-1:]
        if exact:
            return exact[0]
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(
                f"{len(found)} runs begin with {ref!r}: {_some([row.id for row in found])}", hint="write more of the id"
            )
        raise _unknown(ref, index)
    finally:
        index.close()


def _unknown(ref: str, index: Index) -> NotFoundError:
    words = [word for row in index.all_runs() for word in (row.name, row.id)]
    close = difflib.get_close_matches(ref, words, n=1, cutoff=0.5)
    guess = f"; did you mean {close[0]!r}?" if close else ""
    return NotFoundError(f"no run {ref!r}{guess}", hint="list the runs with: outlast ps --all")


def _some(ids: list[str], most: int = 8) -> str:
    return ", ".join(ids[-most:]) + (f" and {len(ids) - most} more" if len(ids) > most else "")
