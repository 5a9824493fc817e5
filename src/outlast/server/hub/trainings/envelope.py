"""How Xihe answers: always `{code, msg, data}`; the code is empty when all is well."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response

from outlast.errors import CredentialError, NotFoundError, OutlastError, UsageError
from outlast.hub.hub import TakenError
from outlast.inside.errors import InsideError
from outlast.server.answers import answer
from outlast.server.refusals import NotSignedIn, QuotaExceeded, TooLarge

_log = logging.getLogger("outlast.server")

BAD_BODY, BAD_PARAM, NO_TOKEN = "bad_request_body", "bad_request_param", "invalid_token"
NOT_EXISTS, NOT_ALLOWED, SYSTEM = "resource_not_exists", "not_allowed", "system_error"
TAKEN, TOO_MANY, NO_TRAINING = "duplicate_training_name", "train_excced_max_num", "train_not_found"
NO_LOG, NO_OUTPUT, ONE_AT_A_TIME = "train_no_log", "train_no_output", "exceed_max_num"

#: The first class that fits decides: status and code.
_CODES: tuple[tuple[type[Exception], int, str], ...] = (
    (NotSignedIn, 401, NO_TOKEN),
    (CredentialError, 403, NOT_ALLOWED),
    (NotFoundError, 404, NOT_EXISTS),
    (TakenError, 400, "duplicate_creating"),
    (QuotaExceeded, 400, ONE_AT_A_TIME),
    (TooLarge, 413, BAD_BODY),
)


class Refusal(UsageError):
    """A request that Xihe would refuse, with the code that its clients know."""

    def __init__(self, reason: str, message: str, *, status: int = 400, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason
        self.status = status


def told(data: Any, status: int = 200) -> Response:
    return answer(said(data), status)


def said(data: Any) -> dict[str, Any]:
    """What goes out when all is well."""
    return {"code": "", "msg": "", "data": data}


def refused(error: Exception, where: str) -> Response:
    """The answer that stands for an error; a bug of ours goes to the log only."""
    found = _as_refusal(error)
    if found is None:
        _log.error("%s failed", where, exc_info=error)
        found = Refusal(SYSTEM, "this is a bug in outlast; the server's log has the details", status=500)
    return answer({"code": found.reason, "msg": str(found), "data": None}, found.status)


def _as_refusal(error: Exception) -> Refusal | None:
    if isinstance(error, Refusal):
        return error
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        return Refusal(BAD_PARAM, f"{first['loc'][-1]}: {first['msg'][:1].lower()}{first['msg'][1:]}")
    if isinstance(error, HTTPException):
        return Refusal(BAD_BODY, str(error.detail), status=error.status_code)
    if isinstance(error, OutlastError):
        known = next(((status, code) for kind, status, code in _CODES if isinstance(error, kind)), None)
        usual = (400, BAD_PARAM) if error.http_status < 500 else (error.http_status, SYSTEM)
        status, code = known or usual
        return Refusal(code, error.message, status=status, hint=error.hint)
    return Refusal(SYSTEM, str(error), status=503) if isinstance(error, InsideError) else None


class XiheRoute(APIRoute):
    """A route whose every failure leaves in the one shape."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except Exception as error:  # noqa: BLE001 - the outermost frame: a bug too leaves in the one shape
                return refused(error, f"{request.method} {request.url.path}")

        return handled
