"""Who asks: by a signature of an access key, or by a token in `X-Auth-Token`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa
from fastapi import Request
from starlette.concurrency import run_in_threadpool

from outlast.server.accounts.keys import Kind, digest
from outlast.server.accounts.pairs import Pairs
from outlast.server.accounts.people import Actor, Role
from outlast.server.database import Database
from outlast.server.gateways.modelarts.refusing import NotLetIn, Refusal
from outlast.server.gateways.modelarts.signing import WINDOW_S, Asked, Refused, read_header, verify
from outlast.server.holding import Holding
from outlast.server.refusals import NotAllowed
from outlast.server.schema import modelarts_signatures
from outlast.server.state import ServerState

_SAFE = frozenset({"GET", "HEAD"})
#: A search is a POST that changes nothing; two of them within a second have the same signature.
_SEARCH = "/training-job-searches"


@dataclass(frozen=True)
class Caller:
    """The one who asks, what was sent, and what every route works with."""

    actor: Actor
    body: bytes
    state: ServerState
    holding: Holding
    pairs: Pairs

    def json(self) -> dict[str, Any]:
        return read_object(self.body)

    def require_member(self) -> None:
        if not self.actor.role.reaches(Role.MEMBER):
            raise NotAllowed(f"this needs the role member; {self.actor.name} is {self.actor.role}", hint="ask an admin")


def read_object(body: bytes) -> dict[str, Any]:
    """A body as one JSON object; ModelArts.2787 for everything else."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refusal("2787", f"the body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Refusal("2787", "the body must be one JSON object")
    return value


async def find_caller(request: Request) -> Caller:
    """The dependency of every route: `NotLetIn` unless the credentials hold and fit the project of the path."""
    state: ServerState = request.app.state.outlast
    pairs: Pairs = request.app.state.modelarts
    body = await request.body()
    actor = await run_in_threadpool(_find_actor, state, pairs, request, body)
    project = request.path_params.get("project")
    if project is not None and project != pairs.project_id:
        raise Refusal("0210", f"the project {project[:64]!r} is not the one of these credentials", status=403,
                      solution="leave the project id out, or ask for it: GET /v3/projects")  # fmt: skip
    return Caller(actor, body, state, request.app.state.holding, pairs)


def _find_actor(state: ServerState, pairs: Pairs, request: Request, body: bytes) -> Actor:
    token = request.headers.get("x-auth-token")
    if token is not None:
        actor = _by_token(state, token.strip())
        if actor is None:
            raise NotLetIn("token is invalid or expired")
        return actor
    header = request.headers.get("authorization")
    if header is None:
        raise NotLetIn("x-auth-token not found")
    try:
        return _by_signature(state, pairs, request, body, header)
    except Refused as why:
        raise NotLetIn(str(why)) from None


def _by_token(state: ServerState, token: str) -> Actor | None:
    """A token of `/v3/auth/tokens`, or a personal one."""
    return _remembered(state, "token" if token.startswith("outlast_") else "session", token)


def _by_signature(state: ServerState, pairs: Pairs, request: Request, body: bytes, header: str) -> Actor:
    given = read_header(header)
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
    asked = Asked(request.method, request.scope["path"], request.scope["query_string"].decode("latin-1"), headers, body)
    actor = _remembered(state, "access", given.access)
    # An unknown access key has a secret too: only who knows that learns that the key does not exist.
    verify(asked, given, pairs.secret_of(given.access), time.time())
    if actor is None:
        raise Refused("secret key lookup failed: this access key does not exist, or no longer")
    if request.method not in _SAFE and not request.scope["path"].endswith(_SEARCH):
        use_once(state.database, given.signature, time.time())
    return actor


def _remembered(state: ServerState, kind: Kind, text: str) -> Actor | None:
    """The owner of a key. Looked up once a second at most, as everywhere else."""
    known = digest(f"{kind} {text}")
    actor = state.recent.get(known)
    if actor is None:
        found = state.accounts.keys.find(kind, text)
        if found is None or found.user_id is None:
            return None
        actor = state.accounts.users.actor(found.user_id, "session" if kind == "session" else "token")
        if actor is not None:
            state.recent.put(known, actor)
    return actor


def use_once(database: Database, signature: str, now: float) -> None:
    """Take a signature out of use; `Refused` when it was used before."""
    with database.write() as connection:
        old = modelarts_signatures.c.at < now - 2 * WINDOW_S
        connection.execute(sa.delete(modelarts_signatures).where(old))
        known = sa.select(modelarts_signatures.c.at).where(modelarts_signatures.c.signature == signature)
        if connection.execute(known).first() is not None:
            raise Refused("signature fail: this signed request was used already; sign it anew")
        connection.execute(sa.insert(modelarts_signatures).values(signature=signature, at=now))
