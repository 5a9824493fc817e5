"""Who did what, newest first, for admins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from outlast.server.accounts.people import Actor
from outlast.server.console.calls import calls
from outlast.server.console.parts import Table, panel, text, when
from outlast.server.console.shell import link
from outlast.server.console.words import say

_ROWS = 50


async def history_part(actor: Actor) -> None:
    before = ui.context.client.request.query_params.get("before", "")
    found = await calls().get("/audit", before=before or None, limit=_ROWS)
    with panel(say("History"), say("Every change that somebody made here; nothing is ever taken out.")):
        heads = ["@" + say("When"), say("Who"), say("What was done"), say("To what"), say("Details")]
        table = Table(heads, say("History"))
        for entry in found["items"]:
            table.add(when(entry["at"]), entry["actor"], entry["action"], entry["target"], _details(entry["detail"]))
        if not found["items"]:
            text(say("Nothing here yet."), "o-empty", "p")
        if found["next"] is not None:
            link(f"/settings?show=history&before={int(found['next'])}", say("Older"), "o-button")


def _details(detail: Mapping[str, Any]) -> str:
    """`role admin · groups vision, speech`: names and values as people read them."""
    return " · ".join(f"{name} {_value(value)}" for name, value in detail.items())


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    return "–" if value is None else str(value)
