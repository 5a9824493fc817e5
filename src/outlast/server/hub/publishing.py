"""Publishing over REST: outputs of a run that one may see become a model repository of one's own."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from outlast.hub.names import Visibility, read_path
from outlast.operations.publishing import publish_run
from outlast.server.answers import answer
from outlast.server.auth import Member
from outlast.server.holding import Held
from outlast.server.hub.api import Description, Licence, State, Tags, owner_is_group
from outlast.server.hub.visits import visitor_of

router = APIRouter(tags=["repositories"])


class PublishBody(BaseModel):
    """Where to; the rest counts when the repository is made for it."""

    model_config = ConfigDict(extra="forbid")
    repository: Annotated[str, Field(max_length=129, description="owner/name")]
    visibility: Visibility = "private"
    description: Description = ""
    tags: Tags = []
    licence: Licence = ""


@router.post("/runs/{run}/publish", status_code=201, summary="Publish the outputs of a run")
def publish(actor: Member, held: Held, state: State, run: str, body: PublishBody) -> Response:
    """Make the outputs of a run a model repository with a model card. Nothing is copied."""
    found = held.runs.find(actor, run)
    group = owner_is_group(state, actor, read_path(body.repository).owner)
    words = body.model_dump(exclude={"repository"})
    done = publish_run(held.settings, found.id, body.repository, visitor_of(actor), group=group, **words)
    state.accounts.audit.add(actor.name, "run.publish", done.path, run=done.run)
    return answer(dataclasses.asdict(done), 201, {"Location": f"/api/v1/repositories/{done.path}"})
