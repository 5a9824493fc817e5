"""The server's accounts on platforms: what each kind asks for, signing in, signing out. For admins."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from outlast.errors import CredentialError, NotFoundError, UsageError
from outlast.operations.signin import fields_of, platform_kinds, sign_in
from outlast.platforms.accounts import Accounts
from outlast.platforms.base import Standing
from outlast.platforms.registry import load
from outlast.server.answers import answer
from outlast.server.api.runs import State
from outlast.server.auth import Admin
from outlast.server.bodies import Body
from outlast.server.holding import Held

router = APIRouter(tags=["places"])


class AccountBody(Body):
    """An account on a platform, as `outlast login` takes it."""

    kind: str = Field(max_length=64, description="modelarts, openpai or xihe")
    name: str = Field("", max_length=64, description="what `--on` calls it; the kind when left out")
    values: dict[str, str] = Field(max_length=40, description="the fields of that kind, by name")
    check: bool = Field(True, description="try it with a real call, and keep nothing when that fails")


@router.get("/platforms/kinds", summary="List kinds of platforms")
def get_kinds(actor: Admin) -> Response:
    """What an account of each kind consists of."""
    kinds = [kind for kind in platform_kinds() if load(kind).fields]
    return answer({"kinds": [{"kind": kind, "fields": [each._asdict() for each in fields_of(kind)]} for kind in kinds]})


@router.post("/platforms", status_code=201, summary="Sign in to a platform")
def post_account(body: AccountBody, actor: Admin, held: Held, state: State) -> Response:
    """The account is tried and kept for the runs of this server. Secrets come back in no answer."""
    try:
        done = sign_in(held.settings, body.kind, body.values, name=body.name, check=body.check)
    except CredentialError as error:
        # Not 401: it is the platform that does not know us, not we who do not know the caller.
        raise UsageError(error.message, hint=error.hint) from None
    state.accounts.audit.add(actor.name, "platform.login", done.name, kind=done.kind)
    standing = done.standing or Standing("ready")
    told = {
        "name": done.name, "kind": done.kind, "values": done.values, "checked": done.standing is not None,
        "detail": standing.detail, "offers": [each._asdict() for each in standing.offers],
    }  # fmt: skip
    return answer(told, 201)


@router.delete("/platforms/{account}", summary="Sign out of a platform")
def delete_account(account: str, actor: Admin, held: Held, state: State) -> Response:
    """Its keys are forgotten. Runs that could go there wait, or go elsewhere."""
    if not Accounts(held.settings.home).forget(account):
        raise NotFoundError(f"there is no account {account!r}", hint="GET /platforms lists them")
    state.accounts.audit.add(actor.name, "platform.logout", account)
    return answer({"name": account})
