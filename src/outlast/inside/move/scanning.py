"""What lies in a local folder, in the order that everything packed stands in."""

from __future__ import annotations

import os
import stat
from operator import itemgetter
from typing import Iterator, NamedTuple

from ..errors import RequestError
from ..faults import explain
from .base import FILE, FOLDER, LINK
from .names import is_below
from .packed import unsafe_link


class Found(NamedTuple):
    """One thing below the folder. A folder is found only when it is empty."""

    path: str  # relative, with slashes
    local: str
    kind: str
    size_bytes: int
    modified_ns: int
    mode: int
    target: str = ""


def scan(folder: str, prefix: str = "") -> Iterator[Found]:
    """Everything below a folder, sorted by path; only one folder's names are held at a time, and those above it.

    `RequestError` names a link that leads out of the folder, and what is neither file, folder nor link.
    """
    try:
        with os.scandir(folder) as entries:
            # A slash after folders: in that spelling names sort exactly as whole paths do.
            named = [
                (entry.name + "/" if entry.is_dir(follow_symlinks=False) else entry.name, entry) for entry in entries
            ]
    except OSError as error:
        raise explain(error, folder) from None
    named.sort(key=itemgetter(0))
    for name, entry in named:
        if name.endswith("/"):
            empty = True
            for found in scan(entry.path, prefix + name):
                empty = False
                yield found
            if empty:
                yield _found(prefix + name[:-1], entry, FOLDER)
        elif entry.is_symlink():
            yield _found(prefix + name, entry, LINK)
        else:
            yield _found(prefix + name, entry, FILE)


def _found(path: str, entry: os.DirEntry[str], kind: str) -> Found:
    try:
        seen = entry.stat(follow_symlinks=False)
        target = _target(path, entry.path) if kind == LINK else ""
    except OSError as error:
        raise explain(error, entry.path) from None
    if kind == FILE and not stat.S_ISREG(seen.st_mode):
        raise RequestError("%s is neither a file, a folder nor a link; it cannot be packed" % entry.path)
    size = seen.st_size if kind == FILE else 0
    return Found(path, entry.path, kind, size, seen.st_mtime_ns, seen.st_mode & 0o777, target)


def _target(path: str, local: str) -> str:
    """Where a link leads. An absolute target inside the folder becomes a relative one; one outside is refused."""
    target = os.readlink(local)
    why = unsafe_link(path, target)
    if not why:
        return target
    root = os.path.realpath(local[: -len(path)])
    real = os.path.realpath(local)
    if real != root and not is_below(real, root):
        raise RequestError("%s is %s; it cannot be packed" % (local, why))
    return os.path.relpath(real, os.path.realpath(os.path.dirname(local)))
