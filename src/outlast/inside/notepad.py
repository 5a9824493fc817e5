"""Where a script writes its points down: memory that the runner sees too, so that no death of the script loses one."""

from __future__ import annotations

import itertools
import json
import math
import mmap
import os
import threading
import time
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Tuple

from .points import NO_STEP, RECORD, RECORD_BYTES

#: A script that puts a number into the name would otherwise fill the memory of everybody who reads its points.
NAMES_LIMIT = 10000
NAME_LENGTH = 200
#: Pages that the runner has not taken yet: beyond them (256 MiB) it is not there, and the disk is not ours to fill.
PAGES_LIMIT = 64
FIRST_PAGE_BYTES = 64 << 10
PAGE_BYTES = 4 << 20
_RETRY_S = 5.0

_pack_into = RECORD.pack_into
_monotonic = time.monotonic


#: A page, the offsets of its free records, and its end.
_Sheet = Tuple[Optional[mmap.mmap], Iterator[int], int]


class Notepad:
    """Numbered pages of records, mapped from files `<folder>/<process>.000001` and so on, beside a file of notes.

    A record is seen by the runner as soon as its mark, which is written last, is not 0. `write` takes about a
    microsecond, never raises and never waits. It needs no lock, because taking the next free record is one step for
    the interpreter: threads, signal handlers and forks may come between any two others. What cannot be written is
    left out, and `say` tells the user once.
    """

    def __init__(self, folder: str, say: Callable[[str, str], None]) -> None:
        self._stem = os.path.join(folder, "%d-%s" % (os.getpid(), os.urandom(4).hex()))
        self._say = say
        self._marks: Dict[str, int] = {}
        self._next_mark = itertools.count(1)
        self._sheet: _Sheet = (None, itertools.count(), 0)
        self._number = 0
        self._turning = threading.RLock()  # only for what is rare: a new name, a new page, a note
        self._is_turning = False  # seen by whoever comes upon a page turn of its own thread: a signal handler
        self._notes: Optional[int] = None
        self._retry_at_s = 0.0

    def write(self, epoch: float, step: int, values: Mapping[str, float]) -> None:
        """Write down the values of one call: floats, with `nan` and `NO_STEP` for no epoch and no step."""
        page, free, end = self._sheet
        marks = self._marks
        now = _monotonic()
        first = None  # written last: the runner takes nothing behind it before it is there, so it sees the call whole
        for name, value in values.items():
            mark = marks.get(name) or self._introduce(name)
            if mark:
                at = next(free)
                while at >= end:
                    page, free, end = self._turn_page(page)
                    if not end:
                        self._write_elsewhere(now, epoch, step, {name: value})
                        break
                    at = next(free)
                else:
                    if first is None:
                        first = (page, at, value, mark)
                    else:
                        _pack_into(page, at, now, epoch, step, value, mark)  # type: ignore[arg-type]
        if first is not None:
            page, at, value, mark = first
            _pack_into(page, at, now, epoch, step, value, mark)  # type: ignore[arg-type]

    def note(self, epoch: Optional[float], step: Optional[int], values: Mapping[str, Any]) -> None:
        """Write down a call that has texts among its values."""
        with self._turning:
            self._jot({"at": _monotonic(), "epoch": epoch, "step": step, "values": dict(values)})

    def _introduce(self, name: str) -> int:
        """Give a name its mark, told to the runner before the first record that carries it; 0 when it is refused."""
        with self._turning:
            if name in self._marks:
                return self._marks[name]
            if len(self._marks) >= NAMES_LIMIT:
                self._say(
                    "track() has seen %d different names, the most it keeps; %r and other new ones are left out. "
                    "What counts up belongs into step=… or epoch=…, not into the name" % (NAMES_LIMIT, name[:40]),
                    "names",
                )
                return 0
            if len(name) > NAME_LENGTH:
                self._say(
                    "track(%s…=...) has a name of %d letters; the most is %d; left out"
                    % (name[:40], len(name), NAME_LENGTH),
                    "name length",
                )
                return 0
            mark = next(self._next_mark)
            if not self._jot([mark, name]):
                return 0
            self._marks[name] = mark
            return mark

    def _jot(self, note: Any) -> bool:
        line = json.dumps(note).encode("ascii") + b"\n"
        try:
            if self._notes is None:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
                self._notes = os.open(self._stem + ".notes", flags, 0o600)
            return os.write(self._notes, line) == len(line)
        except OSError as error:
            return self._give_up(error)

    def _turn_page(self, old: Optional[mmap.mmap]) -> _Sheet:
        """The page after `old`, begun if no other thread has done so; an empty sheet when there can be none now."""
        nothing: _Sheet = (None, itertools.count(), 0)
        with self._turning:
            if self._is_turning:
                return self._sheet if self._sheet[0] is not old else nothing
            self._is_turning = True
            try:
                # Looked at only now: a signal handler that came before may have turned the page, and a second new one
                # would leave the first unfilled, behind which the runner reads nothing.
                if self._sheet[0] is not old:
                    return self._sheet
                if _monotonic() < self._retry_at_s:
                    return nothing
                number = self._number + 1
                size = min(PAGE_BYTES, FIRST_PAGE_BYTES << 2 * min(number - 1, 8))
                if number > PAGES_LIMIT and os.path.exists(self._path(number - PAGES_LIMIT)):
                    raise OSError("the runner takes none at the moment")
                page = _new_page(self._path(number), size)
                self._number = number
                # Whole records only: where all of a page's records are taken, the page is complete.
                self._sheet = (page, itertools.count(0, RECORD_BYTES), size - size % RECORD_BYTES)
                return self._sheet
            except (OSError, ValueError) as error:
                self._give_up(error)
                return nothing
            finally:
                self._is_turning = False

    def _write_elsewhere(self, now: float, epoch: float, step: int, values: Mapping[str, float]) -> None:
        """For a signal handler that has interrupted its own thread at the turn of a page: the notes are open."""
        if self._is_turning:
            where = None if math.isnan(epoch) else epoch
            self._jot({"at": now, "epoch": where, "step": None if step == NO_STEP else step, "values": dict(values)})

    def _path(self, number: int) -> str:
        return "%s.%06d" % (self._stem, number)

    def _give_up(self, error: Exception) -> bool:
        self._retry_at_s = _monotonic() + _RETRY_S
        self._say("points of track() are being lost: %s" % error, "points lost")
        return False


def _new_page(path: str, size: int) -> mmap.mmap:
    """A mapped file. Its blocks are reserved first: writing to a hole of a full disk would kill the script."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(fd, 0, size)
        return mmap.mmap(fd, size)
    except (OSError, ValueError):
        os.unlink(path)
        raise
    finally:
        os.close(fd)
