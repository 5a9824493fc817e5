"""The routes about oneself: who am I, sign in and out, personal tokens."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import Response

from outlast import __version__
from outlast.server.accounts.bodies import NewPassword, NewToken, SignIn
from outlast.server.accounts.pairs import Pairs
from outlast.server.accounts.people import Actor, Role
from outlast.server.answers import answer
from outlast.server.auth import COOKIE, Current, address_of, csrf_of, is_own_site, set_session
from outlast.server.refusals import NotAllowed
from outlast.server.state import ServerState, state_of

router = APIRouter(tags=["account"])

State = Annotated[ServerState, Depends(state_of)]
KeyId = Annotated[str, Path(pattern=r"^[0-9a-f]{1,16}$")]


@router.get("/health")
async def health() -> Response:
    """Whether the server answers; needs no account."""
    return answer({"ok": True, "version": __version__})


@router.get("/me")
async def me(request: Request, actor: Current) -> Response:
    """Who is asking; with a session also `csrf`, the header X-CSRF-Token of requests that change something."""
    return answer(_told(actor, request.cookies.get(COOKIE)))


@router.post("/sign-in")
def sign_in(request: Request, body: SignIn, state: State) -> Response:
    """Open a session: the answer sets a cookie and carries `csrf`."""
    if not is_own_site(request):
        raise NotAllowed("another web site may not sign in here", hint="open the server's own address")
    session, actor = state.accounts.sign_in(body.name, body.password, address_of(request))
    response = answer(_told(actor, session))
    set_session(response, request, session)
    return response


@router.post("/sign-out")
def sign_out(request: Request, actor: Current, state: State) -> Response:
    """End this session; a token is ended by removing it instead."""
    state.accounts.keys.forget("session", request.cookies.get(COOKIE, ""))
    state.recent.clear()
    response = answer({"ok": True})
    response.delete_cookie(COOKIE)
    return response


@router.post("/me/password")
def change_password(request: Request, body: NewPassword, actor: Current, state: State) -> Response:
    """Choose another password; every session ends, this one too."""
    _require_account(actor)
    state.accounts.attempts.begin(actor.name, address_of(request))
    if state.accounts.users.check_password(actor.name, body.old) is None:
        raise NotAllowed("the old password is wrong", hint="an admin can make a new link: outlast user link NAME")
    state.accounts.attempts.succeeded(actor.name, address_of(request))
    state.accounts.users.change(actor.name, password=body.new)
    state.accounts.audit.add(actor.name, "user.password", actor.name)
    state.recent.clear()
    return answer({"ok": True})


@router.get("/tokens")
def list_tokens(actor: Current, state: State, everybody: bool = False) -> Response:
    """One's own tokens, never the tokens themselves; admins may ask for everybody's."""
    if everybody and actor.role is not Role.ADMIN:
        raise NotAllowed("only admins see everybody's tokens")
    found = state.accounts.keys.list("token", None if everybody else actor.id)
    return answer({"items": [key.to_json() for key in found]})


@router.post("/tokens", status_code=201)
def create_token(body: NewToken, actor: Current, state: State) -> Response:
    """Make a personal token. `token` in the answer is shown this one time only.

    With the kind `access` it is `access_key` and `secret_key`, a pair that signs requests at the ModelArts door.
    """
    owner = body.user or actor.name
    if owner != actor.name and actor.role is not Role.ADMIN:
        raise NotAllowed("only admins make tokens for others")
    if body.user is None:
        _require_account(actor)
    user = state.accounts.users.get_active(owner)
    text, key = state.accounts.keys.create(body.kind, user.id, name=body.name, lasts_s=body.expires_s)
    state.accounts.audit.add(actor.name, "token.create", key.id, user=user.name, name=body.name)
    words = Pairs(state.settings.home).words(text) if body.kind == "access" else {"token": text}
    return answer({**key.to_json(), **words}, 201)


@router.delete("/tokens/{token_id}")
def revoke_token(token_id: KeyId, actor: Current, state: State) -> Response:
    """End a token at once; admins may end anybody's."""
    key = state.accounts.keys.revoke("token", token_id, None if actor.role is Role.ADMIN else actor.id)
    state.accounts.audit.add(actor.name, "token.revoke", key.id, user=key.user)
    state.recent.clear()
    return answer(key.to_json())


def _told(actor: Actor, session: str | None) -> dict[str, object]:
    return actor.to_json() | ({"csrf": csrf_of(session)} if session and actor.via == "session" else {})


def _require_account(actor: Actor) -> None:
    if actor.via == "local":
        raise NotAllowed("this needs an account", hint="make one with: outlast user add NAME --role admin")
