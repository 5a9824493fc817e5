"""Store clients that need only the standard library, shared by both halves."""

from __future__ import annotations

import os
import urllib.parse
from typing import Callable, Dict, Optional

from ..errors import RequestError
from ..move.address import parse
from ..net.retry import Policy
from .access import Access, from_environ
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


def is_remote(url: str) -> bool:
    """Whether an address leads away from this machine, so that keys and patience are needed."""
    scheme, separator, _ = url.partition("://")
    return bool(separator) and scheme.lower() != "file"


def _open_file(url: str, access: Optional[Access], policy: Policy) -> Store:
    from .file import FileStore

    return FileStore(path_of_url(url))


def _open_bucket(url: str, access: Optional[Access], policy: Policy) -> Store:
    from ..s3.store import S3Store

    address = parse(url)
    return S3Store(_access(address.scheme, access), address.authority, address.path, policy)


def _open_hdfs(url: str, access: Optional[Access], policy: Policy) -> Store:
    from ..hdfs.store import HdfsStore

    address = parse(url)
    return HdfsStore(_access(address.scheme, access), address.authority, address.path, policy)


def _access(kind: str, access: Optional[Access]) -> Access:
    return access or from_environ(kind, os.environ) or Access(kind)


#: Scheme -> how such an address is opened. A client is imported only when it is used.
OPENERS: Dict[str, Callable[[str, Optional[Access], Policy], Store]] = {
    "file": _open_file,
    "hdfs": _open_hdfs,
    "obs": _open_bucket,
    "s3": _open_bucket,
}


def open_store(url: str, access: Optional[Access] = None, policy: Optional[Policy] = None) -> Store:
    """The store at an address such as `file:///data/outlast`. Opening creates nothing; the first `put` does.

    Without an access the environment's is used, and without that none at all. `policy` says how long a store that is
    reached over a network is asked again before its trouble is told.
    """
    scheme, separator, _ = url.partition("://")
    opener = OPENERS.get(scheme.lower()) if separator else None
    if opener is None:
        raise RequestError("cannot open store %r; known kinds: %s" % (url, ", ".join(sorted(OPENERS))))
    return opener(scheme.lower() + url[len(scheme) :], access, policy or Policy())
