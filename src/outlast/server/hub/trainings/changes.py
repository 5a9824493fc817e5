"""Repositories changed at Xihe's own addresses: words and name, tags, forks, and what they name as related."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from outlast.hub.forking import fork
from outlast.hub.names import check_words
from outlast.hub.relations import TooManyRelated, relate, unrelate
from outlast.hub.repository import Repository
from outlast.server.hub.room import require_room
from outlast.server.hub.trainings.access import Asking
from outlast.server.hub.trainings.desk import Desk
from outlast.server.hub.trainings.envelope import BAD_BODY, BAD_PARAM, NOT_ALLOWED, ONE_AT_A_TIME, Refusal, told
from outlast.server.hub.trainings.repositories import Kind, KindRoute, brief, find, find_by_id, shown
from outlast.server.hub.trainings.routes import json_body

router = APIRouter(prefix="/v1", route_class=KindRoute, include_in_schema=False)

Related = Literal["model", "dataset"]


@router.put("/{kind}/{owner}/{id}")
async def update(request: Request, desk: Asking, kind: Kind, owner: str, id: str) -> Response:
    """Give it another name, description or visibility; the visibility is called `type` here, as upstream."""
    body = _texts(await json_body(request), "name", "desc", "type", "repo_type")
    return told(await run_in_threadpool(_update, desk, kind, owner, id, body), 202)


@router.put("/{kind}/{owner}/{id}/tags")
async def set_tags(request: Request, desk: Asking, kind: Kind, owner: str, id: str) -> Response:
    """Add tags and remove others."""
    body = await json_body(request)
    await run_in_threadpool(_set_tags, desk, kind, owner, id, body)
    return told("success", 202)


@router.post("/{kind}/{owner}/{id}")
async def make_fork(request: Request, desk: Asking, kind: Kind, owner: str, id: str) -> Response:
    """Make a project of one's own out of somebody else's."""
    body = _texts(await json_body(request), "name", "desc")
    return told(await run_in_threadpool(_fork, desk, kind, owner, id, body), 201)


@router.put("/{kind}/relation/{owner}/{id}/{other}")
async def add_related(request: Request, desk: Asking, kind: Kind, owner: str, id: str, other: Related) -> Response:
    """Name a model or data set that may be seen."""
    body = _texts(await json_body(request), "owner", "name")
    return told(await run_in_threadpool(_add_related, desk, kind, owner, id, other, body), 202)


@router.delete("/{kind}/relation/{owner}/{id}/{other}")
async def remove_related(request: Request, desk: Asking, kind: Kind, owner: str, id: str, other: Related) -> Response:
    """Name it no more; also one that is gone, or may not be seen any more."""
    body = _texts(await json_body(request), "owner", "id")
    await run_in_threadpool(lambda: unrelate(desk.shared.hub, find_by_id(desk, kind, owner, id), body.get("id", "")))
    return Response(status_code=204)


def _update(desk: Desk, kind: str, owner: str, id: str, body: dict[str, str]) -> dict[str, Any]:
    hub, found = desk.shared.hub, find_by_id(desk, kind, owner, id)
    visibility = body.get("type") or body.get("repo_type")
    if visibility not in (None, "public", "private"):
        raise Refusal(BAD_PARAM, f"type: {visibility[:40]!r} is not offered here", hint="public or private")
    check_words(body.get("desc", ""), (), "")  # before the name changes
    before = found.path
    if body.get("name") and body["name"] != found.name:
        found = hub.rename(desk.visitor, found, f"{owner}/{body['name']}")
        desk.state.accounts.audit.add(desk.actor.name, "repository.rename", before, to=found.path)
    changed = hub.change(found, visibility=visibility, description=body.get("desc"))
    desk.state.accounts.audit.add(
        desk.actor.name, "repository.change", changed.path, visibility=changed.visibility
    )  # fmt: skip
    return shown(changed)


def _set_tags(desk: Desk, kind: str, owner: str, id: str, body: object) -> None:
    found = find_by_id(desk, kind, owner, id)
    added, removed = _tags(body, "add"), _tags(body, "remove")
    if both := set(added) & set(removed):
        raise Refusal(BAD_PARAM, f"{min(both)[:40]!r} is to be added and removed")

    def tagged(now: Repository) -> Repository:
        tags = tuple(tag for tag in dict.fromkeys((*now.tags, *added)) if tag not in removed)
        check_words("", tags, "")
        return dataclasses.replace(now, tags=tags)

    changed = desk.shared.hub.edit(found, tagged)
    desk.state.accounts.audit.add(
        desk.actor.name, "repository.change", changed.path, visibility=changed.visibility
    )  # fmt: skip


def _fork(desk: Desk, kind: str, owner: str, id: str, body: dict[str, str]) -> dict[str, Any]:
    if kind != "project":
        raise Refusal(NOT_ALLOWED, f"only projects are forked here, and this is a {kind}")
    source = find_by_id(desk, kind, owner, id, to_change=False)
    if source.owner == desk.actor.name:
        raise Refusal(NOT_ALLOWED, f"{source.path} is yours already")
    hub, name = desk.shared.hub, body.get("name", "")
    planned = dataclasses.replace(source, owner=desk.actor.name, name=name, group=False)
    require_room(desk.state, hub, planned, hub.stored_bytes(source))
    words = {"visibility": source.visibility, "description": body.get("desc") or None}
    made = fork(hub, desk.visitor, source, f"{desk.actor.name}/{name}", **words)
    desk.state.accounts.audit.add(desk.actor.name, "repository.fork", made.path, source=source.path)
    return shown(made)


def _add_related(desk: Desk, kind: str, owner: str, id: str, other: Related, body: dict[str, str]) -> dict[str, Any]:
    repository = find_by_id(desk, kind, owner, id)
    named = find(desk, other, body.get("owner", ""), body.get("name", ""))
    try:
        relate(desk.shared.hub, repository, named)
    except TooManyRelated as error:
        raise Refusal(ONE_AT_A_TIME, error.message) from None
    return brief(named)


def _tags(body: object, word: str) -> list[str]:
    given = (body.get(word) or []) if isinstance(body, dict) else None
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise Refusal(BAD_BODY, "the body must be one JSON object; add and remove are lists of texts")
    return given


def _texts(body: object, *words: str) -> dict[str, str]:
    """The words of a body that mean something here; what is not given is not among them."""
    if not isinstance(body, dict):
        raise Refusal(BAD_BODY, "the body must be one JSON object")
    found = {word: body[word] for word in words if body.get(word) is not None}
    if not all(isinstance(each, str) for each in found.values()):
        raise Refusal(BAD_BODY, f"{', '.join(words)} must be texts")
    return found
