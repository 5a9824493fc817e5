"""Writing members into a local folder so that nothing can land outside it and nothing half-written has a name.

Every folder on the way is opened from the one above it without following links, so a link that was there before, or
that the archive itself brought, is never walked through.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import zlib
from typing import Dict, Iterable, Iterator, Union

from ..errors import Damaged, InsideError, RequestError
from ..faults import explain
from .aside import PART, make_folders, sweep
from .base import FILE, FOLDER
from .packed import Member

_BUFFER_BYTES = 1 << 20
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
Piece = Union[bytes, memoryview]
_IN_THE_WAY = frozenset((errno.EISDIR, errno.ENOTDIR, errno.ENOTEMPTY, errno.EEXIST, errno.ELOOP))


class FolderReader:
    """What is in a local folder already. Looks at a folder below it once for all names that follow each other there."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._folder = "\0"  # no path: nothing was looked at yet
        self._there: Dict[str, os.stat_result] = {}

    def has(self, member: Member) -> bool:
        """True when the member is there: a file of the same size and time, the same link, a folder."""
        folder, _, name = member.path.rpartition("/")
        if folder != self._folder:
            self._folder, self._there = folder, self._look(folder)
        seen = self._there.get(name)
        if seen is None:
            return False
        if member.kind == FILE:
            same = seen.st_size == member.size_bytes and seen.st_mtime_ns == member.modified_ns
            return same and stat.S_ISREG(seen.st_mode)
        if member.kind == FOLDER:
            return stat.S_ISDIR(seen.st_mode)
        return stat.S_ISLNK(seen.st_mode) and os.readlink(os.path.join(self._root, member.path)) == member.target

    def _look(self, folder: str) -> Dict[str, os.stat_result]:
        try:
            fd = _open_below(self._root, folder, make=False)
        except OSError:
            return {}
        try:
            with os.scandir(fd) as entries:
                there = {entry.name: entry.stat(follow_symlinks=False) for entry in entries}
            if any(name.startswith(PART) for name in there):
                sweep([os.path.join(self._root, folder)])
            return there
        except OSError:
            return {}  # somebody is changing it: then everything is written
        finally:
            os.close(fd)


class FolderWriter:
    """One local folder that members are put into. Cheapest in the order of their paths: one folder is kept open."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._part = PART + os.urandom(6).hex()
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        self._folder = "\0"
        self._fd = -1
        # Whether a new file of that mode gets other permissions, because of the umask.
        self._is_masked: Dict[int, bool] = {}
        make_folders(root)

    def close(self) -> None:
        fd, self._fd, self._folder = self._fd, -1, "\0"
        if fd >= 0:
            os.close(fd)

    def add(self, member: Member, shard_fd: int) -> None:
        """Put one member there from its open shard; `Damaged` when its bytes are not the ones of the index."""
        if member.kind == FILE and member.size_bytes <= _BUFFER_BYTES:
            data = self._buffer[: member.size_bytes]
            if data and os.preadv(shard_fd, [data], member.offset) != member.size_bytes:
                raise _damaged(member)
            if "%08x" % zlib.crc32(data) != member.crc32:
                raise _damaged(member)
            self.add_pieces(member, (data,))
        elif member.kind == FILE:
            self.add_pieces(member, self._pieces(member, shard_fd))
        else:
            self._add_other(member)

    def add_pieces(self, member: Member, pieces: Iterable[Piece]) -> None:
        """Put one file there from its bytes; when they raise, what was there before is untouched."""
        folder, _, name = member.path.rpartition("/")
        try:
            if folder != self._folder:
                self._enter(folder)
            fd = self._new_file(member.mode)
            try:
                for piece in pieces:
                    _write_all(fd, piece)
                if self._masked(member.mode, fd):
                    os.fchmod(fd, member.mode)
                os.utime(fd, ns=(member.modified_ns, member.modified_ns))
            except BaseException:
                self._drop_part()
                raise
            finally:
                os.close(fd)
            self._give_name(name)
        except OSError as error:
            raise self._explain(error, member) from None

    def _pieces(self, member: Member, shard_fd: int) -> Iterator[Piece]:
        crc, at, left = 0, member.offset, member.size_bytes
        while left:
            piece = self._buffer[: min(left, _BUFFER_BYTES)]
            count = os.preadv(shard_fd, [piece], at)
            if not count:
                break
            crc, at, left = zlib.crc32(piece[:count], crc), at + count, left - count
            yield piece[:count]
        if left or "%08x" % crc != member.crc32:
            raise _damaged(member)

    def _add_other(self, member: Member) -> None:
        folder, _, name = member.path.rpartition("/")
        try:
            if member.kind == FOLDER:
                self._enter(member.path)
                return
            self._enter(folder)
            self._drop_part()
            os.symlink(member.target, self._part, dir_fd=self._fd)
            self._give_name(name)
        except OSError as error:
            raise self._explain(error, member) from None

    def _enter(self, folder: str) -> None:
        self.close()
        self._fd = _open_below(self._root, folder, make=True)
        self._folder = folder

    def _new_file(self, mode: int) -> int:
        while True:
            fd = os.open(self._part, _NEW_FILE, mode, dir_fd=self._fd)
            with contextlib.suppress(OSError):  # a locked part is not swept away; some file systems have no locks
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(fd).st_nlink:
                return fd
            os.close(fd)  # another process swept it away before it was locked

    def _masked(self, mode: int, fd: int) -> bool:
        masked = self._is_masked.get(mode)
        if masked is None:
            masked = self._is_masked[mode] = os.fstat(fd).st_mode & 0o777 != mode
        return masked

    def _give_name(self, name: str) -> None:
        try:
            os.rename(self._part, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        except OSError:
            self._drop_part()
            raise

    def _drop_part(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._part, dir_fd=self._fd)

    def _explain(self, error: OSError, member: Member) -> InsideError:
        if error.errno in _IN_THE_WAY:
            return RequestError(
                "cannot write %s below %s: a file, link or folder is in its way" % (member.path, self._root)
            )
        return explain(error, os.path.join(self._root, member.path))


def _open_below(root: str, folder: str, make: bool) -> int:
    """Open a folder below the root, one name after the other; a link among them is an error."""
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for name in folder.split("/") if folder else ():
        try:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=fd)
            below = os.open(name, _OPEN_FOLDER, dir_fd=fd)
        finally:
            os.close(fd)
        fd = below
    return fd


def _write_all(fd: int, data: Piece) -> None:
    count = os.write(fd, data)
    if count < len(data):
        view = memoryview(data)[count:]
        while view:
            view = view[os.write(fd, view) :]


def _damaged(member: Member) -> Damaged:
    return Damaged("%s is not what the index says; its shard %d is damaged" % (member.path, member.shard))
