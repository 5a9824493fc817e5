"""What a page asks the server to do goes through the REST API, in this process and as the page's own visitor.

So every rule of the API holds here without being written twice: roles, ownership, quotas, checks of fields, the audit
log. A page that stays open for days asks anew each time: whoever was signed out meanwhile is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import httpx
from nicegui import app as console
from nicegui import context
from starlette.requests import Request
from starlette.types import ASGIApp

from outlast.errors import NotFoundError, OutlastError, PlatformError, UsageError
from outlast.server.auth import COOKIE, CSRF_HEADER, csrf_of
from outlast.server.refusals import Conflict, NotAllowed, NotSignedIn, QuotaExceeded, TooLarge

_PREFIX = "/api/v1"
_KEY = "Idempotency-Key"
#: What tells the API who is asking and from where; nothing else of the page's request concerns it.
_FORWARDED = ("cookie", "forwarded", "host", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


#: What the API's refusals are here; every other one below 500 is the request's fault.
_REFUSALS: dict[int, type[OutlastError]] = {
    401: NotSignedIn, 403: NotAllowed, 404: NotFoundError, 409: Conflict, 413: TooLarge, 429: QuotaExceeded,
}  # fmt: skip


class Calls:
    """The REST API for one page. What it refuses is raised, in its own words."""

    def __init__(self, app: ASGIApp, request: Request) -> None:
        client = (request.client.host, request.client.port) if request.client is not None else ("", 0)
        headers = {name: request.headers[name] for name in _FORWARDED if name in request.headers}
        if COOKIE in request.cookies:
            headers[CSRF_HEADER] = csrf_of(request.cookies[COOKIE])
        # The page was reached at this address; a name that leads here from elsewhere is not the machine's own.
        self._open: Callable[[], httpx.AsyncClient] = lambda: httpx.AsyncClient(
            transport=httpx.ASGITransport(app, client=client), base_url=str(request.base_url), headers=headers,
            timeout=None, trust_env=False,
        )  # fmt: skip

    async def get(self, path: str, /, **query: Any) -> dict[str, Any]:
        return await self._send("GET", path, query=query)

    async def post(self, path: str, body: Mapping[str, Any] | None = None, *, key: str = "") -> dict[str, Any]:
        """With a `key`, what is asked for happens once, however often it is sent."""
        return await self._send("POST", path, body if body is not None else {}, headers={_KEY: key} if key else {})

    async def put(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return await self._send("PUT", path, body if body is not None else {})

    async def patch(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return await self._send("PATCH", path, body)

    async def delete(self, path: str, /, **query: Any) -> dict[str, Any]:
        return await self._send("DELETE", path, query=query)

    async def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        said = {name: value for name, value in (query or {}).items() if value is not None}
        async with self._open() as client:
            answer = await client.request(method, _PREFIX + path, json=body, params=said, headers=headers)
        found = answer.json() if answer.content else {}
        if answer.is_success:
            told: dict[str, Any] = found
            return told
        kind = _REFUSALS.get(answer.status_code, PlatformError if answer.is_server_error else UsageError)
        hint = str(found.get("hint", ""))
        # Addresses of the API help programs; who reads a page has its navigation.
        raise kind(str(found.get("message", answer.reason_phrase)), hint="" if _PREFIX in hint else hint)


def calls() -> Calls:
    """The API for whoever is on the current page."""
    return Calls(console.state.server, context.client.request)


def part(text: str) -> str:
    """A value as one part of a path."""
    return quote(text, safe="")
