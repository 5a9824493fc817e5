"""What lies in a folder, in the several ways that scripts ask for it."""

from __future__ import annotations

import errno
import fnmatch
import glob as local_glob
import os
import posixpath
import re
from typing import Any, Callable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from outlast.inside.move.base import FILE, FOLDER, Item
from outlast.inside.move.names import join, relative_to

from .errors import told
from .looking import Stat, item_at, look, stat_of
from .places import Spot, Url, below, find, name_asked

_MAGIC = re.compile(r"[*?[]")


def list_directory(
    url: Url, recursive: bool = False, remove_sep: bool = True, skip_file: bool = False, skip_dir: bool = False
) -> List[str]:
    """Names relative to the folder, with `recursive` also of what is deeper; folders are listed too.

    With `remove_sep=False` those end with a slash. `OSError` with errno 20 when the url is a file.
    """
    with told(str(url)):
        spot = find(url)
        folders, files = _names_here(spot, recursive) if spot.is_local else _names_in(spot, recursive)
    end = "" if remove_sep else "/"
    return sorted(([] if skip_file else files) + ([] if skip_dir else [name + end for name in folders]))


def _names_in(spot: Spot, recursive: bool) -> Tuple[List[str], List[str]]:
    if look(spot).kind == FILE:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), spot.url)
    folders: Set[str] = set()
    files: List[str] = []
    for item in spot.tree.walk(spot.path) if recursive else spot.tree.children(spot.path):
        relative = relative_to(item.path, spot.path)
        if item.kind == FOLDER:
            folders.add(relative)
        else:
            files.append(relative)
        parent = posixpath.dirname(relative)
        while parent and parent not in folders:
            folders.add(parent)
            parent = posixpath.dirname(parent)
    return list(folders), files


def _names_here(spot: Spot, recursive: bool) -> Tuple[List[str], List[str]]:
    folders: List[str] = []
    files: List[str] = []
    with os.scandir(spot.path) as entries:  # raises what scripts expect for a file and for nothing
        for entry in entries:
            (folders if entry.is_dir() else files).append(entry.name)
    if recursive:
        for root, names_of_folders, names in os.walk(spot.path):
            if root != spot.path:
                relative = os.path.relpath(root, spot.path)
                folders += [os.path.join(relative, name) for name in names_of_folders]
                files += [os.path.join(relative, name) for name in names]
    return folders, files


def walk(
    url: Url, topdown: bool = True, onerror: Optional[Callable[[OSError], Any]] = None, followlinks: bool = False
) -> Iterator[Tuple[str, List[str], List[str]]]:
    """As `os.walk`: the folder, the names of folders in it, the names of files. Names taken out are not entered."""
    with told(str(url)):
        spot = find(url)
    if spot.is_local:
        return os.walk(spot.url, topdown, onerror, followlinks)
    name_asked(spot)
    return _walk(spot, topdown)


def _walk(spot: Spot, topdown: bool) -> Iterator[Tuple[str, List[str], List[str]]]:
    folders: List[str] = []
    files: List[str] = []
    with told(spot.url):
        for item in spot.tree.children(spot.path):
            (folders if item.kind == FOLDER else files).append(relative_to(item.path, spot.path))
        if not folders and not files and item_at(spot) is None:
            return
    if topdown:
        yield spot.url, folders, files
    for name in folders:
        yield from _walk(_child(spot, name), topdown)
    if not topdown:
        yield spot.url, folders, files


def _child(spot: Spot, name: str) -> Spot:
    return Spot(below(spot.url, name), spot.tree, join(spot.path, name), True)


class Entry(NamedTuple):
    """One thing in a folder of a store, like `os.DirEntry`."""

    name: str
    path: str
    item: Item

    def __fspath__(self) -> str:
        return self.path

    def is_dir(self, follow_symlinks: bool = True) -> bool:
        return self.item.kind == FOLDER

    def is_file(self, follow_symlinks: bool = True) -> bool:
        return self.item.kind == FILE

    def is_symlink(self) -> bool:
        return False

    def inode(self) -> int:
        return 0

    def stat(self, follow_symlinks: bool = True) -> Stat:
        return stat_of(self.item)


class Entries:
    """The entries of one folder; may be used in a `with`, as what `os.scandir` returns."""

    def __init__(self, spot: Spot, items: Sequence[Item]) -> None:
        self._entries = iter([_entry(spot, item) for item in items])

    def __iter__(self) -> Entries:
        return self

    def __next__(self) -> Entry:
        return next(self._entries)

    def __enter__(self) -> Entries:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())


def _entry(spot: Spot, item: Item) -> Entry:
    name = relative_to(item.path, spot.path)
    return Entry(name, below(spot.url, name), item)


def scan_dir(url: Url) -> Any:
    """Go through a folder, with an object for each thing in it that has `name`, `path`, `is_dir()` and `stat()`."""
    with told(str(url)):
        spot = find(url)
        if spot.is_local:
            return os.scandir(spot.url)
        if look(spot).kind == FILE:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), spot.url)
        return Entries(spot, list(spot.tree.children(spot.path)))


def glob(url: Url, recursive: bool = False) -> List[str]:
    """Whole paths, or urls, that match a pattern. As in the standard library `*` skips names with a leading dot."""
    with told(str(url)):
        spot = find(url)
        if spot.is_local:
            return sorted(local_glob.glob(spot.url, recursive=recursive))
        root = spot.url[: len(spot.url.partition("://")[0]) + 3] + spot.tree.url.partition("://")[2]
        lead = "/" if spot.path.startswith("/") else ""
        paths = _expand(spot, lead, spot.path.strip("/").split("/"), recursive)
        return ["%s/%s%s" % (root, path.lstrip("/"), "/" if spot.into else "") for path in sorted(set(paths))]


def _expand(spot: Spot, folder: str, parts: List[str], recursive: bool) -> Iterator[str]:
    """The paths below a folder whose names match the parts one by one."""
    part, rest = parts[0], parts[1:]
    if recursive and part == "**":
        if rest:
            yield from _expand(spot, folder, rest, recursive)
        for item in spot.tree.children(folder):
            if not _is_hidden(item):
                if not rest:
                    yield item.path
                if item.kind == FOLDER:
                    yield from _expand(spot, item.path, parts, recursive)
    elif not _MAGIC.search(part):
        path = join(folder, part)
        if rest:
            yield from _expand(spot, path, rest, recursive)
        elif item_at(spot._replace(path=path)) is not None:
            yield path
    else:
        for item in spot.tree.children(folder):
            name = posixpath.basename(item.path)
            if fnmatch.fnmatchcase(name, part) and (part.startswith(".") or not _is_hidden(item)):
                if not rest and (item.kind == FOLDER or not spot.into):
                    yield item.path
                elif rest and item.kind == FOLDER:
                    yield from _expand(spot, item.path, rest, recursive)


def _is_hidden(item: Item) -> bool:
    return posixpath.basename(item.path).startswith(".")
