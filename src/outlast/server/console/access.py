"""Who is on a page. The rules are those of the API: the same session, the same sight, the same ownership."""

from __future__ import annotations

from urllib.parse import urlencode

from nicegui import app as console
from nicegui import context
from starlette.requests import Request

from outlast.server.accounts.people import Actor, Role
from outlast.server.auth import COOKIE, csrf_of, find_actor
from outlast.server.holding import Holding
from outlast.server.refusals import NotAllowed


async def actor_of(request: Request) -> Actor:
    """The one who opens this page; strangers are sent to the sign-in, and back here after it."""
    return await find_actor(request)


async def actor_now() -> Actor:
    """The one on the current page, looked up again: whoever signed out elsewhere can do nothing more here."""
    return await find_actor(context.client.request)


async def member_now() -> Actor:
    """As `actor_now`, for what viewers may not do."""
    actor = await actor_now()
    if not actor.role.reaches(Role.MEMBER):
        raise NotAllowed(f"this needs the role {Role.MEMBER}; {actor.name} is {actor.role}", hint="ask an admin")
    return actor


def holding() -> Holding:
    """What the routes of the API share: runs as ready bytes, watches, uploads."""
    held: Holding = console.state.server.state.holding
    return held


def server_option(actor: Actor) -> str:
    """What stands after `outlast --server` for this visitor; nothing at the server's own terminal."""
    return "" if actor.via == "local" else str(context.client.request.base_url).rstrip("/")


def csrf(request: Request) -> str:
    """What a script of our page sends as `X-CSRF-Token`; empty when nobody signed in with a session."""
    session = request.cookies.get(COOKIE)
    return csrf_of(session) if session is not None else ""


def sign_in_address(request: Request) -> str:
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return f"/sign-in?{urlencode({'next': target})}"
