"""Who is asking, and how far that reaches: a personal token, a browser's session, or the machine's own user.

A session comes in a cookie, which a browser also sends when another site asks it to; hence whatever changes
something must repeat a value that only our own pages know (`X-CSRF-Token`).
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Awaitable, Callable
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from outlast.server.accounts.keys import SESSION_S, digest
from outlast.server.accounts.people import Actor, Role
from outlast.server.refusals import NotAllowed, NotSignedIn
from outlast.server.state import ServerState, state_of

COOKIE = "outlast_session"
CSRF_HEADER = "X-CSRF-Token"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_SIGN_IN = "sign in, or send a token: Authorization: Bearer outlast_…"
#: A proxy on this machine speaks for others; its requests are not the machine's own user's.
_PROXY_HEADERS = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


async def find_actor(request: Request) -> Actor:
    """The one who asks; `NotSignedIn` when that cannot be told, `NotAllowed` when another site may be behind it."""
    state = state_of(request)
    header = request.headers.get("authorization")
    session = request.cookies.get(COOKIE)
    if header is not None:
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer":
            raise NotSignedIn("this way to sign in is not known here", hint=_SIGN_IN)
        return await find_token(state, token.strip())
    if session is not None and (actor := await _known(state, "session", session)) is not None:
        if request.method not in _SAFE:
            check_csrf(request.headers.get(CSRF_HEADER), session)
        return actor
    return await find_local(request, state)


async def find_token(state: ServerState, text: str) -> Actor:
    """The one whom a personal token lets in; `NotSignedIn` for any other text."""
    actor = await _known(state, "token", text)
    if actor is None:
        raise NotSignedIn("this token is not valid, or no longer", hint=_SIGN_IN)
    return actor


#: The dependency of a route: `def route(actor: Current) -> …`
Current = Annotated[Actor, Depends(find_actor)]


def require(role: Role) -> Callable[[Actor], Awaitable[Actor]]:
    """A dependency that lets only this role and higher ones pass: `actor: Annotated[Actor, Depends(require(…))]`."""

    async def check(actor: Current) -> Actor:
        if not actor.role.reaches(role):
            raise NotAllowed(f"this needs the role {role}; {actor.name} is {actor.role}", hint="ask an admin")
        return actor

    return check


Member = Annotated[Actor, Depends(require(Role.MEMBER))]
Admin = Annotated[Actor, Depends(require(Role.ADMIN))]


def csrf_of(session: str) -> str:
    """The value that forms and scripts of our own pages send back; it says nothing about the session's key."""
    return hashlib.sha256(b"csrf " + session.encode("utf-8", "surrogatepass")).hexdigest()


def check_csrf(given: str | None, session: str) -> None:
    if given is None or not hmac.compare_digest(given.encode("utf-8", "replace"), csrf_of(session).encode()):
        raise NotAllowed(f"the header {CSRF_HEADER} is missing or wrong", hint="GET /api/v1/me tells its value")


def set_session(response: Response, request: Request, session: str) -> None:
    """Hand a session to the browser: not for scripts, not for other sites, over TLS only where there is TLS."""
    response.set_cookie(
        COOKIE, session, max_age=int(SESSION_S), httponly=True, samesite="lax", secure=request.url.scheme == "https"
    )


def address_of(request: Request) -> str:
    """Where the request comes from, for the limit on sign-ins and the audit log."""
    return request.client.host if request.client is not None else "local"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches `host`."""
    name = host.strip("[]")
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


async def _known(state: ServerState, kind: str, text: str) -> Actor | None:
    key = digest(text)
    actor = state.recent.get(key)
    if actor is None:
        actor = await run_in_threadpool(state.accounts.find, kind, text)
        if actor is not None:
            state.recent.put(key, actor)
    return actor


async def find_local(request: Request, state: ServerState) -> Actor:
    """As long as there is no account, whoever sits at this machine is its admin."""
    if not _is_at_this_machine(request):
        raise NotSignedIn("who are you?", hint=_SIGN_IN)
    actor = state.recent.get("local")
    if actor is None:
        if await run_in_threadpool(state.accounts.users.exist):
            raise NotSignedIn("who are you?", hint=_SIGN_IN)
        actor = Actor(0, state.settings.user, Role.ADMIN)
        state.recent.put("local", actor)
    if request.method not in _SAFE and not is_own_site(request):
        raise NotAllowed("another web site may not act here", hint="open the server's own address")
    return actor


def _is_at_this_machine(request: Request) -> bool:
    """Both ends and the name that was asked for are loopback: a page that renames itself to 127.0.0.1 is not ours."""
    server, client = request.scope.get("server"), request.client
    ends = [server[0] if server else "", client.host if client is not None else "", request.url.hostname or ""]
    return all(map(is_loopback, ends)) and not any(name in request.headers for name in _PROXY_HEADERS)


def is_own_site(request: Request) -> bool:
    """False when a browser says that a page of another site sends this; programs say nothing."""
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return False
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


__all__ = [
    "COOKIE", "CSRF_HEADER", "Actor", "Admin", "Current", "Member", "Role", "address_of", "check_csrf", "csrf_of",
    "find_actor", "find_local", "find_token", "is_loopback", "is_own_site", "require", "set_session",
]  # fmt: skip
