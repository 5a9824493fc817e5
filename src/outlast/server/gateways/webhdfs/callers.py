"""Who is asking at the WebHDFS door. `user.name` is only who somebody says they are, so a token must prove it.

A token comes as `Authorization: Bearer`, as the password of `Authorization: Basic`, as `delegation=` (which is how
clients of secured clusters send theirs), as the user name itself, or in the address before `/webhdfs`: `/as/TOKEN`.
Every client can do one of these. Without any account, whoever sits at this machine is believed.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qsl

from starlette.requests import Request

from outlast.server.accounts.people import Actor, Role
from outlast.server.auth import find_local, find_token
from outlast.server.gateways.headers import header_token
from outlast.server.gateways.webhdfs.permissions import Who
from outlast.server.refusals import NotAllowed, NotSignedIn
from outlast.server.state import ServerState
from outlast.webhdfs.protocol import DEFAULT_USER, Call
from outlast.webhdfs.refusals import Refusal

TOKEN_PREFIX = "outlast_"
_HINT = "send a token as delegation=TOKEN, as user.name, in the header Authorization, or in the address /as/TOKEN"


class Caller(NamedTuple):
    """The account that asks, and in whose name."""

    actor: Actor
    name: str

    @property
    def who(self) -> Who:
        is_super = self.actor.role is Role.ADMIN
        return Who(self.name, frozenset(self.actor.groups), is_super)

    def require_change(self) -> None:
        if not self.actor.role.reaches(Role.MEMBER):
            raise Refusal("AccessControlException", f"{self.actor.name} is {self.actor.role} and may only read")


async def find_caller(request: Request, state: ServerState, call: Call, in_address: str) -> Caller:
    """The one who asks; a `Refusal` with 401 when nothing proves it, with 403 when they may not act as they wish."""
    token = in_address or _given(request, call)
    try:
        actor = await (find_token(state, token) if token else find_local(request, state))
    except NotSignedIn as error:
        raise Refusal("SecurityException", f"{error.message}; {_HINT}") from None
    except NotAllowed as error:
        raise Refusal("AccessControlException", error.message) from None
    said = [name for name in (call.said_by, call.user) if name != DEFAULT_USER and not name.startswith(TOKEN_PREFIX)]
    name = said[-1] if said else actor.name
    if name != actor.name and actor.role is not Role.ADMIN:
        raise Refusal("AccessControlException", f"User: {actor.name} is not allowed to impersonate {name}")
    return Caller(actor, name)


def delegated(request: Request) -> str:
    """The token among the parameters."""
    return next((value for name, value in parse_qsl(request.url.query) if name.lower() == "delegation"), "")


def _given(request: Request, call: Call) -> str:
    named = call.said_by if call.said_by.startswith(TOKEN_PREFIX) else ""
    return header_token(request) or delegated(request) or named
