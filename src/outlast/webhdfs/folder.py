"""A folder of this machine as an HDFS. Owners, permissions and replicas are kept and shown, and bind nobody: whoever
reaches the server may do what the server may do."""

from __future__ import annotations

import contextlib
import copy
import fcntl
import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from io import FileIO
from pathlib import Path

from outlast.webhdfs.catalog import Catalog, check_creatable
from outlast.webhdfs.filesystem import FILE, FOLDER, FileSystem, NewFile, Opened, Status, Summary
from outlast.webhdfs.notes import Note, Notes, xattrs_text
from outlast.webhdfs.refusals import Refusal

PIECE_BYTES = 1 << 20


class FolderFileSystem(FileSystem):
    """The folder as one user sees it; `as_user` gives the view of another one. The folder must exist."""

    def __init__(
        self, root: str | Path, notes: Notes | None = None, user: str = "dr.who", keeper: str = ""
    ) -> None:  # fmt: skip
        self._catalog = Catalog(root, notes or Notes(), keeper)
        self._user = user
        self._growing: set[int] = set()  # numbers of files to which somebody is adding
        self.lock = self._catalog.lock

    def as_user(self, user: str) -> FolderFileSystem:
        other = copy.copy(self)
        other._user = user
        return other

    def close(self) -> None:
        """Leave no trace in the folder. For the last user, when no call is under way."""
        self._catalog.ground.sweep()
        self._catalog.notes.close()

    def look(self, path: str) -> Status | None:
        return self._catalog.look(path)

    def glance(self, path: str) -> Status | None:
        """As `look`, without counting what a folder holds."""
        return self._catalog.look(path, count=False)

    def place_of(self, path: str) -> str:
        """The path that one by number (`/.reserved/.inodes/16386`) means now; every other means itself."""
        with self._catalog.at(path) as place:
            return place

    def kind(self, path: str) -> str | None:
        return self._catalog.kind(path)

    def list(self, path: str) -> Sequence[Status]:
        with self.lock:
            itself = self.look(path)
            if itself is None:
                raise Refusal("FileNotFoundException", f"File {path} does not exist.")
            return self._catalog.entries(path) if itself.kind == FOLDER else [itself]

    def summary(self, path: str) -> Summary:
        return self._catalog.summary(path)

    def open(self, path: str) -> Opened:
        with self._catalog.at(path) as place:
            self._catalog.need_file(place)
            return _OpenFile(self._catalog.ground.open(place, os.O_RDONLY))

    def create(self, path: str, pieces: Iterable[bytes], how: NewFile) -> None:
        with self._catalog.at(path) as place:
            self._check_new(place, how)
        with self._catalog.ground.part() as (part, file):
            for piece in pieces:
                _write_all(file, piece)
            with self._catalog.at(path) as place:
                self._check_new(place, how)
                above = posixpath.dirname(place)
                self._catalog.make_folder(above, 0o755, self._user)
                group = self._catalog.note_of(above, above).group
                try:
                    self._catalog.ground.settle(part, place, replace=how.overwrite)
                except FileExistsError:
                    raise Refusal("FileAlreadyExistsException", f"{place} already exists") from None
                note = Note(os.fstat(file.fileno()).st_ino, 0, self._user, group, how.permission & 0o777)
                self._catalog.notes.begin(
                    place, note._replace(replication=how.replication, block_bytes=how.block_bytes)
                )

    def append(self, path: str, pieces: Iterable[bytes]) -> None:
        with self._growth(path, "APPEND") as file:
            for piece in pieces:
                _write_all(file, piece)

    def concat(self, path: str, sources: Sequence[str]) -> None:
        self._check_concat(path, sources)
        with self._growth(path, "CONCAT") as file:
            for source in sources:
                with contextlib.closing(self.open(source)) as opened:
                    for piece in opened.pieces(0, opened.size_bytes):
                        _write_all(file, piece)
        for source in sources:
            self.delete(source, recursive=False)

    def truncate(self, path: str, size_bytes: int) -> None:
        with self._catalog.at(path) as place:
            status = self._catalog.need_file(place)
            if size_bytes > status.size_bytes:
                raise Refusal(
                    "HadoopIllegalArgumentException",
                    "Cannot truncate to a larger file size. "
                    f"Current size: {status.size_bytes}, truncate size: {size_bytes}.",
                )
            self._check_free(status, path, "TRUNCATE_FILE")
            fd = self._catalog.ground.open(place, os.O_WRONLY)
            try:
                os.ftruncate(fd, size_bytes)
            finally:
                os.close(fd)

    def make_folders(self, path: str, permission: int) -> None:
        with self._catalog.at(path) as place:
            if self._catalog.make_folder(place, permission, self._user) not in (None, FOLDER):
                raise Refusal("FileAlreadyExistsException", f"Path is not a directory: {path}")

    def delete(self, path: str, recursive: bool) -> bool:
        with self._catalog.at(path) as place:
            there = self.look(place)
            if there is None:
                return False
            if there.children and not recursive:
                raise Refusal("PathIsNotEmptyDirectoryException", f"`{path} is non empty': Directory is not empty")
            if place == "/":
                return False
            left = self._catalog.ground.remove(place)
            self._catalog.notes.removed(place)
        if left is not None:
            self._catalog.ground.discard(left)
        return True

    def move(self, source: str, target: str) -> None:
        with self._catalog.at(source) as old, self._catalog.at(target) as new:
            check_creatable(new)
            self._catalog.ground.move(old, new)
            self._catalog.notes.moved(old, new)

    def set_permission(self, path: str, permission: int) -> None:
        self._catalog.change(path, f"Directory/File does not exist {path}", permission=permission)

    def set_owner(self, path: str, owner: str, group: str) -> None:
        given = {name: value for name, value in (("owner", owner), ("group", group)) if value}
        self._catalog.change(path, f"Directory/File does not exist {path}", **given)

    def set_times(self, path: str, modified_ms: int, accessed_ms: int) -> None:
        with self._catalog.at(path) as place:
            found = self._catalog.ground.stat(place)
            if found is None:
                raise Refusal("FileNotFoundException", f"File/Directory {path} does not exist.")
            accessed_ns = found.st_atime_ns if accessed_ms < 0 else accessed_ms * 1_000_000
            modified_ns = found.st_mtime_ns if modified_ms < 0 else modified_ms * 1_000_000
            with self._catalog.ground.parent(place) as (fd, name):
                os.utime(name, ns=(accessed_ns, modified_ns), dir_fd=fd, follow_symlinks=False)

    def set_replication(self, path: str, replication: int) -> bool:
        with self.lock:
            if self.kind(path) != FILE:
                return False
            self._catalog.change(path, path, replication=replication)
            return True

    def check_access(self, path: str, action: str) -> None:
        if self.kind(path) is None:
            raise Refusal("FileNotFoundException", "Path not found")

    def attributes(self, path: str) -> dict[str, bytes | None]:
        return self._catalog.note_of(path, f"cannot find {path}").xattrs()

    def set_attribute(self, path: str, name: str, value: bytes | None, flags: frozenset[str]) -> None:
        with self.lock:
            values = self.attributes(path)
            short = name.partition(".")[2]
            if name in values and "REPLACE" not in flags:
                raise Refusal("IOException", f"XAttr: {short} already exists. The REPLACE flag must be specified.")
            if name not in values and "CREATE" not in flags:
                raise Refusal("IOException", f"XAttr: {short} does not exist. The CREATE flag must be specified.")
            self._catalog.change(path, path, attributes=xattrs_text({**values, name: value}))

    def remove_attribute(self, path: str, name: str) -> None:
        with self.lock:
            values = self.attributes(path)
            if name not in values:
                raise Refusal("IOException", "No matching attributes found for remove operation")
            del values[name]
            self._catalog.change(path, path, attributes=xattrs_text(values))

    def _check_new(self, path: str, how: NewFile) -> None:
        """`Refusal` when no file may be made there now."""
        check_creatable(path)
        there = self.kind(path)
        if there not in (None, FILE):
            raise Refusal("FileAlreadyExistsException", f"{path} already exists as a directory")
        if there is not None and not how.overwrite:
            raise Refusal("FileAlreadyExistsException", f"{path} already exists")
        above, parent = path, None
        while parent is None:
            above = posixpath.dirname(above)
            parent = self.kind(above)
            if parent is None and not how.make_parents:
                raise Refusal("FileNotFoundException", f"Parent directory doesn't exist: {above}")
        if parent != FOLDER:
            raise Refusal("ParentNotDirectoryException", f"{above} (is not a directory)")

    def _check_concat(self, path: str, sources: Sequence[str]) -> None:
        self._catalog.need_file(path)
        problem = "" if sources else "concat: the list of source files is empty"
        for source in sources:
            if source == path:
                problem = f"concat: the src file {source} is the same with the target file {path}"
            elif self._catalog.need_file(source) and posixpath.dirname(source) != posixpath.dirname(path):
                problem = f"Source file {source} is not in the same directory with the target {path}"
        if len(set(sources)) < len(sources):
            problem = "concat: at least two of the source files are the same"
        if problem:
            raise Refusal("HadoopIllegalArgumentException", problem)

    @contextlib.contextmanager
    def _growth(self, path: str, purpose: str) -> Iterator[FileIO]:
        """A file to add to. One writer at a time; when it fails, the file is what it was."""
        with self._catalog.at(path) as place:
            status = self.look(place)
            if status is None:
                raise Refusal("FileNotFoundException", f"File {path} not found.")
            if status.kind != FILE:
                reason = f"Cannot append to directory {path}; already exists as a directory."
                raise Refusal("FileAlreadyExistsException", reason)
            self._check_free(status, path, purpose)
            file = FileIO(self._catalog.ground.open(place, os.O_WRONLY), "wb")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # another process may be serving the same folder
            except BlockingIOError:
                file.close()
                raise _being_written(path, purpose) from None
            self._growing.add(status.file_id)
        try:
            with file:
                end = file.seek(0, os.SEEK_END)
                try:
                    yield file
                except BaseException:
                    file.truncate(end)
                    raise
        finally:
            self._growing.discard(status.file_id)

    def _check_free(self, status: Status, path: str, purpose: str) -> None:
        if status.file_id in self._growing:
            raise _being_written(path, purpose)


class _OpenFile(Opened):
    def __init__(self, fd: int) -> None:
        self._file = self.file = FileIO(fd, "rb")
        self.size_bytes = os.fstat(fd).st_size

    def pieces(self, start: int, length: int) -> Iterator[bytes]:
        while length > 0:
            piece = os.pread(self._file.fileno(), min(PIECE_BYTES, length), start)
            if not piece:
                return
            start += len(piece)
            length -= len(piece)
            yield piece

    def close(self) -> None:
        self._file.close()


def _being_written(path: str, purpose: str) -> Refusal:
    reason = f"Failed to {purpose} {path} because this file is already being written to."
    return Refusal("AlreadyBeingCreatedException", reason)


def _write_all(file: FileIO, piece: bytes) -> None:
    view = memoryview(piece)
    while view:
        view = view[file.write(view) :]
