"""Answers that are errors, in Hadoop's words: clients tell them apart by class, by status and, some, by message."""

from __future__ import annotations

import errno
import json

_PACKAGES = {
    "AccessControlException": "org.apache.hadoop.security",
    "AclException": "org.apache.hadoop.hdfs.protocol",
    "AlreadyBeingCreatedException": "org.apache.hadoop.hdfs.protocol",
    "DiskOutOfSpaceException": "org.apache.hadoop.util.DiskChecker$",
    "EOFException": "java.io",
    "FileAlreadyExistsException": "org.apache.hadoop.fs",
    "FileNotFoundException": "java.io",
    "HadoopIllegalArgumentException": "org.apache.hadoop",
    "IllegalArgumentException": "java.lang",
    "InvalidPathException": "org.apache.hadoop.fs",
    "IOException": "java.io",
    "ParentNotDirectoryException": "org.apache.hadoop.fs",
    "PathComponentTooLongException": "org.apache.hadoop.hdfs.protocol.FSLimitException$",
    "PathIsNotEmptyDirectoryException": "org.apache.hadoop.fs",
    "RuntimeException": "java.lang",
    "SecurityException": "java.lang",
    "UnsupportedOperationException": "java.lang",
}
# Every other IOException is a 403, as Hadoop has it.
_STATUSES = {
    "FileNotFoundException": 404,
    "HadoopIllegalArgumentException": 400,
    "IllegalArgumentException": 400,
    "InvalidPathException": 400,
    "RuntimeException": 500,
    "SecurityException": 401,  # as documented; Hadoop's own code says 403, and clients ask for the former
    "UnsupportedOperationException": 400,
}
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)


class Refusal(Exception):
    """What the server answers instead of doing what it was asked."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.status = _STATUSES.get(name, 403)

    def body(self) -> bytes:
        """The document that goes with the status."""
        package = _PACKAGES[self.name]
        found = {
            "exception": self.name,
            "javaClassName": package + ("" if package.endswith("$") else ".") + self.name,
            "message": self.message,
        }
        return json.dumps({"RemoteException": found}).encode()


class Torn(Exception):
    """The client went away before its bytes were complete; nobody waits for an answer."""


def absent(path: str) -> Refusal:
    return Refusal("FileNotFoundException", f"File does not exist: {path}")


def no_file(path: str) -> Refusal:
    """For what is there and is a folder or a link."""
    return Refusal("FileNotFoundException", f"Path is not a file: {path}")


def bad_path(path: str) -> Refusal:
    return Refusal("InvalidPathException", f"Invalid path name {path}")


def bad_parameter(name: str, reason: str) -> Refusal:
    return Refusal("IllegalArgumentException", f'Invalid value for webhdfs parameter "{name}": {reason}')


def from_system(error: OSError, path: str) -> Refusal:
    """What the machine under the server refused."""
    reason = error.strerror or str(error)
    if error.errno in _FULL:
        return Refusal("DiskOutOfSpaceException", f"no space left for {path}: {reason}")
    if error.errno in _DENIED:
        return Refusal("AccessControlException", f"Permission denied by the server's own file system: {path}: {reason}")
    if error.errno == errno.ENAMETOOLONG:
        return Refusal("PathComponentTooLongException", f"The maximum path component name limit is exceeded: {path}")
    if error.errno in (errno.ENOENT, errno.ESTALE):
        return absent(path)
    if error.errno in (errno.ENOTDIR, errno.ELOOP):
        return Refusal("ParentNotDirectoryException", f"{path}: a part of it is not a directory")
    return Refusal("IOException", f"{path}: {reason}")
