"""Building one tar shard in a file, at the price of reading its members once."""

from __future__ import annotations

import contextlib
import os
import zlib
from typing import Iterator, Tuple

from ..errors import Changed, InsideError
from ..faults import explain
from .packed import Shard
from .scanning import Found
from .tarshard import BLOCK_BYTES, END, padding

BUFFER_BYTES = 4 << 20
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_ZEROS = bytes(BLOCK_BYTES)


class ShardWriter:
    """One shard being written. Heads, data and padding meet in one buffer, so a small file costs no write call."""

    def __init__(self, path: str, buffer: bytearray) -> None:
        self.path = path
        self.size_bytes = 0
        self._crc = 0
        self._buffer = buffer
        self._view = memoryview(buffer)
        self._used = 0
        try:
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise explain(error, path) from None

    def add(self, found: Found, head: bytes) -> Tuple[int, int]:
        """Append one member; (offset of its data in the shard, its crc32). `Changed` when it is rewritten meanwhile."""
        size = found.size_bytes
        start = self._used + len(head)
        end = start + size + padding(size)
        if end > len(self._buffer):
            self._flush()
            start, end = len(head), len(head) + size + padding(size)
            if end > len(self._buffer):
                return self._add_long(found, head)
        self._view[start - len(head) : start] = head
        data = self._view[start : start + size]
        if found.kind == "file":
            read_whole(found, data)
        self._view[start + size : end] = _ZEROS[: end - start - size]
        offset = self.size_bytes + len(head)
        self.size_bytes += end - start + len(head)
        self._used = end
        return offset, zlib.crc32(data)

    def finish(self) -> Shard:
        """Close the archive and say what it became."""
        try:
            self._append(END)
            self._flush()
        finally:
            self.close()
        return Shard(self.size_bytes, "%08x" % self._crc)

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def discard(self) -> None:
        """Give up: the file goes away."""
        self.close()
        with contextlib.suppress(OSError):
            os.unlink(self.path)

    def _add_long(self, found: Found, head: bytes) -> Tuple[int, int]:
        self._append(head)
        offset, crc = self.size_bytes, 0
        for piece in read_pieces(found):
            crc = zlib.crc32(piece, crc)
            self._append(piece)
        self._append(bytes(padding(found.size_bytes)))
        return offset, crc

    def _append(self, data: bytes) -> None:
        if self._used + len(data) > len(self._buffer):
            self._flush()
        self._view[self._used : self._used + len(data)] = data
        self._used += len(data)
        self.size_bytes += len(data)

    def _flush(self) -> None:
        full = self._view[: self._used]
        self._crc = zlib.crc32(full, self._crc)
        try:
            while full:
                full = full[os.write(self._fd, full) :]
        except OSError as error:
            raise explain(error, self.path) from None
        self._used = 0


def read_whole(found: Found, data: memoryview) -> None:
    """Fill `data` with the whole file; `Changed` when it is not the file that was found."""
    try:
        fd = os.open(found.local, _READ)
        try:
            count = os.readv(fd, [data]) if data else 0
            while 0 < count < len(data):  # some network file systems read less than they are asked for
                more = os.readv(fd, [data[count:]])
                count = count + more if more else -1
            seen = os.fstat(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise _gone(error, found) from None
    if count != found.size_bytes or seen.st_size != found.size_bytes or seen.st_mtime_ns != found.modified_ns:
        raise _changed(found)


def read_pieces(found: Found) -> Iterator[bytes]:
    """The bytes of a large file; `Changed` at the end when it is not the file that was found."""
    left = found.size_bytes
    try:
        with open(found.local, "rb", buffering=0) as source:
            while left:
                piece = source.read(min(left, BUFFER_BYTES // 4))
                if not piece:
                    break
                left -= len(piece)
                yield piece
            seen = os.fstat(source.fileno())
    except OSError as error:
        raise _gone(error, found) from None
    if left or seen.st_size != found.size_bytes or seen.st_mtime_ns != found.modified_ns:
        raise _changed(found)


def _changed(found: Found) -> InsideError:
    return Changed("%s was rewritten while it was packed; try again when it is finished" % found.local)


def _gone(error: OSError, found: Found) -> InsideError:
    if isinstance(error, FileNotFoundError):
        return Changed("%s was removed while it was packed" % found.local)
    return explain(error, found.local)
