"""Working folders of instances: fresh for every try, but for what must survive one."""

from __future__ import annotations

import os
import shutil
from typing import Collection

from ...errors import PlaceError


def make_fresh(folder: str, root: str, keep: Collection[str]) -> None:
    """Empty a folder below `root` (or make it), but leave the paths `keep`, which are relative to `root`.

    Those are the places of checkpoints and outputs, and inputs, which may be mounted there.
    """
    try:
        os.makedirs(folder, exist_ok=True)
        _clear(folder, os.path.relpath(folder, root), {os.path.normpath(path) for path in keep})
    except OSError as error:
        raise PlaceError("cannot make the folder %s fresh: %s" % (folder, error.strerror)) from None


def _clear(folder: str, relative: str, keep: Collection[str]) -> None:
    for entry in list(os.scandir(folder)):
        path = os.path.normpath(os.path.join(relative, entry.name))
        if path in keep:
            continue
        if any(kept.startswith(path + os.sep) for kept in keep) and entry.is_dir(follow_symlinks=False):
            _clear(entry.path, path, keep)
        elif entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


def link_inputs(folder: str, root: str, paths: Collection[str]) -> None:
    """Show what lies at these paths of `root` at the same paths of an instance's folder below it."""
    for path in paths:
        link, target = (os.path.normpath(os.path.join(base, path)) for base in (folder, root))
        is_below = link.startswith(os.path.join(root, ""))
        if link == target or not is_below or os.path.lexists(link):
            continue
        try:
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.symlink(target, link)
        except OSError as error:
            raise PlaceError("cannot show the input at %s: %s" % (link, error.strerror)) from None


def copy_code(source: str, target: str) -> None:
    """Copy a tree into a folder that may hold something already: what is there, a restored checkpoint, stays."""
    try:
        _merge(source, target)
    except OSError as error:
        raise PlaceError("cannot copy the code to %s: %s" % (error.filename or target, error.strerror)) from None


def _merge(source: str, target: str) -> None:
    os.makedirs(target, exist_ok=True)
    for entry in os.scandir(source):
        place = os.path.join(target, entry.name)
        if entry.is_dir(follow_symlinks=False):
            _merge(entry.path, place)
        elif not os.path.lexists(place):
            shutil.copy2(entry.path, place, follow_symlinks=False)
            if not entry.is_symlink():
                os.chmod(place, os.stat(place).st_mode | 0o200)  # the original may be a write-protected cache
