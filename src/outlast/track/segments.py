"""Segments in order: numbered pieces of a stint's log or metrics that are never rewritten."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from outlast.inside import layout
from outlast.inside.errors import NotFound
from outlast.store.base import Store

#: How a segment's key is made: run, stint, number.
KeyOf = Callable[[str, int, int], str]


def read_segments(store: Store, prefix: str) -> Iterator[bytes]:
    """Every segment below a prefix, by number. One that is removed meanwhile is left out."""
    for _, key in numbered_segments(store, prefix):
        try:
            yield store.get(key)
        except NotFound:
            continue


def numbered_segments(store: Store, prefix: str) -> list[tuple[int, str]]:
    """The number and the key of every segment below a prefix, in order."""
    keys = [entry.key for entry in store.list(prefix)]
    return sorted((int(key[len(prefix) :]), key) for key in keys if key[len(prefix) :].isdigit())


class SegmentTail:
    """New segments of all stints of a run, each exactly once.

    Costs one request for each new segment and two or three beside, however long the run is: it asks for the next
    number instead of listing. A stint's pieces come before its successor's, except those that a runner which was
    given up still sends: they come when they are there.
    """

    def __init__(self, store: Store, run: str, key_of: KeyOf) -> None:
        self._store = store
        self._run = run
        self._key_of = key_of
        self._next = {1: 1}  # stint -> number of its next segment; the newest two are watched
        self._found: list[tuple[int, bytes]] = []  # read, but not delivered: the store failed in the middle

    def poll(self) -> list[tuple[int, bytes]]:
        """Every segment that appeared since the last call, as (stint, bytes). A call that fails loses none."""
        self._look()
        found, self._found = self._found, []
        return found

    def _look(self) -> None:
        while True:
            newest = max(self._next)
            # Asked first: whatever the predecessors wrote before the next order is then read below.
            has_next = self._store.head(layout.order_key(self._run, newest + 1)) is not None
            for stint in sorted(self._next):
                self._drain(stint)
            if not has_next:
                return
            self._next[newest + 1] = 1
            self._next.pop(newest - 1, None)

    def _drain(self, stint: int) -> None:
        while True:
            try:
                data = self._store.get(self._key_of(self._run, stint, self._next[stint]))
            except NotFound:
                return
            self._next[stint] += 1
            self._found.append((stint, data))
