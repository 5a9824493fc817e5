"""A bucket, an HDFS or this machine's files as a file system of the WebHDFS door, whatever the mover can reach."""

from __future__ import annotations

import os
import posixpath
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from outlast.inside.errors import AccessDenied, RequestError
from outlast.inside.hdfs.tree import HdfsTree
from outlast.inside.move import base
from outlast.inside.move.base import Item, Tree
from outlast.inside.move.names import join, relative_to
from outlast.inside.move.plan import Place, emptied
from outlast.inside.s3.tree import S3Tree
from outlast.operations.places import Removal, remove_place
from outlast.server.gateways.webhdfs.permissions import KEEPER
from outlast.server.gateways.webhdfs.stores.claims import Claims
from outlast.server.gateways.webhdfs.stores.disk import grow_file, put_file
from outlast.server.gateways.webhdfs.stores.naming import Spot
from outlast.server.gateways.webhdfs.stores.objects import grow_object, put_object
from outlast.server.gateways.webhdfs.stores.plain import PlainFileSystem
from outlast.webhdfs.catalog import BLOCK_BYTES
from outlast.webhdfs.filesystem import FILE, FOLDER, LINK, NewFile, Opened, Status, Summary
from outlast.webhdfs.ground import is_name
from outlast.webhdfs.refusals import Refusal, absent, no_file

Items = list[Item]  # within the class `list` is an operation
_KINDS = {base.FILE: FILE, base.FOLDER: FOLDER, base.LINK: LINK}


