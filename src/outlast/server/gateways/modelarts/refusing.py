"""How ModelArts says no: `{"error_msg", "error_code"}`, with the codes of its documents.

The first generation adds `is_success` and repeats the words as `error_message`, because its clients read either.
"""

from __future__ import annotations

import contextlib
import logging
import uuid
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response

from outlast.errors import NotFoundError, OutlastError
from outlast.inside.errors import InsideError
from outlast.modelarts.fields import InvalidBody
from outlast.server.answers import answer
from outlast.server.refusals import NotAllowed, QuotaExceeded, TooLarge, TooManyAttempts

_log = logging.getLogger("outlast.server")

INVALID, INTERNAL, JOB_NOT_FOUND = "0101", "0010", "2775"

#: The first class that fits decides: status and code.
_CODES: tuple[tuple[type[Exception], int, str], ...] = (
    (NotAllowed, 403, "0108"),
    (QuotaExceeded, 400, "2815"),
    (TooManyAttempts, 429, "2799"),
    (TooLarge, 413, INVALID),
    (InvalidBody, 400, "2788"),
    (NotFoundError, 400, "2791"),
)


#: What says more than the code of a place where it happens.
_SAID_ELSEWHERE = (NotAllowed, QuotaExceeded, TooManyAttempts, TooLarge)


class Refusal(Exception):
    """A request that ModelArts would refuse."""

    def __init__(self, code: str, message: str, *, status: int = 400, solution: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.solution = solution

    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"error_msg": str(self), "error_code": f"ModelArts.{self.code}"}
        return body | ({"error_solution": self.solution} if self.solution else {})


class NotLetIn(Refusal):
    """Credentials that prove nothing; the gateway in front of every service of the cloud says it like this."""

    def __init__(self, why: str) -> None:
        super().__init__("0301", f"Incorrect IAM authentication information: {why}", status=401)

    def body(self) -> dict[str, Any]:
        return {"error_msg": str(self), "error_code": "APIG.0301"}


def job_not_found(job: object) -> Refusal:
    return Refusal(JOB_NOT_FOUND, f"the training job {str(job)[:80]!r} does not exist")


@contextlib.contextmanager
def as_code(code: str) -> Iterator[None]:
    """Within this block what cannot be done leaves with that code."""
    try:
        yield
    except (OutlastError, InsideError) as error:
        if isinstance(error, _SAID_ELSEWHERE):
            raise
        raise Refusal(code, str(error), solution=getattr(error, "hint", "")) from None


class GatewayRoute(APIRoute):
    """A route whose every failure leaves in the cloud's shape, and whose every answer carries a request id."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            request_id = uuid.uuid4().hex
            try:
                response = await handle(request)
            except Exception as error:  # noqa: BLE001 - the outermost frame: a bug too leaves in the one shape
                response = _answered(_refusal_of(request, error), request, request_id)
            response.headers["X-Request-Id"] = request_id
            return response

        return handled


def _refusal_of(request: Request, error: Exception) -> Refusal:
    if isinstance(error, Refusal):
        return error
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        return Refusal("2764", f"{first['loc'][-1]}: {first['msg'][:1].lower()}{first['msg'][1:]}")
    if isinstance(error, HTTPException):
        return Refusal(INVALID, str(error.detail), status=error.status_code)
    if isinstance(error, OutlastError):
        known = next(((status, code) for kind, status, code in _CODES if isinstance(error, kind)), None)
        status, code = known or ((400, INVALID) if error.http_status < 500 else (error.http_status, INTERNAL))
        return Refusal(code, error.message, status=status, solution=error.hint)
    if isinstance(error, InsideError):
        return Refusal(INTERNAL, str(error), status=503)
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return Refusal(INTERNAL, "this is a bug in outlast; the server's log has the details", status=500)


def _answered(refusal: Refusal, request: Request, request_id: str) -> Response:
    body = refusal.body()
    if isinstance(refusal, NotLetIn):
        body["request_id"] = request_id
    if request.url.path.startswith("/v1/"):
        body |= {"is_success": False, "error_message": body["error_msg"]}
    return answer(body, refusal.status)
