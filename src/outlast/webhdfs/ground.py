"""The served folder, reached so that nothing leads out of it: every step of a path is opened from the one before it,
and no link is followed. Also where bytes wait until a file is whole."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import posixpath
import secrets
import shutil
import stat
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

from outlast.inside.move.aside import PART

#: In the served folder, so that giving a file its name is one rename. Never shown, nor copied by the mover.
UNFINISHED = PART + "webhdfs"
#: At the top only; HDFS keeps the second name for itself.
RESERVED = frozenset((UNFINISHED, ".reserved"))
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP)


class Ground:
    """Paths are absolute and checked (`parameters.check_path`)."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).resolve(strict=True)
        if not self.root.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(root))
        self.sweep()

    @contextlib.contextmanager
    def folder(self, path: str) -> Iterator[int]:
        """The descriptor of a folder. It is looked up afresh: the root itself may have been replaced meanwhile."""
        current = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            parts = path.strip("/").split("/") if path != "/" else []
            if parts and parts[0] in RESERVED:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            for part in parts:
                below = os.open(part, _DIRECTORY, dir_fd=current)
                os.close(current)
                current = below
            yield current
        finally:
            os.close(current)

    @contextlib.contextmanager
    def parent(self, path: str) -> Iterator[tuple[int, str]]:
        """The folder that holds a path, and the name there."""
        above, name = posixpath.split(path)
        if above == "/" and name in RESERVED:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        with self.folder(above) as fd:
            yield fd, name or "."

    def stat(self, path: str) -> os.stat_result | None:
        """What is at a path; None for nothing, and for pipes and the like, which HDFS does not know."""
        try:
            with self.parent(path) as (fd, name):
                found = os.stat(name, dir_fd=fd, follow_symlinks=False)
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise
        return found if is_known(found.st_mode) else None

    def entries(self, path: str) -> Iterator[tuple[str, os.stat_result]]:
        """What a folder holds, as far as HDFS can name it."""
        with self.folder(path) as fd, os.scandir(fd) as found:
            for entry in found:
                if not is_name(entry.name) or (path == "/" and entry.name in RESERVED):
                    continue
                with contextlib.suppress(FileNotFoundError):
                    status = entry.stat(follow_symlinks=False)
                    if is_known(status.st_mode):
                        yield entry.name, status

    def link_target(self, path: str) -> str:
        with self.parent(path) as (fd, name):
            return os.readlink(name, dir_fd=fd)

    def open(self, path: str, flags: int) -> int:
        """A regular file; other kinds raise `IsADirectoryError`."""
        with self.parent(path) as (fd, name):
            # Not waiting, so that a pipe that appeared there cannot hold us up.
            opened = os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=fd)
        if stat.S_ISREG(os.fstat(opened).st_mode):
            return opened
        os.close(opened)
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)

    def move(self, source: str, target: str) -> None:
        with self.parent(source) as (from_fd, old), self.parent(target) as (to_fd, new):
            os.rename(old, new, src_dir_fd=from_fd, dst_dir_fd=to_fd)

    def remove(self, path: str) -> Path | None:
        """Take a path away in one step. Of a folder something is left to `discard`."""
        with self.parent(path) as (fd, name):
            if not stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=fd)
                return None
            aside = self._aside()
            os.rename(name, aside, src_dir_fd=fd)
            return aside

    def discard(self, aside: Path) -> None:
        """Free the space of a folder that is gone already."""
        shutil.rmtree(aside, ignore_errors=True)

    @contextlib.contextmanager
    def part(self) -> Iterator[tuple[Path, FileIO]]:
        """A new file without a name in the tree; removed on the way out unless it got one by then."""
        path = self._aside()
        with path.open("xb", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # tells `sweep` that somebody is at it, for as long as we live
            try:
                yield path, file
            finally:
                path.unlink(missing_ok=True)

    def settle(self, part: Path, path: str, replace: bool) -> None:
        """Give a part its name. A file that has it is replaced, or else `FileExistsError`: another process that
        serves the same folder may have been quicker."""
        with self.parent(path) as (fd, name):
            if replace:
                os.rename(part, name, dst_dir_fd=fd)
                return
            try:
                os.link(part, name, dst_dir_fd=fd)
            except OSError as error:
                if error.errno not in _NO_HARD_LINKS:
                    raise
                os.rename(part, name, dst_dir_fd=fd)

    def sweep(self) -> None:
        """Remove what servers that were killed left unfinished."""
        waiting = self.root / UNFINISHED
        if waiting.is_symlink() or not waiting.is_dir():
            return
        for path in waiting.iterdir():
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                    continue
                with path.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()
        with contextlib.suppress(OSError):
            waiting.rmdir()  # only when nothing is in it

    def _aside(self) -> Path:
        waiting = self.root / UNFINISHED
        waiting.mkdir(mode=0o700, exist_ok=True)
        if waiting.is_symlink():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(waiting))
        return waiting / secrets.token_hex(12)


def is_known(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


def is_name(name: str) -> bool:
    """Can HDFS hold that name? Names that are not UTF-8 come from the system with surrogates in them."""
    return ":" not in name and not any("\ud800" <= character <= "\udfff" for character in name)
