"""What a WebHDFS server serves: an interface as small as the protocol allows, and the rules for renaming above it.

The paths are absolute and checked. Whatever cannot be done leaves as a `Refusal` in Hadoop's words.
"""

from __future__ import annotations

import posixpath
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from io import RawIOBase
from typing import ClassVar, NamedTuple

from outlast.webhdfs.refusals import Refusal

FILE, FOLDER, LINK = "FILE", "DIRECTORY", "SYMLINK"


class Status(NamedTuple):
    """What is known about one path."""

    kind: str  # FILE, FOLDER or LINK
    size_bytes: int
    owner: str
    group: str
    permission: int
    accessed_ms: int
    modified_ms: int
    block_bytes: int
    replication: int
    file_id: int  # stays with a file through renames, and is never given to another one
    children: int
    name: str = ""  # in listings
    link: str = ""  # where a link leads


class Summary(NamedTuple):
    """Totals below a path, itself included."""

    folders: int
    files: int
    size_bytes: int
    space_bytes: int  # with every replica that was asked for


class NewFile(NamedTuple):
    """How a file shall be made."""

    overwrite: bool = False
    make_parents: bool = True
    permission: int = 0o644
    replication: int | None = None
    block_bytes: int | None = None


class Opened(ABC):
    """A file held open: its bytes stay what they are when the name goes to another file."""

    size_bytes: int
    #: A file of this machine that the kernel can send by itself, or None.
    file: RawIOBase | None = None

    @abstractmethod
    def pieces(self, start: int, length: int) -> Iterator[bytes]: ...

    @abstractmethod
    def close(self) -> None: ...


class FileSystem(ABC):
    """One user's view. Safe to use from several threads; `lock` is held while names change."""

    #: The most entries that one page of a listing holds.
    page_entries: ClassVar[int] = 1000
    lock: threading.RLock

    @abstractmethod
    def look(self, path: str) -> Status | None:
        """What is at a path, or None."""

    def kind(self, path: str) -> str | None:
        """FILE, FOLDER or LINK, or None; may be quicker than `look`."""
        status = self.look(path)
        return None if status is None else status.kind

    @abstractmethod
    def list(self, path: str) -> Sequence[Status]:
        """What a folder holds, sorted by the bytes of the names; a file lists itself, without a name."""

    @abstractmethod
    def summary(self, path: str) -> Summary: ...

    @abstractmethod
    def open(self, path: str) -> Opened: ...

    @abstractmethod
    def create(self, path: str, pieces: Iterable[bytes], how: NewFile) -> None:
        """Make a file that appears whole or not at all. What is wrong already is said before a piece is taken."""

    @abstractmethod
    def append(self, path: str, pieces: Iterable[bytes]) -> None:
        """Add bytes, all or none of them."""

    @abstractmethod
    def concat(self, path: str, sources: Sequence[str]) -> None:
        """Add whole files from the same folder to one there, and remove them."""

    @abstractmethod
    def truncate(self, path: str, size_bytes: int) -> None: ...

    @abstractmethod
    def make_folders(self, path: str, permission: int) -> None: ...

    @abstractmethod
    def delete(self, path: str, recursive: bool) -> bool:
        """Remove what is there, a tree at once; False when there is nothing."""

    @abstractmethod
    def move(self, source: str, target: str) -> None:
        """Rename in one step, replacing a file or an empty folder. The rules are in `rename`."""

    @abstractmethod
    def set_permission(self, path: str, permission: int) -> None: ...

    @abstractmethod
    def set_owner(self, path: str, owner: str, group: str) -> None:
        """Give a file away; what is empty stays."""

    @abstractmethod
    def set_times(self, path: str, modified_ms: int, accessed_ms: int) -> None:
        """Set times; -1 stays."""

    @abstractmethod
    def set_replication(self, path: str, replication: int) -> bool: ...

    @abstractmethod
    def check_access(self, path: str, action: str) -> None:
        """`Refusal` unless this user may do all of `rwx` that the action names."""

    @abstractmethod
    def attributes(self, path: str) -> dict[str, bytes | None]: ...

    @abstractmethod
    def set_attribute(self, path: str, name: str, value: bytes | None, flags: frozenset[str]) -> None: ...

    @abstractmethod
    def remove_attribute(self, path: str, name: str) -> None: ...

    def rename(self, source: str, target: str) -> bool:
        """Rename as a shell's `mv` would, also into a folder that is there; False instead of any complaint."""
        with self.lock:
            moving, there = self.kind(source), self.kind(target)
            if moving is None or source == "/":
                return False
            if source == target and moving != FOLDER:
                return True
            if there == FOLDER:
                target = posixpath.join(target, posixpath.basename(source))
                there = self.kind(target)
            if there is not None or _is_below(target, source):
                return False
            if (parent := self.kind(posixpath.dirname(target))) is None:
                return False
            _need_folder(parent, target)
            self.move(source, target)
            return True

    def rename_exactly(self, source: str, target: str, overwrite: bool) -> None:
        """Rename to that very name, replacing a file or an empty folder only with `overwrite`."""
        with self.lock:
            moving, there = self.kind(source), self.look(target)
            _check_rename(source, target, moving)
            if there is not None:
                if (moving == FOLDER) != (there.kind == FOLDER):
                    raise Refusal("IOException", f"Source {source} and destination {target} must both be directories")
                if not overwrite:
                    raise Refusal("FileAlreadyExistsException", f"rename destination {target} already exists")
                if there.children:
                    raise Refusal("IOException", f"rename destination directory is not empty: {target}")
            parent = self.kind(posixpath.dirname(target))
            if parent is None:
                raise Refusal("FileNotFoundException", f"rename destination parent {target} not found.")
            _need_folder(parent, target)
            self.move(source, target)


def _check_rename(source: str, target: str, moving: str | None) -> None:
    if source == "/":
        raise Refusal("IOException", "rename source cannot be the root")
    if moving is None:
        raise Refusal("FileNotFoundException", f"rename source {source} is not found.")
    if source == target:
        raise Refusal("FileAlreadyExistsException", f"The source {source} and destination {target} are the same")
    if _is_below(target, source):
        raise Refusal("IOException", f"Rename destination {target} is a directory or file under source {source}")
    if target == "/":
        raise Refusal("IOException", "rename destination cannot be the root")


def _need_folder(parent: str, target: str) -> None:
    if parent != FOLDER:
        raise Refusal("ParentNotDirectoryException", f"rename destination parent {target} is a file.")


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")
