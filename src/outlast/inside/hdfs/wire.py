"""WebHDFS as text: paths and parameters to targets, documents to statuses, a server's exceptions to our errors."""

from __future__ import annotations

import json
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple, Union
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from ..errors import AccessDenied, InsideError, NotFound, PlaceError, RequestError, StoreFull
from ..net.retry import Again, retry_after_s

PREFIX = "/webhdfs/v1"
FILE, FOLDER, LINK = "FILE", "DIRECTORY", "SYMLINK"

Parameter = Union[str, int, bool]


class Exists(RequestError):
    """Something has that name already."""


class NotEmpty(RequestError):
    """A folder that still holds something."""


class Status(NamedTuple):
    """What a name node says about one path."""

    name: str  # within the folder that was listed; empty when the path itself was asked for
    kind: str  # FILE, FOLDER or LINK
    size_bytes: int
    modified_ms: int
    inode: int  # stays with the file through renames; 0 when the server does not tell
    owner: str
    group: str
    mode: int
    target: str = ""  # of a link

    @property
    def tag(self) -> str:
        """Another text whenever the bytes are others."""
        return "%d-%d-%d" % (self.inode, self.modified_ms, self.size_bytes)

    @property
    def is_file(self) -> bool:
        return self.kind == FILE

    @property
    def is_folder(self) -> bool:
        return self.kind == FOLDER


def status_from(body: Mapping[str, Any]) -> Status:
    """One `FileStatus`."""
    return Status(
        str(body.get("pathSuffix", "")),
        str(body["type"]),
        int(body.get("length", 0)),
        int(body.get("modificationTime", 0)),
        int(body.get("fileId", 0)),
        str(body.get("owner", "")),
        str(body.get("group", "")),
        int(str(body.get("permission", "0")), 8),
        str(body.get("symlink", "")),
    )


def check_path(path: str) -> str:
    """Return an absolute path; `RequestError` for what HDFS can never hold."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise RequestError("HDFS cannot hold %r: the name is not text that UTF-8 can carry" % path) from None
    if ":" in path or "\0" in path:
        raise RequestError("HDFS cannot hold %r: a name there has no %r" % (path, ":" if ":" in path else "\0"))
    if path != "/" and (path[:1] != "/" or any(part in ("", ".", "..") for part in path[1:].split("/"))):
        raise RequestError("bad HDFS path %r: write it like /data/train, without '..' or '//'" % path)
    return path


def inode_path(inode: int, below: str = "") -> str:
    """A name for a file that no later rename or replacement changes, and that holds nothing to decode."""
    return "/.reserved/.inodes/%d%s" % (inode, "/" + below if below else "")


def target_of(base: str, path: str, operation: str, who: Mapping[str, str], parameters: Mapping[str, Parameter]) -> str:
    """The path and query of a request to the name node; `who` says who asks: `user.name`, or `delegation`."""
    query: Dict[str, str] = dict({"op": operation}, **who)
    for name, value in parameters.items():
        query[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return "%s%s%s?%s" % (base, PREFIX, quote(path), urlencode(query, quote_via=quote))


def split_location(location: str, who: Mapping[str, str]) -> Tuple[str, str]:
    """Where a redirect leads: the server, and the target there, which says who asks as every request does."""
    parts = urlsplit(location)
    query = parts.query
    for name in set(who).difference(parse_qs(query)):
        query += "&%s=%s" % (name, quote(who[name]))
    return "%s://%s" % (parts.scheme, parts.netloc), "%s?%s" % (parts.path, query)


# Exceptions by their short names; those of Hadoop 2 and 3 are the same.
_FULL = ("QuotaExceededException", "DiskOutOfSpaceException")
_LATER = ("StandbyException", "RetriableException", "SafeModeException", "NotReplicatedYetException",
          "AlreadyBeingCreatedException", "LeaseExpiredException", "ConnectException")  # fmt: skip
_DENIED = ("AccessControlException", "SecurityException", "AuthorizationException", "AuthenticationException")
_IMPOSSIBLE = ("IllegalArgumentException", "InvalidPathException", "UnsupportedOperationException",
               "PathComponentTooLongException", "MaxDirectoryItemsExceededException",
               "ParentNotDirectoryException")  # fmt: skip


def trouble(status: int, reason: str, body: bytes, after: str, where: str, path: str) -> Exception:
    """What to raise for an answer that is an error: one of ours, or `Again` when a later try may work."""
    found = _exception_in(body)
    if found is None:
        return _plain_trouble(status, reason, after, where)
    name, message = found
    words = "hdfs://%s: %s" % (where, message)  # Hadoop's messages name the path
    if name == "FileNotFoundException":
        return NotFound(path)
    if name == "FileAlreadyExistsException":
        return Exists(words)
    if name == "PathIsNotEmptyDirectoryException":
        return NotEmpty(words)
    if name in _DENIED or status == 401:
        return AccessDenied("%s; act as another user with: outlast login hdfs" % words)
    if name.endswith(_FULL):
        return StoreFull(words)
    if "could only be replicated to 0 nodes" in message or "could only be written to 0 of" in message:
        return Again(StoreFull("%s; the data nodes are full or away" % words))
    if name in _LATER:
        return Again(PlaceError(words), retry_after_s(after))
    if name in _IMPOSSIBLE or message.startswith("Invalid path name") or "must both be directories" in message:
        return RequestError(words)
    return Again(PlaceError(words)) if status >= 500 else PlaceError(words)


def _exception_in(body: bytes) -> Optional[Tuple[str, str]]:
    try:
        found = json.loads(body.decode("utf-8"))["RemoteException"]
        name, message = str(found["exception"]), str(found.get("message") or found["exception"])
    except (ValueError, LookupError, TypeError):
        return None
    # The rest of the message is a Java stack trace.
    return name, message.partition("\n")[0].strip()


def _plain_trouble(status: int, reason: str, after: str, where: str) -> Exception:
    if status == 401:
        return AccessDenied("%s wants a login (%d %s); Kerberos is not supported" % (where, status, reason))
    error: InsideError = PlaceError("%s answered %d %s" % (where, status, reason))
    if status in (408, 429) or status >= 500:
        return Again(error, retry_after_s(after))
    return RequestError(
        "%s does not answer as WebHDFS does (%d %s); the HTTP port of a name node is 9870, 50070 in Hadoop 2"
        % (where, status, reason)
    )
