"""The rhythm of a script that never rests: which files it writes in each round, and where a round begins."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Sequence

from .saves import differs_once, family
from .seen import SeenFile

_ROUNDS = 3
_SERIES = 8
_MAX_EVENTS = 64
_UNKNOWN_S = 1e6  # before the first look anything may have happened


class _Event(NamedTuple):
    file: SeenFile
    gap_ns: int  # since the look before: nothing shorter than this can be told apart


class Rounds:
    """Learns from the first writes after the script's start, for places that are never quiet.

    Two signs must agree on where a save begins: the first file that was ever written, and the pause before it, which
    must be at least twice as long as the save. Every write must have been seen, so the looks must be at least twice
    as frequent as the saves. When anything is irregular, nothing is learned.
    """

    def __init__(self, settle_s: float) -> None:
        self._settle_ns = int(settle_s * 1e9)
        self._events: List[_Event] = []
        self._last_look_s: Optional[float] = None

    def note(self, moved: Sequence[SeenFile], now: float) -> None:
        """These files were written since the look before, in this order. To be called for every look."""
        gap_s = _UNKNOWN_S if self._last_look_s is None else now - self._last_look_s
        self._last_look_s = now
        for file in moved:
            if self._events and self._events[-1].file.path == file.path:
                # Still the same write, seen in two pieces.
                self._events[-1] = _Event(file, self._events[-1].gap_ns)
            elif len(self._events) < _MAX_EVENTS:
                self._events.append(_Event(file, int(gap_s * 1e9)))

    def find(self) -> List[SeenFile]:
        """The files of one whole save, oldest first; empty while nothing is certain."""
        events = self._events
        names = [family(event.file.path) for event in events]
        length = next((index for index, name in enumerate(names) if name in names[:index]), 0)
        if length == 0 or not _is_increasing(events):
            return []
        if length == 1:
            return [events[-1].file] if self._is_series() else []
        rounds = len(events) // length
        regular = all(name == names[index % length] for index, name in enumerate(names))
        if rounds < _ROUNDS or not regular:
            return []
        if not all(self._stands_apart(start, length) for start in range(0, (rounds - 1) * length, length)):
            return []
        return [event.file for event in events[(rounds - 1) * length : rounds * length]]

    def _stands_apart(self, start: int, length: int) -> bool:
        """The save that begins at `start` is followed by a pause twice as long, and no write of it was missed."""
        events = self._events[start : start + length + 1]
        span_ns = events[-2].file.mtime_ns - events[0].file.mtime_ns
        pause_ns = events[-1].file.mtime_ns - events[-2].file.mtime_ns
        longest_gap_ns = max(event.gap_ns for event in events)
        return 2 * span_ns <= pause_ns and 2 * longest_gap_ns <= span_ns + pause_ns

    def _is_series(self) -> bool:
        """Numbered files one after the other for so long that they are not the parts of one save."""
        files = [event.file for event in self._events]
        if len(files) < _SERIES or files[-1].mtime_ns - files[0].mtime_ns < 5 * self._settle_ns:
            return False
        return all("-of-" not in file.path and differs_once(file.path, files[0].path) for file in files[1:])


def _is_increasing(events: Sequence[_Event]) -> bool:
    times = [event.file.mtime_ns for event in events]
    return all(times[index - 1] < times[index] for index in range(1, len(times)))
