"""One file of this machine copied to another place on it: bytes, holes, mode and time, verified."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import zlib
from typing import Iterator, Tuple

from ..errors import Changed, Damaged, InsideError, NotFound, PlaceError
from ..faults import explain
from .aside import Aside
from .base import Moving, Report

CHUNK_BYTES = 8 << 20  # between two looks at `stopping`: 4 ms from the page cache, 0.1 s from a slow disk
_READ_BYTES = 1 << 20
# Asking for shared blocks is one more system call, which pays only when there is something to share.
_CLONE_FROM_BYTES = 1 << 20
_FICLONE = 0x40049409


class Tally:
    """The bytes of one try: reported as they go, taken back when the try fails, and the place where it may end."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._count = 0

    def add(self, count: int) -> None:
        self._count += count
        self._report.moved(count)
        if self._report.stopping():
            raise PlaceError("stopped")

    def take_back(self) -> None:
        self._report.moved(-self._count)
        self._count = 0


#: A file that lacks so many bytes on the disk has holes. One that lacks fewer is likely to be just being written.
_SPARSE_FROM_BYTES = 64 << 10


def copy_file(source: str, target: str, report: Report, how: Moving) -> None:
    """Copy a file; the target is what it was or the whole new file. `Changed` when the source does not hold still.

    It is read twice before that is said: a file that was just being finished is whole the second time.
    """
    tally = Tally(report)
    for attempt in (1, 2):
        try:
            return _copy_once(source, target, tally, how)
        except InsideError as error:
            tally.take_back()
            if attempt == 2 or not isinstance(error, (Changed, Damaged)):
                raise


def _copy_once(source: str, target: str, tally: Tally, how: Moving) -> None:
    try:
        fd = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise NotFound(source) from None
    except OSError as error:
        raise explain(error, source) from None
    try:
        before = os.fstat(fd)
        with Aside(target) as aside:
            for count in _transfer(fd, aside.fd, before):
                tally.add(count)
            _check_still(source, before)
            if how.full_check and _crc_of(fd) != _crc_of(aside.fd):
                raise Damaged("%s is not what was written to %s" % (source, target))
            aside.commit(before.st_mtime_ns, before.st_mode & 0o777)
    except OSError as error:
        raise explain(error, target) from None
    finally:
        os.close(fd)


def _transfer(source: int, target: int, found: os.stat_result) -> Iterator[int]:
    """Make `target` the same bytes as `source`; yields how many are settled since the last time."""
    size = found.st_size
    if size >= _CLONE_FROM_BYTES:
        with contextlib.suppress(OSError):
            fcntl.ioctl(target, _FICLONE, source)
            yield size
            return
    position = 0
    for start, end in _ranges(source, size, is_sparse=size - found.st_blocks * 512 >= _SPARSE_FROM_BYTES):
        os.lseek(target, start, os.SEEK_SET)
        done = position
        position = start
        while position < end:
            # sendfile writes at the target's position; the bytes never enter this process.
            count = os.sendfile(target, source, position, min(CHUNK_BYTES, end - position))
            if count == 0:
                raise Changed("the file became shorter while it was read")
            position += count
            yield position - done
            done = position
    if position < size:
        os.ftruncate(target, size)
        yield size - position


def _ranges(fd: int, size: int, is_sparse: bool) -> Iterator[Tuple[int, int]]:
    """Where the data lies; everything as one range when the file has no holes or cannot tell."""
    if not is_sparse:
        yield 0, size
        return
    with contextlib.suppress(OSError):
        os.fdatasync(fd)  # what was written a moment ago may not have its place yet, and would pass for a hole
    position = 0
    while position < size:
        try:
            position = os.lseek(fd, position, os.SEEK_DATA)
            end = os.lseek(fd, position, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:  # only a hole from here to the end
                return
            yield position, size
            return
        yield position, min(end, size)
        position = end


def _check_still(path: str, before: os.stat_result) -> None:
    try:
        after = os.stat(path)
    except FileNotFoundError:
        raise Changed("%s vanished while it was read" % path) from None
    if (after.st_ino, after.st_size, after.st_mtime_ns) != (before.st_ino, before.st_size, before.st_mtime_ns):
        raise Changed("%s changed while it was read; copy it again when nothing writes to it" % path)


def _crc_of(fd: int) -> int:
    value = position = 0
    while True:
        piece = os.pread(fd, _READ_BYTES, position)
        if not piece:
            return value
        value = zlib.crc32(piece, value)
        position += len(piece)
