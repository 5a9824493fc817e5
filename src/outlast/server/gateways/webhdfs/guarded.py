"""The shared folder as one user may see it: every operation is checked first, then done.

The rules are HDFS's, with three differences. What is made is private until its owner opens it. A folder that everybody
may write to (a sticky one, like the root) shows each user only what they may read. And nobody but ann makes an `/ann`
in such a folder while there is an account of that name.
"""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence

from outlast.server.gateways.webhdfs.permissions import (
    EXECUTE,
    KEPT,
    READ,
    STICKY,
    WRITE,
    Who,
    above,
    bits_of,
    denied,
    parent,
)
from outlast.webhdfs.filesystem import FOLDER, FileSystem, NewFile, Opened, Status, Summary
from outlast.webhdfs.folder import FolderFileSystem
from outlast.webhdfs.refusals import Refusal, absent


class GuardedFileSystem(FileSystem):
    """One user's view of a folder that many share. `beside` is a folder of the root that others serve."""

    def __init__(
        self, files: FolderFileSystem, who: Who, is_account: Callable[[str], bool], beside: Status | None = None
    ) -> None:
        self._files = files.as_user(who.name)
        self._who = who
        self._is_account = is_account
        self._beside = beside
        self.lock = files.lock

    # ---- looking

    def look(self, path: str) -> Status | None:
        return self._files.look(self._enter(path))

    def kind(self, path: str) -> str | None:
        return self._files.kind(self._enter(path))

    def list(self, path: str) -> Sequence[Status]:
        with self.lock:
            path = self._enter(path)
            here = self._files.glance(path)
            if here is None or here.kind != FOLDER:
                return self._files.list(path)
            self._need(path, here, READ | EXECUTE)
            found = self._files.list(path)
        if here.permission & STICKY:
            found = [each for each in found if self._who.owns(each) or self._who.may(each, READ)]
        if path == "/" and self._beside is not None:
            found = sorted([*found, self._beside], key=lambda each: each.name.encode())
        return found

    def summary(self, path: str) -> Summary:
        path = self._enter(path)
        for place, folder in self._folders(path):
            self._need(place, folder, READ | EXECUTE)
        return self._files.summary(path)

    def check_access(self, path: str, action: str) -> None:
        path = self._enter(path)
        self._files.check_access(path, action)
        self._need_at(path, bits_of(action))

    def attributes(self, path: str) -> dict[str, bytes | None]:
        return self._files.attributes(self._allow(path, READ))

    # ---- bytes

    def open(self, path: str) -> Opened:
        with self.lock:
            return self._files.open(self._allow(path, READ))

    def create(self, path: str, pieces: Iterable[bytes], how: NewFile) -> None:
        with self.lock:
            path = self._check_new(path)
            if how.overwrite:
                self._need_at(path, WRITE)
            folder = parent(path)
            if how.make_parents and self._files.kind(folder) is None:
                self._files.make_folders(folder, KEPT)
        self._files.create(path, pieces, how._replace(permission=how.permission & KEPT))

    def append(self, path: str, pieces: Iterable[bytes]) -> None:
        self._files.append(self._allow(path, WRITE), pieces)

    def concat(self, path: str, sources: Sequence[str]) -> None:
        with self.lock:
            path = self._allow(path, WRITE)
            for source in sources:
                self._allow(source, READ)
                self._check_removal(source)
        self._files.concat(path, sources)

    def truncate(self, path: str, size_bytes: int) -> None:
        with self.lock:
            self._files.truncate(self._allow(path, WRITE), size_bytes)

    # ---- names

    def make_folders(self, path: str, permission: int) -> None:
        with self.lock:
            path = self._enter(path)
            if self._files.kind(path) is None:
                self._check_new(path)
            self._files.make_folders(path, permission & KEPT)

    def delete(self, path: str, recursive: bool) -> bool:
        with self.lock:
            path = self._check_removal(path)
            if recursive:
                for place, folder in self._folders(path):
                    self._need(place, folder, READ | WRITE | EXECUTE)
            return self._files.delete(path, recursive)

    def rename(self, source: str, target: str) -> bool:
        with self.lock:
            source, target = self._check_removal(source), self._enter(target)
            lands_in = self._files.kind(target) == FOLDER
            self._check_new(posixpath.join(target, posixpath.basename(source)) if lands_in else target)
            return self._files.rename(source, target)

    def rename_exactly(self, source: str, target: str, overwrite: bool) -> None:
        with self.lock:
            source, target = self._check_removal(source), self._check_new(target)
            if overwrite:
                self._check_removal(target)
            self._files.rename_exactly(source, target, overwrite)

    def move(self, source: str, target: str) -> None:
        raise Refusal("UnsupportedOperationException", "only `rename` knows whether this is allowed")

    # ---- what is told about files

    def set_permission(self, path: str, permission: int) -> None:
        with self.lock:
            path, _ = self._need_owner(path)
            self._files.set_permission(path, permission)

    def set_owner(self, path: str, owner: str, group: str) -> None:
        with self.lock:
            path, status = self._need_owner(path)
            if not self._who.is_super and owner and status is not None and owner != status.owner:
                raise Refusal(
                    "AccessControlException",
                    f"User {self._who.name} is not a super user (non-super user cannot change owner).",
                )
            if not self._who.is_super and group and group not in self._who.groups:
                raise Refusal("AccessControlException", f"User {self._who.name} does not belong to {group}")
            self._files.set_owner(path, owner, group)

    def set_times(self, path: str, modified_ms: int, accessed_ms: int) -> None:
        with self.lock:
            self._files.set_times(self._allow(path, WRITE), modified_ms, accessed_ms)

    def set_replication(self, path: str, replication: int) -> bool:
        with self.lock:
            return self._files.set_replication(self._allow(path, WRITE), replication)

    def set_attribute(self, path: str, name: str, value: bytes | None, flags: frozenset[str]) -> None:
        with self.lock:
            self._files.set_attribute(self._allow(path, WRITE), name, value, flags)

    def remove_attribute(self, path: str, name: str) -> None:
        with self.lock:
            self._files.remove_attribute(self._allow(path, WRITE), name)

    # ---- the rules

    def _enter(self, path: str) -> str:
        """The path, if every folder on the way may be passed. One by number is the path that the file has now, so that
        no number is a way around; who may not pass learns nothing of it."""
        place = self._files.place_of(path)
        if self._beside is not None and place.split("/")[1] == self._beside.name:
            raise Refusal("AccessControlException", f"{place} is not a part of this tree; nothing is renamed into it")
        for folder in () if self._who.is_super else above(place):
            status = self._files.glance(folder)
            if status is None:
                break
            if not self._who.may(status, EXECUTE):
                raise denied(self._who, folder, status, EXECUTE) if place == path else absent(path)
        return place

    def _allow(self, path: str, wanted: int) -> str:
        place = self._enter(path)
        self._need_at(place, wanted)
        return place

    def _need_at(self, path: str, wanted: int) -> None:
        """For what is there; what is not is the operation's own business."""
        status = self._files.glance(path)
        if status is not None:
            self._need(path, status, wanted)

    def _need(self, path: str, status: Status, wanted: int) -> None:
        if not self._who.may(status, wanted):
            raise denied(self._who, path, status, wanted)

    def _need_owner(self, path: str) -> tuple[str, Status | None]:
        path = self._enter(path)
        status = self._files.glance(path)
        if status is not None and not self._who.owns(status):
            raise Refusal(
                "AccessControlException", f"Permission denied. user={self._who.name} is not the owner of inode={path}"
            )
        return path, status

    def _check_new(self, path: str) -> str:
        """May a name be made, or replaced? Decided by the nearest folder that is there."""
        path = self._enter(path)
        way = [] if self._who.is_super else [*above(path), path]
        for place, below in zip(reversed(way[:-1]), reversed(way[1:]), strict=True):
            status = self._files.glance(place)
            if status is None:
                continue
            self._need(place, status, WRITE | EXECUTE)
            name = below.rpartition("/")[2]
            if status.permission & STICKY and name != self._who.name and self._is_account(name):
                words = f"Permission denied: user={self._who.name}, {below} is kept for {name}"
                raise Refusal("AccessControlException", words)
            break
        return path

    def _check_removal(self, path: str) -> str:
        """May a name be taken away? In a sticky folder only by the file's owner, or the folder's."""
        path = self._enter(path)
        status, folder = self._files.glance(path), self._files.glance(parent(path))
        if status is None or folder is None or path == "/":
            return path
        self._need(parent(path), folder, WRITE | EXECUTE)
        if folder.permission & STICKY and not self._who.owns(status) and not self._who.owns(folder):
            raise denied(self._who, path, status, WRITE)
        return path

    def _folders(self, path: str) -> Iterator[tuple[str, Status]]:
        """Every folder from a path on down; none are looked up for one whom no rule binds."""
        status = None if self._who.is_super else self._files.glance(path)
        ahead = [(path, status)] if status is not None and status.kind == FOLDER else []
        while ahead:
            place, folder = ahead.pop()
            yield place, folder
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                inner = self._files.list(place)
                ahead += [(f"{place.rstrip('/')}/{each.name}", each) for each in inner if each.kind == FOLDER]
