"""What scripts of MoXing catch. All of it is an OSError too, because `shift` puts these calls in place of os."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import Iterator, NamedTuple, Union

from outlast.inside.errors import AccessDenied, InsideError, NotFound, PlaceError, RequestError, StoreFull


class Resp(NamedTuple):
    """An answer as the OBS client would have given it."""

    status: int
    reason: str
    errorCode: str  # noqa: N815 - the name that scripts read
    errorMessage: str  # noqa: N815


class MoxFileException(OSError):
    """Root of what the functions of `mox.file` raise for urls."""


class MoxFileNotExistsException(MoxFileException, FileNotFoundError):
    """There is nothing at the url."""

    def __init__(self, url: str) -> None:
        super().__init__(errno.ENOENT, os.strerror(errno.ENOENT), url)


class MoxFileNameDuplicateException(MoxFileException):
    """A key of the bucket is a file and a folder at once."""


class MoxFileRespException(MoxFileException):
    """The store refused, or failed; `resp` says how."""

    def __init__(self, resp: Union[Resp, str]) -> None:
        super().__init__(resp if isinstance(resp, str) else resp.errorMessage)
        self.resp = resp


class MoxFileReadException(MoxFileRespException):
    """Reading failed; `resp` says how."""


@contextlib.contextmanager
def told(url: str, reading: bool = False) -> Iterator[None]:
    """Within this block errors of the mover come out as those that scripts know."""
    try:
        yield
    except NotFound:
        raise MoxFileNotExistsException(url) from None
    except InsideError as error:
        raise (MoxFileReadException if reading else MoxFileRespException)(_resp(error)) from None


def _resp(error: InsideError) -> Resp:
    if isinstance(error, AccessDenied):
        return Resp(403, "Forbidden", "AccessDenied", str(error))
    if isinstance(error, RequestError):
        return Resp(400, "Bad Request", "InvalidRequest", str(error))
    if isinstance(error, StoreFull):
        return Resp(507, "Insufficient Storage", "InsufficientStorage", str(error))
    if isinstance(error, PlaceError):
        return Resp(503, "Service Unavailable", "ServiceUnavailable", str(error))
    return Resp(500, "Internal Error", type(error).__name__, str(error))
