"""The runner's side of the notepads: takes what the processes of a script have written down."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from .points import RECORD_BYTES, Batch

_NOTES = ".notes"
_MARK_AT = RECORD_BYTES - 8
_NO_MARK = bytes(8)
_GAP_S = 5.0


class Gatherer:
    """Reads every notepad of a folder, each record once and in its order. Pages that were read are deleted.

    Safe in several threads; what a process wrote before `gather` was called is taken by that call.
    """

    def __init__(self, folder: str, take: Callable[[Batch], Any], take_note: Callable[[Dict[str, Any]], Any]) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._folder = folder
        self._take = take
        self._take_note = take_note
        self._pads: Dict[str, _Pad] = {}
        self._lock = threading.Lock()

    def gather(self, is_last: bool = False) -> None:
        """Take what is there now. A folder that somebody removed has nothing in it."""
        with self._lock:
            try:
                found = sorted(name for name in os.listdir(self._folder) if name.endswith(_NOTES))
            except OSError:
                return
            for name in found:
                if name not in self._pads:
                    self._pads[name] = _Pad(os.path.join(self._folder, name[: -len(_NOTES)]))
                self._read(self._pads[name], is_last)

    def close(self) -> None:
        """Take the rest and remove the folder."""
        self.gather(is_last=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _read(self, pad: _Pad, is_last: bool) -> None:
        while True:
            records, is_complete = pad.read_page(is_last)
            for note in pad.read_notes():
                self._take_note(note)
            if records:
                self._take(Batch(records, pad.names))
            if not is_complete:
                return
            pad.turn_page()


class _Pad:
    """One process's notepad and how far it has been read."""

    def __init__(self, stem: str) -> None:
        self.names: Dict[int, str] = {}
        self._stem = stem
        self._number = 1
        self._read_bytes = 0  # of the page
        self._notes_bytes = 0
        self._gap: Tuple[int, int, float] = (0, 0, 0.0)  # a record that is not written yet, and since when

    def turn_page(self) -> None:
        os.unlink(self._page_path(self._number))
        self._number += 1
        self._read_bytes = 0

    def read_page(self, is_last: bool) -> Tuple[bytes, bool]:
        """The records of the page that have not been read yet, and whether it was the rest of it."""
        try:
            fd = os.open(self._page_path(self._number), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return b"", False
        try:
            size = os.fstat(fd).st_size // RECORD_BYTES * RECORD_BYTES
            end = self._written_bytes(fd, size)
            # Read after the marks were seen, not with them: a processor may show a mark before the rest of its record.
            data = os.pread(fd, end - self._read_bytes, self._read_bytes)
        finally:
            os.close(fd)
        if not is_last:
            data = data[: self._gapless_bytes(data)]
        self._read_bytes += len(data)
        return data, 0 < size == self._read_bytes

    def _page_path(self, number: int) -> str:
        return "%s.%06d" % (self._stem, number)

    def _written_bytes(self, fd: int, size: int) -> int:
        """Where the records without a mark begin, by halving."""
        low, high = self._read_bytes // RECORD_BYTES, size // RECORD_BYTES
        if low < high and not _is_marked(fd, low) and (low + 1 == high or not _is_marked(fd, low + 1)):
            return low * RECORD_BYTES  # nothing new, as nearly always
        while low < high:
            middle = (low + high) // 2
            if _is_marked(fd, middle):
                low = middle + 1
            else:
                high = middle
        return low * RECORD_BYTES

    def _gapless_bytes(self, data: bytes) -> int:
        """How much may be taken: up to a record that some thread has begun and not finished.

        One that stays so for long was given up (an interrupt came between), and the others do not wait for it.
        """
        marks = memoryview(data).cast("Q")[4::5].tolist()
        start = 0
        while 0 in marks[start:]:
            gap = marks.index(0, start)
            place = (self._number, self._read_bytes + gap * RECORD_BYTES)
            if self._gap[:2] != place:
                self._gap = (*place, time.monotonic())
            if time.monotonic() - self._gap[2] < _GAP_S:
                return gap * RECORD_BYTES
            start = gap + 1
        return len(data)

    def read_notes(self) -> List[Dict[str, Any]]:
        """New notes that have texts; notes that introduce names are only learned."""
        try:
            with open(self._stem + _NOTES, "rb") as file:
                file.seek(self._notes_bytes)
                data = file.read()
        except OSError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._notes_bytes += len(whole)
        found = []
        for line in whole.splitlines():
            note = _parse(line)
            if isinstance(note, dict):
                found.append(note)
            elif isinstance(note, list) and len(note) == 2 and isinstance(note[0], int):
                self.names[note[0]] = str(note[1])
        return found


def _is_marked(fd: int, record: int) -> bool:
    return os.pread(fd, 8, record * RECORD_BYTES + _MARK_AT) not in (_NO_MARK, b"")


def _parse(line: bytes) -> Optional[Any]:
    try:
        return json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
