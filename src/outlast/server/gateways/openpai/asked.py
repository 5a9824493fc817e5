"""One request to the OpenPAI door: who asks, and what they sent."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from outlast.errors import OutlastError, SpecError
from outlast.inside.errors import InsideError
from outlast.server.accounts.people import Actor, Role, is_name
from outlast.server.auth import address_of, find_local, find_token
from outlast.server.gateways.headers import header_token
from outlast.server.gateways.openpai.forms import read_body
from outlast.server.gateways.openpai.refusing import PaiRefusal, refused
from outlast.server.holding import Holding
from outlast.server.refusals import NotAllowed, NotSignedIn
from outlast.server.state import ServerState
from outlast.webhdfs.folder import FolderFileSystem
from outlast.webhdfs.protocol import origin_of

#: Without accounts nobody needs a token, but clients want one: it only says how the user calls themselves.
LOCAL = "local_"
_NOBODY = Actor(-1, "", Role.VIEWER)


@dataclass(frozen=True)
class Asked:
    """Everything that a handler needs, read and checked; handlers run in threads."""

    state: ServerState
    held: Holding
    hdfs: FolderFileSystem
    actor: Actor
    token: str
    path: Mapping[str, str]
    query: Mapping[str, str]
    text: str
    media_type: str
    accept: str
    origin: str
    address: str

    @property
    def body(self) -> Any:
        return read_body(self.text, self.media_type)

    @property
    def fields(self) -> dict[str, Any]:
        """The body of a request that has names and values; also JSON that came as plain text."""
        found = self.body
        if isinstance(found, str):
            found = read_body(found, "application/json")
        if not isinstance(found, dict):
            raise SpecError("the body must be an object")
        return found

    def require(self, role: Role) -> None:
        if not self.actor.role.reaches(role):
            raise NotAllowed(f"this needs the role {role}; {self.actor.name} is {self.actor.role}")

    def require_self(self, user: str) -> None:
        """Nobody acts under another's name; the machine's own user, who has no account, goes by any."""
        if user != self.actor.name:
            raise NotAllowed(f"User {self.actor.name} is not allowed to do operation under {user}")


Handler = Callable[[Asked], Response]


def route(app: FastAPI, path: str, method: str, handler: Handler, *, public: bool = False) -> Route:
    """A route of the door; a `public` one does not ask who is there."""

    async def endpoint(request: Request) -> Response:
        try:
            return await run_in_threadpool(handler, await _read(request, app, public))
        except (OutlastError, InsideError, PaiRefusal) as error:
            return refused(error)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it

    return Route(path, endpoint, methods=[method], include_in_schema=False)


async def _read(request: Request, app: FastAPI, public: bool) -> Asked:
    state: ServerState = app.state.outlast
    token = header_token(request)
    actor = _NOBODY if public else await _find_actor(request, state, token, request.path_params.get("user", ""))
    try:
        text = (await request.body()).decode()
    except UnicodeDecodeError:
        raise SpecError("the body is not text in UTF-8") from None
    return Asked(
        state, app.state.holding, app.state.hdfs, actor, token, request.path_params, dict(request.query_params), text,
        request.headers.get("content-type", ""), request.headers.get("accept", ""),
        origin_of(request.url.scheme, request.headers.get("host", ""), "http://127.0.0.1"), address_of(request),
    )  # fmt: skip


async def _find_actor(request: Request, state: ServerState, token: str, user: str) -> Actor:
    if token and not token.startswith(LOCAL):
        return await find_token(state, token)
    try:
        actor = await find_local(request, state)
    except NotSignedIn:
        raise NotSignedIn("Guest is not allowed to do this operation", hint="POST /api/v1/token first") from None
    name = user or token.removeprefix(LOCAL)
    return dataclasses.replace(actor, name=name) if is_name(name) else actor
