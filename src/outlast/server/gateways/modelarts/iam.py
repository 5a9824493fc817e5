"""As much of the identity service as clients of ModelArts need: a token for a password, and the project's id."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from outlast.server.accounts.pairs import Pairs
from outlast.server.accounts.people import Actor, moment
from outlast.server.answers import answer
from outlast.server.auth import address_of
from outlast.server.gateways.modelarts.access import Caller, find_caller, read_object
from outlast.server.gateways.modelarts.refusing import GatewayRoute, Refusal
from outlast.server.refusals import NotSignedIn
from outlast.server.state import state_of

router = APIRouter(prefix="/v3", route_class=GatewayRoute, include_in_schema=False)

TOKEN_S = 86400.0


@router.post("/auth/tokens")
async def create_token(request: Request) -> Response:
    """A token for name and password, in the header `X-Subject-Token`. It works for a day."""
    state, pairs = state_of(request), request.app.state.modelarts
    name, password, project = _read_password(read_object(await request.body()))
    address = address_of(request)
    try:
        token, actor = await run_in_threadpool(state.accounts.sign_in, name, password, address, TOKEN_S)
    except NotSignedIn as error:
        raise Refusal("0203", error.message, status=401, solution=error.hint) from None
    return answer({"token": _token(pairs, actor, project)}, 201, {"X-Subject-Token": token})


@router.get("/projects")
def list_projects(
    caller: Annotated[Caller, Depends(find_caller)], name: Annotated[str, Query(max_length=64)] = "outlast"
) -> Response:
    """The one project that there is, under whatever name of a region it is asked for."""
    return answer({"projects": [_project(caller.pairs, name)], "links": {}})


def _read_password(body: dict[str, Any]) -> tuple[str, str, str]:
    """(name, password, name of the project) of a request for a token."""
    try:
        user = body["auth"]["identity"]["password"]["user"]
        name, password = user["name"], user["password"]
        project = ((body["auth"].get("scope") or {}).get("project") or {}).get("name") or "outlast"
    except (KeyError, TypeError, AttributeError):
        raise Refusal("0107", "only the method password is known: auth.identity.password.user.name and .password",
                      solution="or sign requests with an access key") from None  # fmt: skip
    if not all(isinstance(text, str) and len(text) <= 1024 for text in (name, password, project)):
        raise Refusal("0107", "name, password and project must be texts")
    return name, password, project


def _token(pairs: Pairs, actor: Actor, project: str) -> dict[str, Any]:
    now = time.time()
    domain = {"id": pairs.project_id, "name": "outlast"}
    return {
        "methods": ["password"], "issued_at": moment(now), "expires_at": moment(now + TOKEN_S),
        "user": {"id": str(actor.id), "name": actor.name, "domain": domain},
        "project": {"id": pairs.project_id, "name": project, "domain": domain},
        "roles": [{"id": "0", "name": actor.role}], "catalog": [],
    }  # fmt: skip


def _project(pairs: Pairs, name: str) -> dict[str, Any]:
    return {
        "id": pairs.project_id, "name": name, "description": "", "enabled": True, "is_domain": False,
        "domain_id": pairs.project_id, "parent_id": pairs.project_id, "links": {},
    }  # fmt: skip
