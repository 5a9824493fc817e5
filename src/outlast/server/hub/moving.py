"""Renaming and forking repositories over REST."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from outlast.hub.forking import fork
from outlast.hub.names import Visibility, read_path
from outlast.hub.view import short_view
from outlast.server.answers import answer
from outlast.server.auth import Member
from outlast.server.hub.api import Description, State, owner_is_group
from outlast.server.hub.room import require_room
from outlast.server.hub.visits import Opened, visitor_of

router = APIRouter(prefix="/repositories/{owner}/{name}", tags=["repositories"])

Target = Annotated[str, Field(max_length=129, description="owner/name")]


class RenameBody(BaseModel):
    """What it shall be called; another owner is given by admins."""

    model_config = ConfigDict(extra="forbid")
    to: Target


class ForkBody(BaseModel):
    """What the new one is; the description is the old one's when left out."""

    model_config = ConfigDict(extra="forbid")
    to: Target
    visibility: Visibility = "private"
    description: Description | None = None


@router.post("/rename", summary="Rename a repository")
def rename_repository(
    actor: Member, shared: Opened, state: State, request: Request, owner: str, name: str, body: RenameBody
) -> Response:
    """Give a repository another name. The old one leads to it, for git too, until it is taken again."""
    visitor = visitor_of(actor)
    found = shared.hub.find_own(visitor, owner, name)
    new_owner = read_path(body.to).owner
    is_group = visitor.sees_all and new_owner != found.owner and owner_is_group(state, actor, new_owner)
    renamed = shared.hub.rename(visitor, found, body.to, group=is_group)
    state.accounts.audit.add(actor.name, "repository.rename", found.path, to=renamed.path)
    return answer(short_view(renamed, str(request.base_url)))


@router.post("/fork", status_code=201, summary="Fork a repository")
def fork_repository(
    actor: Member, shared: Opened, state: State, request: Request, owner: str, name: str, body: ForkBody
) -> Response:
    """Make a repository of yours with the branches, tags and LFS objects that this one has now."""
    visitor = visitor_of(actor)
    source = shared.hub.find(visitor, owner, name)
    target = read_path(body.to)
    is_group = owner_is_group(state, actor, target.owner)
    planned = dataclasses.replace(source, owner=target.owner, name=target.name, group=is_group)
    require_room(state, shared.hub, planned, shared.hub.stored_bytes(source))
    words = body.model_dump(exclude={"to"})
    made = fork(shared.hub, visitor, source, body.to, group=is_group, **words)
    state.accounts.audit.add(actor.name, "repository.fork", made.path, source=source.path)
    return answer(short_view(made, str(request.base_url)), 201, {"Location": f"/api/v1/repositories/{made.path}"})
