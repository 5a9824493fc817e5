"""How busy a stint is: processors, memory, disk and accelerators of its process tree."""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Dict, Iterable, Optional, Sequence, Tuple

from .accelerators import CardWatch
from .processes import read_stat

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Sampler:
    """Looks at a process tree from outside. One sample costs some 30 µs per process and starts nothing."""

    def __init__(
        self,
        pids: Callable[[], Iterable[int]],
        cpus: int,
        memory_limit_bytes: Optional[int] = None,
        gpus: Sequence[str] = (),
        npus: Sequence[str] = (),
    ) -> None:
        self._pids = pids
        self._cpus = max(1, cpus)
        self._limit_bytes = memory_limit_bytes
        self._cards = CardWatch(gpus, npus)
        self._seen: Dict[Tuple[int, int], int] = {}  # (pid, start) -> ticks at the last sample
        self._sampled_at: Optional[float] = None
        self._memory_bytes = 0
        self._peak_bytes = 0

    def sample(self) -> Dict[str, Any]:
        """The state now, as the beat's `device` carries it.

        `cpu_percent` is the share of the stint's own processors since the last sample (100: all of them were
        busy), None in the first one. Memory is what the processes hold together; pages that they share count once
        for each. `read_bytes` and `written_bytes` are totals of the living processes.
        """
        now = time.monotonic()
        ticks, self._memory_bytes, read, written = self._look()
        self._peak_bytes = max(self._peak_bytes, self._memory_bytes)
        percent = None
        if self._sampled_at is not None and now > self._sampled_at:
            percent = round(100.0 * ticks / _TICKS_PER_S / (now - self._sampled_at) / self._cpus, 1)
        self._sampled_at = now
        return {
            "cpu_percent": percent,
            "cpus": self._cpus,
            "memory_bytes": self._memory_bytes,
            "memory_peak_bytes": self._peak_bytes,
            "memory_limit_bytes": self._limit_bytes,
            "read_bytes": read,
            "written_bytes": written,
            "accelerators": self._cards.cards(),
        }

    def _look(self) -> Tuple[int, int, int, int]:
        """Ticks used since the last look, memory, bytes read, bytes written."""
        ticks = pages = read = written = 0
        seen: Dict[Tuple[int, int], int] = {}
        for pid in self._pids():
            stat = read_stat(pid)
            if stat is None:
                continue
            key = (pid, stat.start_ticks)
            seen[key] = stat.cpu_ticks
            ticks += stat.cpu_ticks - self._seen.get(key, 0)
            pages += stat.rss_pages
            own_read, own_written = _io_bytes(pid)
            read += own_read
            written += own_written
        self._seen = seen
        return ticks, pages * _PAGE_BYTES, read, written

    def over_memory(self) -> Optional[str]:
        """A sentence when the tree holds more memory than its limit, else None. Uses the last sample.

        Shared pages are counted once before the verdict: data loaders share most of theirs.
        """
        if self._limit_bytes is None or self._memory_bytes <= self._limit_bytes:
            return None
        held = sum(_proportional_bytes(pid) for pid in self._pids())
        if held <= self._limit_bytes:
            return None
        return "the script holds %s of memory, its limit is %s; raise --memory, or use a smaller batch" % (
            _megabytes(held),
            _megabytes(self._limit_bytes),
        )


def _io_bytes(pid: int) -> Tuple[int, int]:
    try:
        with open("/proc/%d/io" % pid) as file:
            values = dict(line.split(":") for line in file)
        return int(values["read_bytes"]), int(values["write_bytes"])
    except (OSError, ValueError, KeyError):
        return 0, 0


def _proportional_bytes(pid: int) -> int:
    """Memory of a process with shared pages divided among those who share them; milliseconds for large ones."""
    try:
        with open("/proc/%d/smaps_rollup" % pid) as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    stat = read_stat(pid)
    return 0 if stat is None else stat.rss_pages * _PAGE_BYTES


def _megabytes(size_bytes: int) -> str:
    return "%d MB" % (size_bytes >> 20)
