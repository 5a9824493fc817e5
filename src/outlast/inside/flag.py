"""The stop flag: one byte that the runner raises and the script reads for free.

A file of 64 bytes mapped by both: byte 0 says whether the flag is up, the rest says why. Reading it is one memory
access, so a training loop may look at every step.
"""

from __future__ import annotations

import mmap
import os

SIZE_BYTES = 64
_WHY_BYTES = SIZE_BYTES - 1


class StopFlag:
    """A flag shared by processes through a mapped file. Once raised it stays raised."""

    def __init__(self, mapped: mmap.mmap) -> None:
        self._map = mapped

    @classmethod
    def create(cls, path: str) -> StopFlag:
        """Make a lowered flag at `path` and return the runner's end of it.

        A flag that was there before is replaced, never rewritten: whoever still maps the old one keeps reading it.
        """
        fresh = "%s.%d.tmp" % (path, os.getpid())
        with open(fresh, "w+b") as file:
            file.write(bytes(SIZE_BYTES))
            file.flush()
            mapped = mmap.mmap(file.fileno(), SIZE_BYTES)
        os.replace(fresh, path)
        return cls(mapped)

    @classmethod
    def open(cls, path: str) -> StopFlag:
        """The script's end: read only. `OSError` or `ValueError` when there is no whole flag at `path`."""
        with open(path, "rb") as file:
            return cls(mmap.mmap(file.fileno(), SIZE_BYTES, access=mmap.ACCESS_READ))

    def raise_(self, why: str) -> None:
        """Ask the script to save and leave. A second call changes nothing, so the first reason is kept."""
        if self.is_raised():
            return
        # Cut at a character, not inside one; the reason is complete before the byte that makes it count.
        text = why.encode("utf-8")[:_WHY_BYTES].decode("utf-8", "ignore").encode("utf-8")
        self._map[1:SIZE_BYTES] = text.ljust(_WHY_BYTES, b"\0")
        self._map[0] = 1

    def is_raised(self) -> bool:
        return self._map[0] == 1

    def why(self) -> str:
        """The reason given, at most 63 bytes of it; empty while the flag is down."""
        return self._map[1:SIZE_BYTES].rstrip(b"\0").decode("utf-8", "replace")

    def close(self) -> None:
        self._map.close()
