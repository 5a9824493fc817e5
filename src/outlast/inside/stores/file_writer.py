"""How a file appears whole or not at all: written aside, made durable, then renamed or linked to its name."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from typing import Callable, Optional, Union

from ..errors import RequestError
from ..faults import explain
from .base import Writer

#: In the temp folder; held while renaming where hard links do not exist.
LOCK_NAME = "lock"
# Asking for write-back as we go halves the time of the final fsync (1 GiB on ext4: 2.2 s -> 1.1 s).
_FLUSH_BYTES = 16 << 20
_NO_HARD_LINKS = frozenset((errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS))


class FileWriter(Writer):
    """A file in the store's temp folder that will get its key at the end."""

    def __init__(self, temp: str, path_of: Callable[[str], str]) -> None:
        self._path = temp
        self._path_of = path_of
        self._written = 0
        self._flushed = 0
        try:
            _make_folders(os.path.dirname(self._path), durable=False)
            # Not mkstemp: its mode 0600 would lock colleagues out of a shared store; the umask decides.
            self._fd: Optional[int] = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise explain(error, self._path) from None

    def write(self, data: Union[bytes, memoryview]) -> None:
        view = memoryview(data)
        try:
            while view:
                count = os.write(self._open_fd(), view)
                view = view[count:]
                self._written += count
            if self._written - self._flushed >= _FLUSH_BYTES:
                self._start_write_back()
        except OSError as error:
            self.abort()
            raise explain(error, self._path) from None

    def commit(self, key: str, replace: bool = False, durable: bool = True) -> bool:
        target = self._path_of(key)
        try:
            if durable:
                os.fsync(self._open_fd())
            self._close()
            _place(self._path, target, os.replace if replace else self._link, durable)
            if durable:
                _sync_folder(os.path.dirname(target))
        except FileExistsError:
            if os.path.isdir(target):
                raise RequestError("cannot write %s: it is a folder of keys" % target) from None
            return False
        except OSError as error:
            raise explain(error, target) from None
        finally:
            self.abort()
        return True

    def abort(self) -> None:
        with contextlib.suppress(OSError):
            self._close()
        with contextlib.suppress(OSError):
            os.unlink(self._path)

    def _open_fd(self) -> int:
        if self._fd is None:
            raise ValueError("this writer was committed or aborted")
        return self._fd

    def _close(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def _start_write_back(self) -> None:
        length = self._written - self._flushed
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._open_fd(), self._flushed, length, os.POSIX_FADV_DONTNEED)
        self._flushed = self._written

    def _link(self, source: str, target: str) -> None:
        try:
            os.link(source, target)
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            self._rename_locked(source, target)

    def _rename_locked(self, source: str, target: str) -> None:
        """The one-winner rename for file systems without hard links (some FUSE mounts): under a lock."""
        with open(os.path.join(os.path.dirname(source), LOCK_NAME), "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.lexists(target):
                raise FileExistsError(errno.EEXIST, "exists", target)
            os.rename(source, target)


def _place(source: str, target: str, move: Callable[[str, str], None], durable: bool) -> None:
    for attempt in range(20):
        _make_folders(os.path.dirname(target), durable)
        try:
            move(source, target)
            return
        except FileNotFoundError:
            # A concurrent delete may have pruned the folder we just made.
            if attempt == 19 or not os.path.exists(source):
                raise


def _make_folders(path: str, durable: bool) -> None:
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        try:
            os.mkdir(folder)
        except FileExistsError:
            if os.path.isfile(folder):  # not "is no folder": it may have been pruned since
                raise NotADirectoryError(errno.ENOTDIR, "not a folder: %s" % folder, folder) from None
        except FileNotFoundError:
            return  # pruned again by a concurrent delete; `_place` tries once more
        if durable:
            _sync_folder(os.path.dirname(folder))


def _sync_folder(path: str) -> None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return  # deleted and pruned by somebody else already
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems cannot sync folders
            raise
    finally:
        os.close(fd)
