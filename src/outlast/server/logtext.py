"""The output of a run as one text, of which any part can be read without reading the rest."""

from __future__ import annotations

import bisect
from dataclasses import dataclass

from outlast.errors import NotFoundError
from outlast.inside import layout
from outlast.operations.faults import spoken
from outlast.operations.locate import Located
from outlast.operations.logs import check_node
from outlast.server.events import Position
from outlast.store.base import Store


@dataclass(frozen=True)
class LogText:
    """The segments that were there at one moment, in order."""

    run: str
    size_bytes: int
    position: Position  # where a follower goes on
    _store: Store
    _keys: list[str]
    _starts: list[int]  # where each segment begins

    @classmethod
    def read(cls, found: Located, stint: int | None = None, node: int = 0) -> LogText:
        """List the segments of a run, or of one stint, on one node; `NotFoundError` when it has no such."""
        folder = found.folder()
        last = folder.last
        check_node(found.run, folder.spec, node)
        if stint is not None and not 1 <= stint <= last:
            raise NotFoundError(f"run {found.run} has no stint {stint}; it has {last or 'none yet'}")
        keys: list[str] = []
        starts: list[int] = []
        size_bytes = 0
        position: Position = {}
        for number in range(1, last + 1) if stint is None else [stint]:
            prefix = layout.log_prefix(found.run, number, node)
            with spoken(f"output of {found.run}"):
                segments = [each for each in found.store.list(prefix) if each.key[len(prefix) :].isdigit()]
            for entry in sorted(segments, key=lambda each: int(each.key[len(prefix) :])):
                keys.append(entry.key)
                starts.append(size_bytes)
                size_bytes += entry.size_bytes
            position[number] = int(keys[-1][len(prefix) :]) + 1 if segments else 1
        newest = sorted(position)[-2:]
        return cls(
            found.run, size_bytes, {each: position[each] for each in newest} or {1: 1}, found.store, keys, starts
        )

    def get(self, start: int, length: int) -> bytes:
        """Up to `length` bytes from `start`; a segment's end may come first."""
        place = bisect.bisect_right(self._starts, start) - 1
        with spoken(f"output of {self.run}"):
            return self._store.get_range(self._keys[place], start - self._starts[place], length)
