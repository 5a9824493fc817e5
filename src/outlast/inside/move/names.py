"""Which names a place can hold. Pure: paths in, complaints out."""

from __future__ import annotations

import os
import posixpath
from typing import Dict, Iterator, Set, Tuple

from .address import BUCKETS
from .base import FOLDER

_NAME_BYTES = 255  # of one name on this machine and in HDFS
_PATH_BYTES = 4095
_KEY_BYTES = 1024  # of a whole key in a bucket


def complain(relative: str, whole: str, scheme: str) -> str:
    """Why nothing can have this path in a place of that kind; empty when it can. `relative` is what the copy adds."""
    if scheme in BUCKETS:
        return _about_key(whole)
    for name in relative.split("/"):
        if name in ("", ".", ".."):
            return "'..', '.' and empty names cannot be names of files"
        if len(name) > _NAME_BYTES // 4 and len(os.fsencode(name)) > _NAME_BYTES:
            return "a name of %d bytes is too long, at most %d are possible" % (len(os.fsencode(name)), _NAME_BYTES)
        if scheme == "hdfs" and ":" in name:
            return "HDFS does not allow ':' in names"
    if "\0" in relative:
        return "it holds a NUL byte"
    if scheme == "hdfs" and not _is_text(relative):
        return "its name is no UTF-8"
    if len(whole) > _PATH_BYTES // 4 and len(os.fsencode(whole)) > _PATH_BYTES:
        return "its path would be longer than %d bytes" % _PATH_BYTES
    return ""


def _about_key(key: str) -> str:
    if not _is_text(key):
        return "its name is no UTF-8, and a bucket holds nothing else"
    if len(key) > _KEY_BYTES // 4 and len(key.encode()) > _KEY_BYTES:
        return "its key of %d bytes is too long, at most %d are possible" % (len(key.encode()), _KEY_BYTES)
    return ""


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def clashes(kinds: Dict[str, str]) -> Iterator[Tuple[str, str]]:
    """Paths (with their kinds) that would have to be a file and a folder at once: the path, and one below it."""
    seen: Set[str] = set()
    for path in kinds:
        parent = posixpath.dirname(path)
        while parent and parent not in seen:
            seen.add(parent)
            if kinds.get(parent, FOLDER) != FOLDER:
                yield parent, path
            parent = posixpath.dirname(parent) if parent != "/" else ""


def is_below(path: str, folder: str) -> bool:
    """True when a path lies somewhere in a folder; the folder itself does not."""
    return path != folder and path.startswith(folder if not folder or folder.endswith("/") else folder + "/")


def relative_to(path: str, folder: str) -> str:
    """The rest of a path below a folder."""
    return path[len(folder) + (1 if folder and not folder.endswith("/") else 0) :]


def join(folder: str, relative: str) -> str:
    if not folder or folder.endswith("/"):
        return folder + relative
    return folder + "/" + relative if relative else folder


def as_text(path: str) -> str:
    """A path that can be printed and put into JSON: bytes that are no text come out as `\\xff`."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def shown(path: str) -> str:
    """A path for a message: one line, whatever the name holds."""
    text = as_text(path)
    return text if text.isprintable() else repr(text)
