"""What the operating system refuses, in the words of `errors`: the one place that reads errno."""

from __future__ import annotations

import errno

from .errors import InsideError, PlaceError, RequestError, StoreFull

# EFBIG is a limit on the size of files (ulimit -f): for the writer it is the same as a full disk.
_FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
_REFUSED = frozenset((errno.EROFS, errno.EACCES, errno.EPERM))
_IMPOSSIBLE = frozenset((errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.ELOOP))


def explain(error: OSError, path: str) -> InsideError:
    """The error to raise instead of `error`, naming `path` and what would help."""
    reason = (error.strerror or str(error)).lower()
    if error.errno in _FULL:
        return StoreFull("no space left for %s (%s); free some, e.g. with: outlast gc" % (path, reason))
    if error.errno in _REFUSED:
        return PlaceError("%s cannot be used: %s; check its owner and permissions" % (path, reason))
    if error.errno in _IMPOSSIBLE:
        return RequestError("%s cannot be used: %s" % (path, reason))
    return PlaceError("%s: %s" % (path, reason))
