"""Store clients that need only the standard library, shared by both halves."""

from __future__ import annotations

import urllib.parse
from typing import Callable, Dict

from ..errors import RequestError
from .base import Store


def path_of_url(url: str) -> str:
    """The absolute path in a `file://` address; percent-encoding is decoded, `?` and `#` are ordinary there."""
    rest = url[len("file://") :]
    if rest.startswith("localhost/"):
        rest = rest[len("localhost") :]
    if not rest.startswith("/"):
        raise RequestError("store %r needs an absolute path after three slashes, like file:///home/me/store" % url)
    path = urllib.parse.unquote(rest, errors="surrogateescape")
    if "\0" in path:
        raise RequestError("store %r holds a NUL byte" % url)
    return path


def _open_file(url: str) -> Store:
    from .file import FileStore

    return FileStore(path_of_url(url))


#: Scheme -> how such an address is opened. A client is imported only when it is used.
OPENERS: Dict[str, Callable[[str], Store]] = {"file": _open_file}


def open_store(url: str) -> Store:
    """The store at an address such as `file:///data/outlast`. Opening creates nothing; the first `put` does."""
    scheme, separator, _ = url.partition("://")
    opener = OPENERS.get(scheme.lower()) if separator else None
    if opener is None:
        raise RequestError("cannot open store %r; known kinds: %s" % (url, ", ".join(sorted(OPENERS))))
    return opener(scheme.lower() + url[len(scheme) :])