class TreeFileSystem(PlainFileSystem):
    """What lies in a tree. Paths are absolute within it; who may use them was decided before.

    A bucket has neither folders nor renaming: a folder is there while something is in it, and a file gets another
    name by being copied within the store.
    """

    def __init__(self, spot: Spot, tree: Tree, claims: Claims) -> None:
        self._spot = spot
        self._tree = tree
        self._claims = claims
        self.lock = threading.RLock()

    # ---- looking

    def look(self, path: str) -> Status | None:
        found = self._stat(path)
        if found is None:
            return None
        children = 0 if found.kind != base.FOLDER else len(list(self._children(found.path, most=1)))
        return _status(found)._replace(children=children)

    def kind(self, path: str) -> str | None:
        found = self._stat(path)
        return None if found is None else _KINDS[found.kind]

    def list(self, path: str) -> Sequence[Status]:
        found = self._stat(path)
        if found is None:
            raise Refusal("FileNotFoundException", f"File {path} does not exist.")
        if found.kind != base.FOLDER:
            return [_status(found)]
        names: dict[str, Status] = {}
        for item in self._children(found.path):
            status = _status(item)._replace(name=posixpath.basename(item.path))
            if status.kind != FOLDER or status.name not in names:  # in a bucket a file can have a folder's name
                names[status.name] = status
        return sorted(names.values(), key=lambda each: each.name.encode())

    def summary(self, path: str) -> Summary:
        found = self._stat(path)
        if found is None:
            raise absent(path)
        if found.kind != base.FOLDER:
            return Summary(0, 1, found.size_bytes, found.size_bytes)
        folders, files, size = 1, 0, 0
        above: list[str] = []
        for item in self._tree.walk(found.path):
            parts = relative_to(item.path, found.path).split("/")
            here = parts if item.kind == base.FOLDER else parts[:-1]
            # Sorted by path: the folders that an item shares with the one before it are counted already.
            folders += len(here) - _shared(above, here)
            above = here
            files += item.kind == base.FILE
            size += item.size_bytes
        return Summary(folders, files, size, size)

    # ---- bytes

    def open(self, path: str) -> Opened:
        found = self._file(path)
        return _OpenItem(self._tree, found.path, found.size_bytes)

    def create(self, path: str, pieces: Iterable[bytes], how: NewFile) -> None:
        self._check_new(path, how)
        place = self._spot.tree_path(path)
        if isinstance(self._tree, S3Tree):
            is_new = put_object(self._tree.client, place, pieces, None if how.overwrite else self._claims)
        elif isinstance(self._tree, HdfsTree):
            is_new = self._tree.client.write(place, lambda: iter(pieces), how.overwrite, tries=1)
        else:
            is_new = put_file(place, pieces, if_absent=not how.overwrite)
        if not is_new:
            raise _taken(path)

    def append(self, path: str, pieces: Iterable[bytes]) -> None:
        found = self._file(path)
        if isinstance(self._tree, S3Tree):
            grow_object(self._tree.client, found, pieces)
        elif isinstance(self._tree, HdfsTree):
            self._tree.client.append(found.path, pieces)
        else:
            grow_file(found.path, pieces)

    # ---- names

    def make_folders(self, path: str, permission: int) -> None:
        there = self.kind(path)
        if there not in (None, FOLDER):
            raise Refusal("FileAlreadyExistsException", f"Path is not a directory: {path}")
        if there is None and path == "/" and isinstance(self._tree, S3Tree):
            self._tree.client.make_bucket()
        elif there is None and self._nearest(path):
            self._tree.make_folder(self._spot.tree_path(path))

    def delete(self, path: str, recursive: bool) -> bool:
        found = self._tree.stat(self._spot.tree_path(path))
        if found is None:
            return False
        if self._spot.root.scheme == "file":
            raise Refusal(
                "AccessControlException", f"{found.path} is on the server's machine, where nothing is removed"
            )
        if found.kind == base.FOLDER and not recursive and any(self._children(found.path, most=1)):
            raise Refusal("PathIsNotEmptyDirectoryException", f"`{path} is non empty': Directory is not empty")
        if isinstance(self._tree, HdfsTree):
            return self._tree.client.delete(found.path, recursive)
        self._remove(found, list(self._tree.walk(found.path)) if found.kind == base.FOLDER else [found])
        return True

    def move(self, source: str, target: str) -> None:
        old, new = self._spot.tree_path(source), self._spot.tree_path(target)
        if isinstance(self._tree, HdfsTree):
            self._tree.client.rename(old, new, overwrite=True)
        elif not isinstance(self._tree, S3Tree):
            Path(old).rename(new)
        elif (found := self._tree.stat(old)) is not None:
            items = list(self._tree.walk(old)) if found.kind == base.FOLDER else [found]
            for each in items:
                place = join(new, relative_to(each.path, old)) if each is not found else new
                if each.kind == base.FOLDER:
                    self._tree.make_folder(place)
                else:
                    self._tree.copy_within(each.path, place, each.size_bytes)
            self._remove(found, items)

    def _remove(self, found: Item, items: Items) -> None:
        folders = [*emptied(items, [], found.path), found.path] if found.kind == base.FOLDER else []
        remove_place(Removal(Place(self._spot.root, self._tree), items, folders))

    # ---- what is there

    def _stat(self, path: str) -> Item | None:
        place = self._spot.tree_path(path)
        try:
            return self._tree.stat(os.path.realpath(place) if self._spot.root.scheme == "file" else place)
        except AccessDenied:
            raise
        except RequestError:
            if path == "/" or self._tree.stat(self._spot.tree_path("/")) is not None:
                raise
            return None  # there is no such bucket, so there is nothing in it either

    def _file(self, path: str) -> Item:
        found = self._stat(path)
        if found is None:
            raise absent(path)
        if found.kind != base.FILE:
            raise no_file(path)
        return found

    def _children(self, folder: str, most: int | None = None) -> Iterator[Item]:
        """What a folder holds, as far as HDFS can name it; no more than so many."""
        for item in self._tree.children(folder):
            name = relative_to(item.path, folder)
            if most == 0:
                return
            if name and name not in (".", "..") and "/" not in name and is_name(name):
                most = None if most is None else most - 1
                yield item

    def _check_new(self, path: str, how: NewFile) -> None:
        """`Refusal` when no file may be made there now."""
        above = self._nearest(path)
        if above == path:
            if self.kind(path) == FOLDER:
                raise Refusal("FileAlreadyExistsException", f"{path} already exists as a directory")
            if not how.overwrite:
                raise _taken(path)
        elif above != posixpath.dirname(path) and not how.make_parents:
            raise Refusal("FileNotFoundException", f"Parent directory doesn't exist: {posixpath.dirname(path)}")

    def _nearest(self, path: str) -> str:
        """The path itself when something is there, or else the nearest folder above it."""
        above, there = path, self.kind(path)
        while there is None:
            if above == "/":
                raise absent(above)  # not even the bucket is there
            above = posixpath.dirname(above)
            there = self.kind(above)
        if above != path and there != FOLDER:
            raise Refusal("ParentNotDirectoryException", f"{above} (is not a directory)")
        return above


class _OpenItem(Opened):
    """The size is that of the moment of opening; when the file is shorter by the time it is read, its stream breaks."""

    def __init__(self, tree: Tree, path: str, size_bytes: int) -> None:
        self._tree, self._path, self.size_bytes = tree, path, size_bytes
        self._reading: Iterator[bytes] = iter(())

    def pieces(self, start: int, length: int) -> Iterator[bytes]:
        self._reading = self._tree.read(self._path, start, length)
        return self._reading

    def close(self) -> None:
        """Let go of the connection, also in the middle of a file."""
        getattr(self._reading, "close", lambda: None)()


def _status(item: Item) -> Status:
    """Whoever may use a store may read and write all of it."""
    kind = _KINDS[item.kind]
    is_file = kind == FILE
    modified_ms = item.modified_ns // 1_000_000
    return Status(
        kind, item.size_bytes if is_file else 0, KEEPER, KEEPER, 0o777 if kind == FOLDER else 0o666,
        0 if kind == FOLDER else modified_ms, modified_ms, BLOCK_BYTES if is_file else 0, int(is_file),
        0, 0, link=item.target,
    )  # fmt: skip


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """With how many equal parts both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _taken(path: str) -> Refusal:
    return Refusal("FileAlreadyExistsException", f"{path} already exists")
