"""SHA-256 beside the bytes: hashing overlaps with reading and writing on a second thread."""

from __future__ import annotations

import hashlib
import queue
import threading
from typing import Optional, Tuple, Union

PIECE_BYTES = 1 << 20
# Pieces in flight: enough to hide a slow write, small enough for a borrowed machine.
_DEPTH = 6


class Digest:
    """Takes pieces in order and gives their SHA-256. The thread starts with the second piece and ends in `close`.

    Pieces live in a few buffers that go round: fresh ones for every piece cost more system time, in page faults,
    than all the reading and writing.
    """

    def __init__(self) -> None:
        self.size_bytes = 0
        self._hash = hashlib.sha256()
        self._free: queue.Queue[memoryview] = queue.Queue()
        self._made = 0
        self._first: Optional[Tuple[memoryview, int]] = None
        self._full: queue.Queue[Optional[Tuple[memoryview, int]]] = queue.Queue()
        self._thread: Optional[threading.Thread] = None

    def __enter__(self) -> Digest:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def buffer(self) -> memoryview:
        """A buffer of `PIECE_BYTES` to fill and give to `add`; waits while all of them are being hashed."""
        if self._made < _DEPTH and self._free.empty():
            self._made += 1
            return memoryview(bytearray(PIECE_BYTES))
        return self._free.get()

    def add(self, buffer: memoryview, count: int) -> None:
        """Hash the first `count` bytes of a buffer from `buffer()`; it must not be touched afterwards."""
        self.size_bytes += count
        if self._first is None:
            self._first = (buffer, count)
            return
        if self._thread is None:
            # A thread inherits the priority of its maker: a lowered upload thread hashes lowered too.
            self._thread = threading.Thread(target=self._work, name="outlast-digest", daemon=True)
            self._thread.start()
            self._full.put(self._first)
        self._full.put((buffer, count))

    def update(self, data: Union[bytes, memoryview]) -> None:
        """Hash a copy of some bytes."""
        view = memoryview(data)
        for start in range(0, len(view), PIECE_BYTES):
            piece = view[start : start + PIECE_BYTES]
            buffer = self.buffer()
            buffer[: len(piece)] = piece
            self.add(buffer, len(piece))

    def hexdigest(self) -> str:
        """The digest of everything; nothing can be added afterwards."""
        if self._thread is None and self._first is not None:
            self._hash.update(self._first[0][: self._first[1]])
            self._first = (self._first[0], 0)
        self.close()
        return self._hash.hexdigest()

    def close(self) -> None:
        """End the thread, if there is one."""
        if self._thread is not None and self._thread.is_alive():
            self._full.put(None)
            self._thread.join()

    def _work(self) -> None:
        while True:
            piece = self._full.get()
            if piece is None:
                return
            self._hash.update(piece[0][: piece[1]])
            self._free.put(piece[0])
