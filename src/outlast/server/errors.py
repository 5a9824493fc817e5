"""Every failure of a request as one shape: `{"ok": false, "code", "message", "hint"}` and a status."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from outlast.errors import CredentialError, OutlastError
from outlast.inside import errors as inside_errors
from outlast.server.answers import answer
from outlast.server.pages import refused_page, wants_page
from outlast.server.refusals import Conflict, NotAllowed, NotSignedIn, QuotaExceeded, TooLarge, TooManyAttempts

_log = logging.getLogger("outlast.server")


#: The inside half's errors carry no status of their own; the first class that fits decides.
_INSIDE: tuple[tuple[type[Exception], int, str], ...] = (
    (inside_errors.AccessDenied, 502, "store_credentials"),
    (inside_errors.RequestError, 400, "usage"),
    (inside_errors.NotFound, 404, "not_found"),
    (inside_errors.InsideError, 503, "store"),
)


def add_error_handlers(app: FastAPI) -> None:
    """Let every error of this app leave in the one shape."""
    app.add_exception_handler(OutlastError, _outlast)
    app.add_exception_handler(inside_errors.InsideError, _inside)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, http_refusal)


def refusal(status: int, code: str, message: str, hint: str = "", headers: Mapping[str, str] | None = None) -> Response:
    """The one shape of an error."""
    return answer({"ok": False, "code": code, "message": message, "hint": hint}, status, headers)


def refuse(error: OutlastError) -> Response:
    """The response that stands for `error`."""
    headers = {}
    if isinstance(error, NotSignedIn):
        headers["WWW-Authenticate"] = 'Bearer realm="outlast"'
    if isinstance(error, TooManyAttempts):
        headers["Retry-After"] = str(max(1, round(error.wait_s)))
    if type(error) is CredentialError:  # the server's own keys are missing or refused, not the caller's
        return refusal(502, "store_credentials", error.message, error.hint)
    return refusal(error.http_status, error.code, error.message, error.hint, headers)


async def _outlast(request: Request, error: Exception) -> Response:
    assert isinstance(error, OutlastError)
    return refuse(error)


async def _inside(request: Request, error: Exception) -> Response:
    status, code = next((status, code) for kind, status, code in _INSIDE if isinstance(error, kind))
    return refusal(status, code, str(error))


async def _invalid(request: Request, error: Exception) -> Response:
    """Names the first wrong field; its value stays out, since it may be a password."""
    assert isinstance(error, RequestValidationError)
    first: dict[str, Any] = error.errors()[0]
    if first["type"] == "json_invalid":
        return refusal(422, "invalid", "the body is not JSON", f"at character {first['loc'][-1]}")
    place = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
    more = len(error.errors()) - 1
    hint = f"{more} more field{'s are' if more > 1 else ' is'} wrong too" if more else ""
    return refusal(422, "invalid", f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}", hint)


async def http_refusal(request: Request, error: Exception) -> Response:
    """What stands for an error of HTTP itself: a page for a browser where pages are, JSON otherwise."""
    assert isinstance(error, HTTPException)
    if error.status_code in (404, 405):
        message = "no such address" if error.status_code == 404 else f"{request.method} is not possible here"
        if wants_page(request):
            return refused_page(request, error.status_code, message)
        code = "not_found" if error.status_code == 404 else "not_possible"
        return refusal(error.status_code, code, message, "the addresses are listed at /api/v1/docs", error.headers)
    code = "too_large" if error.status_code == 413 else HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
    return refusal(error.status_code, code, str(error.detail), headers=error.headers)


def own_up(request: Request, error: Exception) -> Response:
    """A mistake of ours. What failed goes to the log only: it may name another user's files."""
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return refusal(500, "bug", "this is a bug in outlast", "the server's log has the details")


__all__ = [
    "Conflict", "NotAllowed", "NotSignedIn", "QuotaExceeded", "TooLarge", "TooManyAttempts", "add_error_handlers",
    "http_refusal", "own_up", "refusal", "refuse",
]  # fmt: skip
