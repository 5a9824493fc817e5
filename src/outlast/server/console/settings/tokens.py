"""Personal tokens: made, shown once, ended."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui

from outlast.server.accounts.people import Actor, Role
from outlast.server.console.calls import calls, part
from outlast.server.console.parts import (
    Table,
    button,
    choice,
    confirmed,
    copyable,
    field,
    panel,
    send_button,
    text,
    when,
)
from outlast.server.console.words import say

_DAY_S = 86400
#: Days a token lasts; none: until it is ended.
_LASTS = (30, 90, 365, None)


async def tokens_part(actor: Actor) -> None:
    await _Tokens(actor).build()


class _Tokens:
    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    async def build(self) -> None:
        if self._actor.via == "local":
            text(say("Tokens belong to accounts; make one first, under Users."), "o-note", "p")
        else:
            with panel(say("New token"), say("For the command line and for programs: it lets in as you.")):
                with ui.element("div").classes("o-fields"):
                    self._name = field(say("What it is for"), hint="laptop")
                    names = {days: say("{count} days", count=days) if days else say("no end") for days in _LASTS}
                    self._lasts = choice(say("It lasts"), names, 90)
                send_button(say("Make a token"), self._make)
                self._shown = ui.element("div").classes("o-stack")
        self._list = ui.element("div")
        await self._show()

    async def _make(self) -> None:
        days = self._lasts.value
        body = {"name": self._name.value or "", "expires_s": None if days is None else days * _DAY_S}
        made = await calls().post("/tokens", body)
        self._shown.clear()
        with self._shown:
            text(say("Copy it now: it is never shown again."), "o-note", "p")
            copyable(made["token"], say("The new token"))
        self._name.set_value("")
        await self._show()

    async def _show(self) -> None:
        everybody = self._actor.role is Role.ADMIN
        found = (await calls().get("/tokens", everybody=everybody))["items"]
        self._list.clear()
        with self._list, panel(say("Everybody's tokens") if everybody else say("Your tokens")):
            if not found:
                text(say("Nothing here yet."), "o-empty", "p")
                return
            columns = [say("What for"), say("Whose"), "@" + say("Made"), "@" + say("Ends"), "@" + say("Last used"), ""]
            table = Table(columns, say("Tokens"))
            for token in found:
                times = [when(token[name]) or "–" for name in ("created_at", "expires_at", "used_at")]
                with table.row(token["name"] or token["id"], token["user"] or "", *times):
                    label = say("Revoke the token {name}", name=token["name"] or token["id"])
                    button(say("Revoke"), partial(self._end, token), "danger", label)

    async def _end(self, token: dict[str, Any]) -> None:
        about = say("Whatever uses it is refused from then on.")
        if await confirmed(say("Revoke the token {name}?", name=token["name"] or token["id"]), about, say("Revoke")):
            await calls().delete(f"/tokens/{part(token['id'])}")
            await self._show()
