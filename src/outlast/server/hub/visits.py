"""Who comes to the hub, and to which repository. Git and LFS carry a personal token as the password of HTTP Basic."""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from outlast.errors import NotFoundError
from outlast.hub.hub import Hub
from outlast.hub.pointers import Pointer
from outlast.hub.repository import Repository
from outlast.model.visitor import Visitor
from outlast.operations.hubs import open_hub
from outlast.server.accounts.people import Actor, Role
from outlast.server.auth import find_actor, find_token
from outlast.server.hub.uploadpack import Advertisement
from outlast.server.refusals import NotSignedIn
from outlast.server.state import state_of

#: Git processes at a time in one server process; more wait.
_PROCESSES = 32
#: How long an upload that was agreed to may take to begin.
_GRANT_S = 3600.0
_HINT = "the password is a personal token: outlast token create"


@dataclass
class HubState:
    """What the routes of the hub share within one process."""

    hub: Hub
    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_PROCESSES))
    advertisement: Advertisement = field(default_factory=Advertisement)
    _granted: dict[tuple[str, Pointer], float] = field(default_factory=dict)

    def grant(self, repository: Repository, pointers: Iterable[Pointer]) -> None:
        """Remember that there is room for these objects: measuring again for each of thousands would take long."""
        now = time.monotonic()
        self._granted = {each: until for each, until in list(self._granted.items()) if until > now}
        self._granted |= {(repository.id, each): now + _GRANT_S for each in pointers}

    def is_granted(self, repository: Repository, pointer: Pointer) -> bool:
        return self._granted.get((repository.id, pointer), 0.0) > time.monotonic()


async def hub_state(request: Request) -> HubState:
    """The dependency that gives a route the hub; opened by the first one that asks."""
    state = request.app.state
    if not hasattr(state, "hub"):
        hub = await run_in_threadpool(open_hub, state_of(request).settings)
        if not hasattr(state, "hub"):
            state.hub = HubState(hub)
    found: HubState = state.hub
    return found


Opened = Annotated[HubState, Depends(hub_state)]


def visitor_of(actor: Actor) -> Visitor:
    """An account as the hub knows it."""
    return Visitor(actor.name, actor.groups, actor.role is Role.ADMIN, actor.role.reaches(Role.MEMBER))


async def find_visitor(request: Request) -> Visitor:
    """Who asks through git or LFS; `NotSignedIn` for nobody and for a token that is wrong or has run out."""
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return visitor_of(await find_actor(request))
    try:
        return visitor_of(await find_token(state_of(request), _password(text)))
    except NotSignedIn as error:
        raise NotSignedIn(error.message, hint=_HINT) from None


async def visit(request: Request, shared: HubState, owner: str, name: str, *, to_change: bool) -> Visited:
    """The repository that a request names, and who asks. What may not be seen does not exist."""
    visitor = await find_visitor(request)
    find = shared.hub.find_own if to_change else shared.hub.find
    try:
        return Visited(visitor, await run_in_threadpool(find, visitor, owner, name))
    except NotFoundError:
        raise NotFoundError(f"no repository {owner}/{name}", hint="make it with: outlast repo create") from None


@dataclass(frozen=True)
class Visited:
    """Somebody at a repository that they may see."""

    visitor: Visitor
    repository: Repository


def _password(text: str) -> str:
    try:
        return base64.b64decode(text.strip(), validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        raise NotSignedIn("the header Authorization cannot be read", hint=_HINT) from None
