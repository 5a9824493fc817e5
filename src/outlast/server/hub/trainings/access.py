"""Who asks: a personal token in `PRIVATE-TOKEN`, as Xihe's clients send it, or any other way that the API knows.

A WebSocket of a browser cannot carry headers: there the token is the name of the sub-protocol.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request, WebSocket

from outlast.server.accounts.people import Actor
from outlast.server.auth import find_actor, find_token
from outlast.server.holding import holding_of
from outlast.server.hub.trainings.desk import Desk
from outlast.server.hub.visits import hub_state
from outlast.server.state import state_of

TOKEN_HEADER = "private-token"
_PROTOCOL = "sec-websocket-protocol"


async def find_desk(request: Request) -> Desk:
    """The dependency of every route."""
    return Desk(
        await _actor(request), state_of(request), await holding_of(request), await hub_state(request)
    )  # fmt: skip


Asking = Annotated[Desk, Depends(find_desk)]


async def _actor(request: Request) -> Actor:
    token = request.headers.get(TOKEN_HEADER)
    return await find_actor(request) if token is None else await find_token(state_of(request), token.strip())


async def find_desk_of(socket: WebSocket) -> Desk:
    """Who opened a socket, looked up anew: a token that was taken back shows nothing more."""
    headers = list(socket.scope["headers"])
    if protocol := offered_protocol(socket):
        headers.append((TOKEN_HEADER.encode(), protocol.encode("latin-1", "replace")))
    # As a request that changes something: a page of another site could open a socket with the visitor's cookie.
    return await find_desk(Request({**socket.scope, "type": "http", "method": "POST", "headers": headers}))


def offered_protocol(socket: WebSocket) -> str | None:
    """The token that came as a sub-protocol, which the answer must repeat."""
    text = socket.headers.get(_PROTOCOL, "").partition(",")[0].strip()
    return text or None
