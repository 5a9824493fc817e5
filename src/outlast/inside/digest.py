"""SHA-256 beside the bytes: hashing overlaps with reading and writing on a second thread."""

from __future__ import annotations

import hashlib
import queue
import threading
from typing import Optional

# Four pieces of 4 MiB in flight: enough to hide a slow write, small enough for a borrowed machine.
_DEPTH = 4


class Digest:
    """Takes pieces in order and gives their SHA-256. The thread starts with the second piece and ends in `close`."""

    def __init__(self) -> None:
        self.size_bytes = 0
        self._hash = hashlib.sha256()
        self._first: Optional[bytes] = None
        self._pieces: queue.Queue[Optional[bytes]] = queue.Queue(_DEPTH)
        self._thread: Optional[threading.Thread] = None

    def __enter__(self) -> Digest:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def update(self, piece: bytes) -> None:
        """Add a piece; it must not change afterwards."""
        self.size_bytes += len(piece)
        if self._first is None:
            self._first = piece
            return
        if self._thread is None:
            # A thread inherits the priority of its maker: a lowered upload thread hashes lowered too.
            self._thread = threading.Thread(target=self._work, name="outlast-digest", daemon=True)
            self._thread.start()
            self._pieces.put(self._first)
        self._pieces.put(piece)

    def hexdigest(self) -> str:
        """The digest of everything; no piece can be added afterwards."""
        if self._thread is None and self._first is not None:
            self._hash.update(self._first)
            self._first = b""
        self.close()
        return self._hash.hexdigest()

    def close(self) -> None:
        """End the thread, if there is one."""
        if self._thread is not None and self._thread.is_alive():
            self._pieces.put(None)
            self._thread.join()

    def _work(self) -> None:
        while True:
            piece = self._pieces.get()
            if piece is None:
                return
            self._hash.update(piece)
