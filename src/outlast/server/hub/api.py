"""Repositories over REST: list, make, show, change, remove, history."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from outlast.hub.names import DESCRIPTION_LIMIT, TAG_LIMIT, Kind, Visibility
from outlast.hub.view import full_view, short_view
from outlast.server.accounts.people import Actor
from outlast.server.answers import answer
from outlast.server.auth import Current, Member
from outlast.server.hub.visits import Opened, visitor_of
from outlast.server.paging import MOST_ROWS, USUAL_ROWS, read_cursor, write_cursor
from outlast.server.refusals import NotAllowed
from outlast.server.state import ServerState, state_of

router = APIRouter(prefix="/repositories", tags=["repositories"])

State = Annotated[ServerState, Depends(state_of)]
Tags = Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=TAG_LIMIT)]
Description = Annotated[str, Field(max_length=DESCRIPTION_LIMIT)]
Licence = Annotated[str, Field(max_length=40, description="its short name, like apache-2.0")]


class RepositoryBody(BaseModel):
    """A repository to make."""

    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(max_length=64)]
    kind: Kind
    owner: Annotated[str | None, Field(max_length=64, description="you, or a group of yours; you when left out")] = None
    visibility: Visibility = "private"
    description: Description = ""
    tags: Tags = []
    licence: Licence = ""


class RepositoryChange(BaseModel):
    """What shall be different; what is left out stays."""

    model_config = ConfigDict(extra="forbid")
    visibility: Visibility | None = None
    description: Description | None = None
    tags: Tags | None = None
    licence: Licence | None = None


@router.get("", summary="List repositories")
def list_repositories(
    actor: Current, shared: Opened, request: Request,
    kind: Annotated[Literal["project", "model", "dataset"] | None, Query()] = None,
    owner: Annotated[str | None, Query(max_length=64)] = None,
    search: Annotated[str, Query(max_length=100, description="words in name, description or tags")] = "",
    tag: Annotated[str, Query(max_length=40, description="those that have this very tag")] = "",
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = USUAL_ROWS,
    cursor: Annotated[str, Query(max_length=8192)] = "",
) -> Response:  # fmt: skip
    """Those that you may see, by name: a page of them, and the cursor of the next one in `next`."""
    after = read_cursor(cursor, 2)[1] if cursor else ""
    found = [
        each for each in shared.hub.list(visitor_of(actor))
        if each.fits(kind, owner, search) and each.path > after and (not tag or tag in each.tags)
    ]  # fmt: skip
    page = found[:limit]
    following = write_cursor("", page[-1].path) if len(found) > limit else None
    return answer({"items": [short_view(each, str(request.base_url)) for each in page], "next": following})


@router.post("", status_code=201, summary="Make a repository")
def make_repository(actor: Member, shared: Opened, state: State, request: Request, body: RepositoryBody) -> Response:
    """Make an empty repository; `clone_url` in the answer is where to push to."""
    owner = body.owner or actor.name
    group = owner_is_group(state, actor, owner)
    words = body.model_dump(exclude={"name", "kind", "owner"})
    made = shared.hub.create(visitor_of(actor), f"{owner}/{body.name}", body.kind, group=group, **words)
    state.accounts.audit.add(actor.name, "repository.create", made.path, kind=made.kind)
    return answer(short_view(made, str(request.base_url)), 201, {"Location": f"/api/v1/repositories/{made.path}"})


@router.get("/{owner}/{name}", summary="Show a repository")
def show_repository(actor: Current, shared: Opened, request: Request, owner: str, name: str) -> Response:
    """What it is, its branches and tags, and how much it takes."""
    found = shared.hub.find(visitor_of(actor), owner, name)
    return answer(full_view(shared.hub, found, str(request.base_url)))


@router.patch("/{owner}/{name}", summary="Change a repository")
def change_repository(
    actor: Member, shared: Opened, state: State, request: Request, owner: str, name: str, body: RepositoryChange
) -> Response:
    """Change visibility, description, tags or licence."""
    found = shared.hub.find_own(visitor_of(actor), owner, name)
    changed = shared.hub.change(found, **body.model_dump())
    state.accounts.audit.add(actor.name, "repository.change", changed.path, visibility=changed.visibility)
    return answer(short_view(changed, str(request.base_url)))


@router.delete("/{owner}/{name}", summary="Remove a repository")
def remove_repository(actor: Member, shared: Opened, state: State, owner: str, name: str) -> Response:
    """Remove a repository and its history. Runs that have staged it already go on."""
    found = shared.hub.find_own(visitor_of(actor), owner, name)
    shared.hub.remove(found)
    state.accounts.audit.add(actor.name, "repository.remove", found.path, kind=found.kind)
    return answer({"removed": found.path})


@router.get("/{owner}/{name}/commits", summary="Show the history")
def list_commits(
    actor: Current, shared: Opened, owner: str, name: str,
    revision: Annotated[str, Query(max_length=200)] = "",
    path: Annotated[str, Query(max_length=4096)] = "",
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 50,
    skip: Annotated[int, Query(ge=0, le=10**6, description="leave out so many of the newest")] = 0,
) -> Response:  # fmt: skip
    """The newest steps that lead to a revision, or those that touched `path`."""
    bare = shared.hub.bare(shared.hub.find(visitor_of(actor), owner, name))
    commit = bare.commit(revision)
    found = bare.log(commit, path, limit, skip)
    return answer({"commit": commit, "items": [dataclasses.asdict(each) for each in found]})


def owner_is_group(state: ServerState, actor: Actor, owner: str) -> bool:
    """A name of one's own means oneself, even when a group is called so too."""
    if owner == actor.name:
        return False
    known = {group.name for group in state.accounts.groups.list()}
    if owner in known and (owner in actor.groups or visitor_of(actor).sees_all):
        return True
    if not visitor_of(actor).sees_all:
        raise NotAllowed(f"you cannot make repositories of {owner}", hint="make it yours, or one of a group of yours")
    state.accounts.users.get_active(owner)
    return False
