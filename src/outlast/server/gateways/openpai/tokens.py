"""Signing in at the OpenPAI door: a password becomes a personal token of this server, which every route takes."""

from __future__ import annotations

import contextlib
import time

from starlette.responses import Response

from outlast.errors import NotFoundError
from outlast.server.accounts.people import Actor, Role, is_name
from outlast.server.answers import answer
from outlast.server.gateways.openpai.asked import LOCAL, Asked
from outlast.server.gateways.openpai.refusing import PaiRefusal

#: What the original's tokens live, whatever a client asks for.
TOKEN_S = 7 * 86400.0
_NAME, _APPLICATION, _JOB = "openpai", "openpai application", "job "
#: A job may wait and train for so long.
JOB_TOKEN_S = 30 * 86400.0


def sign_in(asked: Asked) -> Response:
    """`POST /token`: wrong names and wrong passwords look the same, and too many of them have to wait."""
    body = asked.fields
    name, password = str(body.get("username", "")), str(body.get("password", ""))
    expiration = str(body.get("expiration", "86400"))
    if not name or not password:
        raise PaiRefusal(400, "InvalidParametersError", "username and password are required")
    if not expiration.isdecimal() or not 60 <= int(expiration[:9]) <= TOKEN_S:
        words = f"expiration {expiration[:20]!r} is not a number of seconds from 60 to {TOKEN_S:g}"
        raise PaiRefusal(400, "InvalidParametersError", words)
    accounts = asked.state.accounts
    if not accounts.users.exist():
        return _local(asked, name)
    known = name if is_name(name) else "?"
    accounts.attempts.begin(known, asked.address)
    user = accounts.users.check_password(known, password)
    if user is None:
        accounts.audit.add(known, "sign-in.refused", asked.address)
        raise PaiRefusal(400, "IncorrectPasswordError", "User name or password is incorrect")
    accounts.attempts.succeeded(known, asked.address)
    forget_old(asked, user.id)
    text, key = accounts.keys.create("token", user.id, name=_NAME, lasts_s=TOKEN_S)
    accounts.audit.add(user.name, "token.create", key.id, user=user.name, name=_NAME, address=asked.address)
    return _let_in(user.name, text, user.role is Role.ADMIN)


def _local(asked: Asked, name: str) -> Response:
    """Without accounts: whether this machine's own user asks is checked at each request, not here."""
    if not is_name(name):
        raise PaiRefusal(400, "NoUserError", f"{name!r} cannot be the name of a user")
    return _let_in(name, LOCAL + name, True)


def _let_in(name: str, token: str, is_admin: bool) -> Response:
    return answer({"user": name, "token": token, "admin": is_admin, "hasGitHubPAT": False})


def create_job_token(asked: Asked, job: str) -> tuple[str, str]:
    """(token, id) for a job of one's own; it reads and writes the server's HDFS with it."""
    keys = asked.state.accounts.keys
    forget_old(asked, asked.actor.id)
    text, key = keys.create("token", asked.actor.id, name=f"{_JOB}{job}"[:64], lasts_s=JOB_TOKEN_S)
    return text, key.id


def forget_old(asked: Asked, user_id: int) -> None:
    """Editors sign in every hour, and jobs are many: what has run out need not be listed for ever."""
    keys, now = asked.state.accounts.keys, time.time()
    for key in keys.list("token", user_id):
        is_ours = key.name == _NAME or key.name.startswith(_JOB)
        if is_ours and key.expires_at is not None and key.expires_at < now:
            with contextlib.suppress(NotFoundError):  # another request was quicker
                keys.revoke("token", key.id, user_id)


def end_tokens(asked: Asked, user_id: int) -> None:
    """After another password: whoever signed in with the old one has to do it again; programs and jobs go on."""
    keys = asked.state.accounts.keys
    for key in keys.list("token", user_id):
        if key.name == _NAME:
            with contextlib.suppress(NotFoundError):
                keys.revoke("token", key.id, user_id)


def sign_out(asked: Asked) -> Response:
    asked.state.accounts.keys.forget("token", asked.token)
    asked.state.recent.clear()
    return answer({"message": "Logout successfully"})


def way_in(asked: Asked) -> Response:
    return answer({"authn_type": "basic", "loginURI": "/authn/basic/login", "loginURIMethod": "post"})


def list_tokens(asked: Asked) -> Response:
    """By their ids: the tokens themselves are kept nowhere."""
    found = asked.state.accounts.keys.list("token", asked.actor.id) if asked.actor.id else []
    return answer({"tokens": [key.id for key in found]})


def create_application_token(asked: Asked) -> Response:
    """A token that does not run out, for programs."""
    _require_account(asked.actor)
    accounts = asked.state.accounts
    text, key = accounts.keys.create("token", asked.actor.id, name=_APPLICATION)
    accounts.audit.add(asked.actor.name, "token.create", key.id, user=asked.actor.name, name=_APPLICATION)
    return answer({"token": text, "application": True})


def revoke_token(asked: Asked) -> Response:
    """End one of one's own tokens, named by itself or by its id."""
    _require_account(asked.actor)
    keys, given = asked.state.accounts.keys, asked.path["token"]
    named = keys.find("token", given)
    try:
        key = keys.revoke("token", named.id if named else given, asked.actor.id)
    except NotFoundError:
        raise PaiRefusal(404, "NoTokenError", "There is no such token.") from None
    asked.state.accounts.audit.add(asked.actor.name, "token.revoke", key.id, user=asked.actor.name)
    asked.state.recent.clear()
    return answer({"message": "revoke successfully"})


def check_token(asked: Asked) -> Response:
    return answer(
        {
            "username": asked.actor.name,
            "admin": asked.actor.role is Role.ADMIN,
            "application": False,
            "jobSpecific": False,
        }
    )


def _require_account(actor: Actor) -> None:
    if not actor.id:
        raise PaiRefusal(403, "ForbiddenUserError", "this needs an account: outlast user add NAME --role admin")
