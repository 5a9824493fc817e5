"""Making, removing and renaming."""

from __future__ import annotations

import errno
import os
import posixpath
import shutil

from outlast.inside.move.base import FILE, FOLDER
from outlast.inside.move.plan import emptied

from .copying import copy, copy_parallel
from .errors import MoxFileNotExistsException, told
from .looking import look
from .places import Spot, Url, find

_AT_ONCE = 1000


def make_dirs(url: Url, *_: object, **__: object) -> None:
    """Make a folder and what is missing above it. One that is there is fine."""
    with told(str(url)):
        spot = find(url)
        if spot.is_local:
            os.makedirs(spot.path, exist_ok=True)
            return
        there = spot.tree.stat(spot.path)
        if there is None:
            spot.tree.make_folder(spot.path)
        elif there.kind == FILE:
            raise FileExistsError(errno.EEXIST, "a file is in the way", spot.url)


def mk_dir(url: Url, *_: object, **__: object) -> None:
    """Make a folder whose parent exists; `OSError` when that does not."""
    with told(str(url)):
        spot = find(url)
        if spot.is_local:
            if not os.path.isdir(spot.path):
                os.mkdir(spot.path)
            return
        parent = posixpath.dirname(spot.path)
        if parent.strip("/") and spot.tree.stat(parent) is None:
            raise FileNotFoundError(errno.ENOENT, "the folder above it does not exist", spot.url)
    make_dirs(url)


def remove(url: Url, recursive: bool = False) -> None:
    """Remove a file, or with `recursive` a folder and everything in it.

    Without `recursive` nothing happens to a folder, and nothing to a file that is written with a slash.
    """
    with told(str(url)):
        spot = find(url)
        if spot.is_local:
            _remove_here(spot, recursive)
            return
        try:
            item = look(spot)
        except MoxFileNotExistsException:
            return
        if item.kind == FILE:
            spot.tree.remove([spot.path])
        elif recursive:
            _remove_below(spot)


def _remove_here(spot: Spot, recursive: bool) -> None:
    if os.path.isdir(spot.path) and not os.path.islink(spot.path):
        if recursive:
            shutil.rmtree(spot.path)
    elif os.path.lexists(spot.path) and not spot.into:
        os.remove(spot.path)


def _remove_below(spot: Spot) -> None:
    items = list(spot.tree.walk(spot.path))
    paths = [item.path for item in items]
    for start in range(0, len(paths), _AT_ONCE):
        spot.tree.remove(paths[start : start + _AT_ONCE])
    folders = emptied(items, [], spot.path)
    spot.tree.remove([*folders, spot.path] if spot.path.strip("/") else folders)


def rename(src_url: Url, dst_url: Url) -> None:
    """Move a file or a folder, also between this machine and a store. The source goes when everything has arrived."""
    with told(str(src_url)):
        source, target = find(src_url), find(dst_url)
        if source.is_local and target.is_local:
            shutil.move(source.path, target.path)
            return
        if source.whole == target.whole:
            return
        if target.whole.startswith(source.whole + "/"):
            raise OSError(errno.EINVAL, "a folder cannot be moved into itself", source.url)
        is_folder = os.path.isdir(source.path) if source.is_local else look(source).kind == FOLDER
    if is_folder:
        copy_parallel(source.url.rstrip("/") + "/", target.url)
        remove(source.url, recursive=True)
    else:
        copy(source.url, target.url)
        remove(source.url)
