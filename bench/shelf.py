"""What the null server knows: sets of files that it shows, and the sizes and tags of what was sent to it.

Several processes share it. Each writes a region of its own and looks through all of them, so nothing is locked.
"""

from __future__ import annotations

import bisect
import mmap
import struct
import time
from typing import NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import escape

from bench.datasets import STORED_AT, Dataset

_SLOT = struct.Struct("<qq16sq")  # hash of the name (0: free), size, digest, number of parts
_SLOTS = 1 << 18
_COUNTS = struct.Struct("<qqqqqq")
_SPARE = 1 << 10  # slots behind the last one, for what collides there
_REGION_BYTES = _COUNTS.size + _SLOT.size * (_SLOTS + _SPARE)


class Counts(NamedTuple):
    """What a server has done since it started."""

    requests: int = 0
    refused: int = 0
    objects_in: int = 0
    bytes_in: int = 0
    objects_out: int = 0
    bytes_out: int = 0


class Record(NamedTuple):
    """An object that was sent: all that is kept of it."""

    size_bytes: int
    digest: bytes
    parts: int

    @property
    def etag(self) -> str:
        return self.digest.hex() + (f"-{self.parts}" if self.parts else "")


class Shelf:
    """Records by name in shared memory. Made before the processes fork; each then calls `own`."""

    def __init__(self, workers: int) -> None:
        self._memory = mmap.mmap(-1, _REGION_BYTES * workers)
        self._starts = [_REGION_BYTES * number for number in range(workers)]
        self._own = 0

    def own(self, worker: int) -> None:
        self._own = self._starts[worker]

    def keep(self, name: str, record: Record) -> None:
        mark = hash(name) or 1  # forked processes share the seed of `hash`
        slot = self._own + _COUNTS.size + mark % _SLOTS * _SLOT.size
        while _SLOT.unpack_from(self._memory, slot)[0] not in (0, mark):
            slot += _SLOT.size
        _SLOT.pack_into(self._memory, slot, mark, *record)

    def find(self, name: str) -> Record | None:
        mark = hash(name) or 1
        for start in self._starts:
            slot = start + _COUNTS.size + mark % _SLOTS * _SLOT.size
            while True:
                found, *fields = _SLOT.unpack_from(self._memory, slot)
                if found == mark:
                    return Record(*fields)
                if not found:
                    break
                slot += _SLOT.size
        return None

    def count(self, counts: Counts) -> None:
        _COUNTS.pack_into(self._memory, self._own, *counts)

    @property
    def counts(self) -> Counts:
        """Over all processes."""
        return Counts(
            *map(sum, zip(*(_COUNTS.unpack_from(self._memory, start) for start in self._starts), strict=True))
        )


class Shown:
    """One bucket with a set of files in it, ready to be listed."""

    def __init__(self, dataset: Dataset) -> None:
        entries = sorted(dataset.entries)
        self.entries = {entry.key: entry for entry in entries}
        self._keys = [entry.key for entry in entries]
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(STORED_AT))
        self._lines = [
            f"<Contents><Key>{escape(quote(entry.key))}</Key><LastModified>{at}</LastModified><ETag>&quot;{entry.etag}"
            f"&quot;</ETag><Size>{entry.size_bytes}</Size><StorageClass>STANDARD</StorageClass></Contents>"
            for entry in entries
        ]

    def page(self, prefix: str, delimiter: str, after: str, limit: int) -> tuple[list[str], list[str], str]:
        """Lines of one page, its common prefixes, and the key or prefix it ended with (empty: it is the last)."""
        position = bisect.bisect_right(self._keys, after) if after >= prefix else bisect.bisect_left(self._keys, prefix)
        lines: list[str] = []
        prefixes: list[str] = []
        last = ""
        while position < len(self._keys) and self._keys[position].startswith(prefix):
            if len(lines) + len(prefixes) == limit:
                return lines, prefixes, last
            last = self._keys[position]
            cut = last.find(delimiter, len(prefix)) if delimiter else -1
            if cut < 0:
                lines.append(self._lines[position])
                position += 1
                continue
            common = last[: cut + len(delimiter)]
            # A page that ends with a folder goes on behind the last key that can be in it.
            last = common + "\U0010ffff"
            prefixes.append(common)
            position = bisect.bisect_right(self._keys, last)
        return lines, prefixes, ""
