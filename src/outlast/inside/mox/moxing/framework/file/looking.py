"""What is at a url."""

from __future__ import annotations

import os
import stat as modes
from typing import Optional

from outlast.inside.move.base import FILE, FOLDER, Item

from .errors import MoxFileNameDuplicateException, MoxFileNotExistsException, told
from .places import Spot, Url, find, name_asked

_SECOND_NS = 1_000_000_000


class Stat:
    """What MoXing says of a file, with the fields of `os.stat` beside it: times are seconds since 1970, GMT."""

    st_ino = st_dev = st_uid = st_gid = 0
    st_nlink = 1

    def __init__(self, length: int, mtime_nsec: int, is_directory: bool) -> None:
        self.length = self.st_size = length
        self.mtime_nsec = self.st_mtime_ns = self.st_atime_ns = self.st_ctime_ns = mtime_nsec
        self.st_mtime = self.st_atime = self.st_ctime = mtime_nsec / _SECOND_NS
        self.is_directory = is_directory
        self.st_mode = modes.S_IFDIR | 0o755 if is_directory else modes.S_IFREG | 0o644

    def __repr__(self) -> str:
        return "Stat(length=%d, mtime_nsec=%d, is_directory=%s)" % (self.length, self.mtime_nsec, self.is_directory)


def item_at(spot: Spot) -> Optional[Item]:
    """The file or folder of a url, or None. Behind a slash only a folder can be."""
    item = spot.tree.stat(spot.path)
    if item is not None and item.kind == FILE and spot.into:
        return Item(spot.path, 0, 0, FOLDER) if next(spot.tree.children(spot.path), None) else None
    return item


def look(spot: Spot) -> Item:
    """The one thing of a url; raises when there is nothing, or a file and a folder of the same name."""
    name_asked(spot)
    item = item_at(spot)
    if item is None:
        raise MoxFileNotExistsException(spot.url)
    if item.kind == FILE and next(spot.tree.children(spot.path), None):
        raise MoxFileNameDuplicateException("%s is a file and a folder; give one of them another name" % spot.url)
    return item


def exists(url: Url) -> bool:
    """Whether there is a file or a folder."""
    with told(str(url)):
        spot = find(url)
        if spot.is_local:
            return os.path.exists(url)
        name_asked(spot)
        return item_at(spot) is not None


def is_directory(url: Url) -> bool:
    """Whether there is a folder; in a bucket that is anything with keys below it."""
    with told(str(url)):
        spot = find(url)
        if spot.is_local:
            return os.path.isdir(url)
        try:
            return look(spot).kind == FOLDER
        except MoxFileNotExistsException:
            return False


def stat(url: Url) -> Stat:
    """Length, time and kind; `MoxFileNotExistsException` when there is nothing."""
    with told(str(url)):
        spot = find(url)
        if not spot.is_local:
            return stat_of(look(spot))
        try:
            found = os.stat(url)
        except (FileNotFoundError, NotADirectoryError):
            raise MoxFileNotExistsException(spot.url) from None
        return Stat(found.st_size, found.st_mtime_ns, modes.S_ISDIR(found.st_mode))


def stat_of(item: Item) -> Stat:
    return Stat(item.size_bytes, item.modified_ns, item.kind == FOLDER)


def get_size(url: Url, recursive: bool = False) -> int:
    """Bytes of a file, or with `recursive` of everything in a folder. A folder of OBS by itself has none."""
    with told(str(url)):
        spot = find(url)
        if spot.is_local:
            return _size_here(url, recursive)
        item = look(spot)
        if item.kind == FILE or not recursive:
            return item.size_bytes
        return sum(each.size_bytes for each in spot.tree.walk(spot.path))


def _size_here(url: Url, recursive: bool) -> int:
    if not recursive or not os.path.isdir(url):
        return stat(url).length
    return sum(
        os.path.getsize(os.path.join(folder, name))
        for folder, _, names in os.walk(url)
        for name in names
        if os.path.exists(os.path.join(folder, name))
    )
