"""Bytes on their way to the store, kept in local files so that memory stays flat however slow the store is."""

from __future__ import annotations

import os
import threading
from typing import List, Optional

#: A part that is shipped completely is deleted, so the disk holds the backlog and little more.
PART_BYTES = 16 << 20


class Spool:
    """A first-in, first-out queue of bytes in files `<path>.000001` and so on.

    One thread may append while another reads. `append` raises `OSError` when the disk is full, having taken
    `appended_bytes` of the data.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._sizes: List[int] = []  # of the parts that still exist, oldest first
        self._first = 1  # number of the oldest part
        self._write_fd: Optional[int] = None
        self._read_fd: Optional[int] = None
        self._read_bytes = 0  # of the oldest part
        self.appended_bytes = 0  # of the last append
        self.waiting_bytes = 0

    def append(self, data: bytes) -> None:
        """Add bytes at the end. They reach the system's cache, not the disk: no waiting."""
        self.appended_bytes = 0
        fd = self._write_fd
        if fd is None or self._sizes[-1] >= PART_BYTES:
            fd = self._open_part()
        view = memoryview(data)
        while view:
            written = os.write(fd, view)
            view = view[written:]
            with self._lock:
                self._sizes[-1] += written
                self.waiting_bytes += written
                self.appended_bytes += written

    def append_whole(self, data: bytes) -> None:
        """Add bytes at the end, all of them or, with the `OSError`, none."""
        fd = self._write_fd
        if fd is None or self._sizes[-1] >= PART_BYTES:
            fd = self._open_part()
        start = self._sizes[-1]
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(fd, view) :]
        except OSError:
            os.ftruncate(fd, start)
            os.lseek(fd, start, os.SEEK_SET)
            raise
        with self._lock:
            self._sizes[-1] += len(data)
            self.waiting_bytes += len(data)

    def peek(self, limit_bytes: int) -> bytes:
        """The oldest bytes, up to a limit and to the end of their part; empty when nothing waits."""
        with self._lock:
            if self.waiting_bytes == 0:
                return b""
            if self._read_bytes == self._sizes[0]:
                self._drop_part()
            if self._read_fd is None:
                self._read_fd = os.open(self._part(self._first), os.O_RDONLY | os.O_CLOEXEC)
            size = min(limit_bytes, self._sizes[0] - self._read_bytes)
            return os.pread(self._read_fd, size, self._read_bytes)

    def advance(self, size_bytes: int) -> None:
        """Forget the oldest bytes: they are in the store."""
        with self._lock:
            self._read_bytes += size_bytes
            self.waiting_bytes -= size_bytes
            if self._read_bytes == self._sizes[0] and len(self._sizes) > 1:
                self._drop_part()

    def close(self) -> None:
        """Close the files, and delete them when nothing waits in them. Nothing may be appended afterwards."""
        with self._lock:
            for fd in (self._write_fd, self._read_fd):
                if fd is not None:
                    os.close(fd)
            self._write_fd = self._read_fd = None
            while self._sizes and self.waiting_bytes == 0:
                self._drop_part()

    def _part(self, number: int) -> str:
        return "%s.%06d" % (self._path, number)

    def _open_part(self) -> int:
        """Begin a new part; the old one stays until it is read."""
        with self._lock:
            path = self._part(self._first + len(self._sizes))
            # 0600: the output of a training is its owner's.
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            if self._write_fd is not None:
                os.close(self._write_fd)
            self._write_fd = fd
            self._sizes.append(0)
            return fd

    def _drop_part(self) -> None:
        if self._read_fd is not None:
            os.close(self._read_fd)
            self._read_fd = None
        try:
            os.unlink(self._part(self._first))
        except FileNotFoundError:
            pass
        self._first += 1
        self._read_bytes = 0
        del self._sizes[0]
