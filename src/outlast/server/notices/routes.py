"""The routes about one's own notifications, and the background work that goes with the server."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from outlast.server.accounts.bodies import Label
from outlast.server.answers import answer
from outlast.server.auth import Current
from outlast.server.notices.courier import Courier
from outlast.server.notices.desk import NoticeDesk
from outlast.server.notices.events import Event
from outlast.server.notices.texts import LANGUAGES
from outlast.server.notices.wire import KINDS
from outlast.server.rounds import while_serving
from outlast.server.state import ServerState, state_of

router = APIRouter(
    tags=["notifications"], lifespan=while_serving(lambda state: Courier(state.settings, state.database))
)

State = Annotated[ServerState, Depends(state_of)]
ChannelId = Annotated[str, Path(pattern=r"^[0-9a-f]{1,16}$")]
Events = Annotated[list[Event], Field(min_length=1, max_length=3, description="what to tell")]
Language = Annotated[str, Field(pattern="^(en|zh)$", description="en or zh")]


class NewChannel(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: Annotated[str, Field(pattern=f"^({'|'.join(KINDS)})$", description=", ".join(KINDS))]
    target: Annotated[str, Field(max_length=2000, description="a webhook's address, or an e-mail address")]
    secret: Annotated[str, Field(max_length=500, description="for signatures; a webhook gets one if none is given")] = (
        ""
    )
    name: Label = ""
    events: Events = list(Event)
    language: Annotated[Language | None, Field(description="default: what the request's Accept-Language prefers")] = (
        None
    )


class ChannelChange(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Label | None = None
    events: Events | None = None
    language: Language | None = None


def desk_of(request: Request) -> NoticeDesk:
    state = state_of(request)
    return NoticeDesk(state.settings, state.database)


Desk = Annotated[NoticeDesk, Depends(desk_of)]


@router.get("/me/notices", summary="List channels")
def list_channels(actor: Current, desk: Desk) -> Response:
    """One's own channels, never their addresses; `last` says what became of the newest message of each."""
    return answer({"items": desk.list(actor.name), "kinds": KINDS, "events": list(Event), "languages": LANGUAGES})


@router.post("/me/notices", status_code=201, summary="Add a channel")
def add_channel(request: Request, body: NewChannel, actor: Current, state: State, desk: Desk) -> Response:
    """Be told of one's runs. `secret` in the answer, if it was made here, is shown this one time only."""
    language = body.language or _preferred(request.headers.get("accept-language", ""))
    words = body.model_dump(exclude={"kind", "target", "language"})
    added = desk.add(actor.name, body.kind, body.target, **words, language=language)
    state.accounts.audit.add(actor.name, "notice.add", added.channel.id, kind=added.channel.kind)
    return answer(added.to_json(), 201)


@router.put("/me/notices/{channel}", summary="Change a channel")
def change_channel(channel: ChannelId, body: ChannelChange, actor: Current, state: State, desk: Desk) -> Response:
    """Another name, language or choice of events; for another address make another channel."""
    words = body.model_dump()
    found = desk.channels.change(channel, actor.name, label=words.pop("name"), **words)
    state.accounts.audit.add(actor.name, "notice.change", found.id)
    return answer(found.to_json())


@router.delete("/me/notices/{channel}", summary="Remove a channel")
def remove_channel(channel: ChannelId, actor: Current, state: State, desk: Desk) -> Response:
    """Forget a channel and its secrets; what was still to be sent is not."""
    found = desk.channels.remove(channel, actor.name)
    state.accounts.audit.add(actor.name, "notice.remove", found.id)
    return answer(found.to_json())


@router.post("/me/notices/{channel}/test", summary="Try a channel")
def test_channel(channel: ChannelId, actor: Current, desk: Desk) -> Response:
    """Send a sample message now; an error says why it did not arrive."""
    desk.test(desk.channels.get(channel, actor.name))
    return answer({"ok": True})


def _preferred(header: str) -> str:
    """The first language of the header that there are texts in."""
    words = [part.split(";")[0].strip().lower()[:2] for part in header.split(",")]
    return next((word for word in words if word in LANGUAGES), "en")
