"""What goes wrong, as OpenPAI says it: `{"code", "message"}` and a status."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from outlast.errors import NotFoundError, OutlastError, UsageError
from outlast.inside.errors import InsideError
from outlast.openpai.invalid import InvalidJob
from outlast.server.answers import answer
from outlast.server.refusals import NotAllowed, NotSignedIn, QuotaExceeded, TooLarge, TooManyAttempts

#: The first class that fits decides. Messages are ours: they say what to do.
_KINDS: tuple[tuple[type[Exception], int, str], ...] = (
    (NotSignedIn, 401, "UnauthorizedUserError"),
    (NotAllowed, 403, "ForbiddenUserError"),
    (QuotaExceeded, 403, "NoEnoughQuotaError"),
    (TooManyAttempts, 429, "TooManyRequestsError"),
    (TooLarge, 413, "InvalidParametersError"),
    (NotFoundError, 404, "NoJobError"),
    (UsageError, 400, "InvalidParametersError"),
)


class PaiRefusal(Exception):
    """An error that already has OpenPAI's code."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def refuse(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> Response:
    return answer({"code": code, "message": message}, status, headers)


def refused(error: Exception) -> Response:
    """The answer to a request that failed."""
    if isinstance(error, PaiRefusal):
        return refuse(error.status, error.code, error.message)
    if isinstance(error, InvalidJob):
        return refuse(400, error.kind, error.server_message)
    for kind, status, code in _KINDS:
        if isinstance(error, kind):
            waits = {"Retry-After": str(max(1, round(error.wait_s)))} if isinstance(error, TooManyAttempts) else None
            return refuse(status, code, str(error), waits)
    assert isinstance(error, OutlastError | InsideError)
    return refuse(503, "UnknownError", str(error))


def no_job(framework: str) -> PaiRefusal:
    return PaiRefusal(404, "NoJobError", f"Job {framework} is not found.")


def no_user(name: str) -> PaiRefusal:
    return PaiRefusal(404, "NoUserError", f"User {name} is not found.")


def no_group(name: str) -> PaiRefusal:
    return PaiRefusal(404, "NoGroupError", f"Group {name} is not found.")


def no_cluster(name: str, status: int = 404) -> PaiRefusal:
    """A job that names it is answered with 404, a change of somebody's clusters with 400."""
    return PaiRefusal(status, "NoVirtualClusterError", f"Virtual cluster {name} is not found.")
