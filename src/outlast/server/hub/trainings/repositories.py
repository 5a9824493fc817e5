"""Repositories at Xihe's own addresses: made, listed, shown, removed. The same ones as everywhere else in the hub."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from outlast.errors import NotFoundError, OutlastError
from outlast.hub.hub import Hub
from outlast.hub.names import check_owner, check_repository_name
from outlast.hub.relations import related_of
from outlast.hub.repository import Repository
from outlast.server.hub.api import owner_is_group
from outlast.server.hub.trainings.access import Asking
from outlast.server.hub.trainings.desk import Desk
from outlast.server.hub.trainings.envelope import BAD_BODY, BAD_PARAM, NOT_EXISTS, Refusal, XiheRoute, told
from outlast.server.hub.trainings.routes import json_body

Kind = Literal["project", "model", "dataset"]


class KindRoute(XiheRoute):
    """A route for these kinds alone: what else lies below `/v1/` belongs to the door for clients of ModelArts."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        kind = child.get("path_params", {}).get("kind")
        return (match, child) if kind in get_args(Kind) else (Match.NONE, {})


router = APIRouter(prefix="/v1", route_class=KindRoute, include_in_schema=False)

Rows = Annotated[int, Query(ge=1, le=100, alias="count_per_page")]
PageNumber = Annotated[int, Query(ge=1, le=10**6, alias="page_num")]
Words = Annotated[str, Query(max_length=100)]
#: Everything in a body that means something here; covers, titles and kinds of apps do not.
_WORDS = ("owner", "name", "desc", "protocol", "repo_type")


@router.post("/{kind}")
async def make(request: Request, desk: Asking, kind: Kind) -> Response:
    """Make an empty repository; code comes with `git push`."""
    body = await json_body(request)
    return told(await run_in_threadpool(_make, desk, kind, body), 201)


@router.get("/{kind}")
def show_all(
    desk: Asking, kind: Kind, name: Words = "", rows: Rows = 50, page: PageNumber = 1
) -> Response:  # fmt: skip
    """Those of everybody that you may see."""
    return _listed(desk, kind, None, name, rows, page)


@router.get("/{kind}/{owner}")
def show_those_of(
    desk: Asking, kind: Kind, owner: str, name: Words = "", rows: Rows = 50, page: PageNumber = 1
) -> Response:  # fmt: skip
    return _listed(desk, kind, owner, name, rows, page)


@router.get("/{kind}/{owner}/{name}")
def show(desk: Asking, kind: Kind, owner: str, name: str) -> Response:
    found = find(desk, kind, owner, name)
    near = related_of(found, desk.shared.hub.list(desk.visitor))
    related = {f"related_{each}s": [brief(one) for one in near[each]] for each in near if each != kind}
    return told(shown(found) | {"updated_at": _updated(desk.shared.hub, found)} | related)


@router.get("/{kind}/{owner}/{name}/check")
def check(desk: Asking, kind: Kind, owner: str, name: str) -> Response:
    """Whether a repository could be called so: one owner uses a name once, whatever the kind."""
    try:
        check_owner(owner)
        check_repository_name(name)
        mine = {each.name.lower() for each in desk.shared.hub.list(desk.visitor) if each.owner == owner}
    except OutlastError:
        return told({"can_apply": False})
    return told({"can_apply": name.lower() not in mine})


@router.delete("/{kind}/{owner}/{name}")
def remove(desk: Asking, kind: Kind, owner: str, name: str) -> Response:
    hub = desk.shared.hub
    find(desk, kind, owner, name)
    found = hub.find_own(desk.visitor, owner, name)
    hub.remove(found)
    desk.state.accounts.audit.add(desk.actor.name, "repository.remove", found.path, kind=found.kind)
    return Response(status_code=204)


def find(desk: Desk, kind: str, owner: str, name: str) -> Repository:
    """A repository of that kind; what may not be seen does not exist."""
    try:
        found = desk.shared.hub.find(desk.visitor, owner, name)
    except NotFoundError:
        found = None
    if found is None or found.kind != kind:
        raise Refusal(NOT_EXISTS, f"no {kind} {owner[:64]}/{name[:64]}", status=404)
    return found


def find_by_id(desk: Desk, kind: str, owner: str, id: str, *, to_change: bool = True) -> Repository:
    """The same by its id, which it keeps under every name."""
    those = desk.shared.hub.list(desk.visitor)
    found = next((each for each in those if (each.id, each.kind, each.owner) == (id, kind, owner)), None)
    if found is None:
        raise Refusal(NOT_EXISTS, f"no {kind} {id[:64]!r} of {owner[:64]}", status=404)
    return desk.shared.hub.find_own(desk.visitor, owner, found.name) if to_change else found


def _make(desk: Desk, kind: str, body: object) -> dict[str, Any]:
    if not isinstance(body, dict) or any(not isinstance(body.get(each, ""), str) for each in _WORDS):
        raise Refusal(BAD_BODY, f"the body must be one JSON object; {', '.join(_WORDS)} are texts")
    visibility, tags = body.get("repo_type") or "public", body.get("tags") or []
    if visibility not in ("public", "private"):
        raise Refusal(BAD_PARAM, f"repo_type: {visibility[:40]!r} is not offered here", hint="public or private")
    if not isinstance(tags, list) or any(not isinstance(each, str) for each in tags):
        raise Refusal(BAD_BODY, "tags: must be a list of texts")
    owner = body.get("owner") or desk.actor.name
    made = desk.shared.hub.create(
        desk.visitor, f"{owner}/{body.get('name') or ''}", kind, group=owner_is_group(desk.state, desk.actor, owner),
        visibility=visibility, description=body.get("desc") or "", tags=tuple(tags), licence=body.get("protocol") or "",
    )  # fmt: skip
    desk.state.accounts.audit.add(desk.actor.name, "repository.create", made.path, kind=made.kind)
    return shown(made)


def _listed(desk: Desk, kind: Kind, owner: str | None, name: str, rows: int, page: int) -> Response:
    found = [each for each in desk.shared.hub.list(desk.visitor) if each.fits(kind, owner, name)]
    start = (page - 1) * rows
    return told({"total": len(found), f"{kind}s": [shown(each) for each in found[start : start + rows]]})


def brief(repository: Repository) -> dict[str, Any]:
    """As others name it."""
    return {
        "id": repository.id, "owner": {"name": repository.owner, "avatar_id": ""}, "name": repository.name,
        "type": repository.kind, "desc": repository.description, "update_at": repository.created_at[:10],
        "like_count": 0, "download_count": 0,
    }  # fmt: skip


def shown(repository: Repository) -> dict[str, Any]:
    day = repository.created_at[:10]
    body: dict[str, Any] = {
        "id": repository.id, "owner": repository.owner, "name": repository.name, "desc": repository.description,
        "title": repository.name, "protocol": repository.licence, "repo_type": repository.visibility,
        "repo_id": repository.id, "tags": repository.tags, "created_at": day, "updated_at": day, "like_count": 0,
        "download_count": 0,
    }  # fmt: skip
    if repository.kind == "project":
        body |= {"type": "Static", "cover_id": "1", "training": "ModelArts", "fork_count": 0}
    return body


def _updated(hub: Hub, repository: Repository) -> str:
    """The day of the newest step, or of its making."""
    bare = hub.bare(repository)
    try:
        return bare.log(bare.commit(), limit=1)[0].at[:10]
    except NotFoundError:
        return repository.created_at[:10]
