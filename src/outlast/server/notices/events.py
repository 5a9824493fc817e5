"""What people are told of: a run finished, failed, or needs them. Pure: rows of the index in, events out."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from outlast.keeper.index import RunRow
from outlast.model.states import RunState

#: How a stop that the user asked for begins; it needs no telling.
_AS_ASKED = "stopped as asked"
#: Longer explanations are cut: chat systems refuse messages of more than a few thousand characters.
_LONGEST = 1500


class Event(StrEnum):
    """Kinds of events; a channel chooses among them."""

    FINISHED = "finished"
    FAILED = "failed"
    ATTENTION = "attention"  # stopped for a reason that was not the user's, or in trouble that lasts


@dataclass(frozen=True)
class Happened:
    """One event of one run, with everything that a message says about it.

    `key` names the occasion: with the same key nobody is told twice, and a run that was resumed has another one.
    """

    event: Event
    key: str
    run: str
    name: str
    user: str
    state: str
    words: str
    at: str
    stints: int = 0
    epoch: float | None = None
    epochs: float | None = None
    best: dict[str, float] = dataclasses.field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Happened:
        known = {field.name for field in dataclasses.fields(cls)}
        kept = {name: value for name, value in body.items() if name in known}
        return cls(**{**kept, "event": Event(kept["event"])})


def event_of(row: RunRow) -> Happened | None:
    """What there is to tell of a run as it is now, if anything."""
    view = row.view
    state, words, stints = row.state, str(view.get("message") or ""), int(view.get("stints") or 0)
    if state == RunState.SUCCEEDED:
        event, occasion = Event.FINISHED, "finished"
    elif state == RunState.FAILED:
        event, occasion = Event.FAILED, "failed"
    elif state == RunState.STOPPED and not words.startswith(_AS_ASKED):
        event, occasion = Event.ATTENTION, "stopped"
    elif not RunState(state).is_final and view.get("notice"):
        event, occasion, words = Event.ATTENTION, "trouble", str(view["notice"])
    else:
        return None
    return Happened(
        event, f"{occasion}-{stints}", row.id, row.name, row.user, state, words[:_LONGEST], row.updated_at, stints,
        view.get("epoch"), view.get("epochs"), dict(view.get("best") or {}),
    )  # fmt: skip


SAMPLE = Happened(
    Event.FINISHED, "sample", "1115-quiet-otter-0000", "sample", "", RunState.SUCCEEDED,
    "this is a test message; no run has ended", "", 3, 10.0, 10.0, {"loss": 0.09},
)  # fmt: skip
