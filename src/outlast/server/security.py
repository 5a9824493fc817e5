"""What every answer carries and no request may exceed, as plain ASGI: it costs microseconds and streams pass."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outlast.model.quantities import format_size
from outlast.server.errors import own_up, refuse
from outlast.server.refusals import TooLarge

#: Enough for any request that is not an upload.
BODY_LIMIT_BYTES = 1 << 20
#: Such a body is a small text: who takes longer to send it is given up.
BODY_LIMIT_S = 60.0

#: For everything that is not one of our own pages: a result that somebody trained may be a page full of scripts.
API_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"

_HEADERS = {
    "Content-Security-Policy": API_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
_STARTED = "outlast.started"
_TRANSPORT = ("Strict-Transport-Security", "max-age=31536000")


class Guard:
    """Adds security headers, which a route may replace, and refuses bodies that are too large or do not come.

    `large` maps the beginning of a path to its own limit, the longest one that fits counts; `formed` does so for
    whole paths of a form. What has a limit of its own is an upload, and may take its time.
    """

    def __init__(
        self, app: ASGIApp, large: Mapping[str, int], formed: Mapping[re.Pattern[str], int] | None = None
    ) -> None:
        self._app = app
        self._formed = dict(formed or {})
        self._large = sorted(large.items(), key=lambda item: -len(item[0]))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        own = self._own_limit(scope["path"])
        limit = BODY_LIMIT_BYTES if own is None else own
        guarded = _guarded(scope, send)
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and (len(length) > 18 or int(length) > limit):
            await refuse(_too_large(limit))(scope, receive, guarded)
            return
        try:
            await self._app(scope, _counted(receive if own else _timed(receive), limit), guarded)
        except ClientDisconnect:
            return  # nobody is there to be told, and a broken line is no bug of ours
        except Exception as error:  # the outermost frame: a bug too leaves in the one shape
            if scope.get(_STARTED):
                raise  # half an answer is out; ending the connection is all that tells
            await own_up(Request(scope), error)(scope, receive, guarded)

    def _own_limit(self, path: str) -> int | None:
        formed = (limit for form, limit in self._formed.items() if form.fullmatch(path))
        begun = (limit for start, limit in self._large if path.startswith(start))
        return next(itertools.chain(formed, begun), None)


def _guarded(scope: Scope, send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            scope[_STARTED] = True
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            if scope["scheme"] == "https":
                headers.setdefault(*_TRANSPORT)
        await send(message)

    return guarded


def _counted(receive: Receive, limit: int) -> Receive:
    """`receive` for bodies without a length: what is too much is noticed as it comes."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            # FastAPI passes on this class only; every other one becomes "bad request" while it reads a body.
            raise HTTPException(413, _too_large(limit).message)
        return message

    return counted


def _timed(receive: Receive) -> Receive:
    """`receive` for bodies that are to be there soon. Behind the last byte it waits as long as the client stays."""
    due: float | None = None
    is_whole = False

    async def timed() -> Message:
        nonlocal due, is_whole
        if is_whole:
            return await receive()
        due = due or asyncio.get_running_loop().time() + BODY_LIMIT_S
        try:
            async with asyncio.timeout_at(due):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, f"the body did not come within {BODY_LIMIT_S:g} s") from None
        is_whole = not message.get("more_body", False)
        return message

    return timed


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"the body is larger than {format_size(limit)}", hint="send it in parts")
