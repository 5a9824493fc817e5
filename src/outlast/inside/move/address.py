"""Addresses as people write them: local paths, `s3://`, `obs://`, `hdfs://`, `file://`.

One rule for slashes, decided by the text alone: a slash at the end of a destination means "into this folder", a slash
at the end of a source means "what is in it".
"""

from __future__ import annotations

import os
import posixpath
import re
from typing import NamedTuple
from urllib.parse import unquote

from ..errors import RequestError

BUCKETS = ("s3", "obs")
SCHEMES = ("file", "hdfs", "obs", "s3")
_BUCKET = re.compile(r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")
_HOST = re.compile(r"^[A-Za-z0-9.-]+(:[0-9]{1,5})?$|^\[[0-9a-fA-F:]+\](:[0-9]{1,5})?$")


class Address(NamedTuple):
    """A place that something can be copied from or to."""

    scheme: str
    authority: str  # a bucket, a name node's host:port; empty on this machine
    path: str  # without a slash at its end; empty for a bucket's root, "/" for the root of the others
    into: bool  # the text ended with a slash, or names a root: something inside is meant
    profile: str = ""  # whose credentials; empty: the default of that kind

    def __str__(self) -> str:
        """As a user would write it. A local path is shown as it is."""
        slash = "/" if self.into and not self.path.endswith("/") and self.path else ""
        if self.scheme == "file":
            return self.path + slash
        return "%s/%s%s" % (self.root, self.path.lstrip("/"), slash)

    @property
    def root(self) -> str:
        """The address of the tree this lies in, without a slash at its end."""
        if self.scheme == "file":
            return "file://"
        return "%s://%s%s" % (self.scheme, self.profile + "@" if self.profile else "", self.authority)

    def child(self, relative: str) -> Address:
        """The place of that relative path below this one."""
        path = relative if not self.path else self.path.rstrip("/") + "/" + relative
        return self._replace(path=path, into=False)

    @property
    def name(self) -> str:
        """The last part of the path; the bucket's name for a bucket."""
        return posixpath.basename(self.path.rstrip("/")) or self.authority


def parse(text: str) -> Address:
    """Read an address; `RequestError` names what is wrong with it. Touches neither disk nor network."""
    if not text or "\0" in text:
        raise RequestError("an address must not be empty" if not text else "address %r holds a NUL byte" % text)
    scheme, separator, rest = text.partition("://")
    if not separator:
        return _local(text)
    scheme = scheme.lower()
    if scheme == "file":
        if not rest.startswith("/"):
            raise RequestError("%s needs an absolute path after three slashes, like file:///home/me/data" % text)
        return _local(unquote(rest, errors="surrogateescape"))
    if scheme not in SCHEMES:
        known = ", ".join("%s://" % each for each in SCHEMES)
        raise RequestError("unknown kind of address %s://; known: local paths, %s" % (scheme, known))
    authority, _, path = rest.partition("/")
    profile, at, authority = authority.rpartition("@")
    if at and not profile:
        raise RequestError("%s names no profile before the @" % text)
    if scheme in BUCKETS:
        return _in_bucket(text, scheme, profile, authority, path)
    if not _HOST.match(authority):
        raise RequestError("%s needs a host, like hdfs://namenode:9870/data" % text)
    whole = posixpath.normpath("/" + path.strip("/"))
    if ".." in path.split("/"):
        raise RequestError("%s holds '..'; write the path out" % text)
    return Address(scheme, authority, whole, not path or path.endswith("/"), profile)


def _in_bucket(text: str, scheme: str, profile: str, bucket: str, key: str) -> Address:
    if not _BUCKET.match(bucket):
        raise RequestError(
            "%s has no good bucket name: %r needs 3 to 63 lower-case letters, digits, '-' or '.'" % (text, bucket)
        )
    # Keys are opaque: `a//b` is another key than `a/b`, so nothing is normalised but the slash at the end.
    return Address(scheme, bucket, key[:-1] if key.endswith("/") else key, not key or key.endswith("/"), profile)


def _local(text: str) -> Address:
    path = os.path.abspath(os.path.expanduser(text))
    # `.`, `..` and `a/..` can only mean the folder itself.
    into = text.endswith("/") or posixpath.basename(text) in (".", "..") or path == "/"
    return Address("file", "", path, into)
