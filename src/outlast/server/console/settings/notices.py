"""Notifications: where one is told of one's runs."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from outlast.server.accounts.people import Actor
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
from outlast.server.console.words import language, say
from outlast.server.pages import LANGUAGES

#: What the API calls a kind → what people call it.
_KINDS = {
    "webhook": "Webhook", "email": "E-mail", "dingtalk": "DingTalk", "wecom": "WeCom", "slack": "Slack",
}  # fmt: skip


async def notices_part(actor: Actor) -> None:
    await _Notices().build()


class _Notices:
    async def build(self) -> None:
        offered = await calls().get("/me/notices")
        about = say("Be told when one of your runs has finished, has failed or needs attention.")
        with panel(say("New channel"), about):
            with ui.element("div").classes("o-fields"):
                kinds = {kind: say(_KINDS.get(kind, kind)) for kind in offered["kinds"]}
                self._kind = choice(say("Kind"), kinds, offered["kinds"][0])
                self._target = field(say("Address"), hint=say("of a webhook, or an e-mail address"))
                self._secret = field(say("Secret"), password=True, hint=say("for signatures; may stay empty"))
                self._name = field(say("Name"), hint=say("may stay empty"))
                events = {event: say(event) for event in offered["events"]}
                self._events = choice(say("Tell me of"), events, list(events), multiple=True)
                self._language = choice(say("Language"), LANGUAGES, language())
            send_button(say("Add"), self._add)
            self._told = ui.element("div").classes("o-stack")
        self._list = ui.element("div")
        await self._show()

    async def _add(self) -> None:
        body = {
            "kind": self._kind.value, "target": (self._target.value or "").strip(), "name": self._name.value or "",
            "secret": self._secret.value or "", "events": self._events.value, "language": self._language.value,
        }  # fmt: skip
        made = await calls().post("/me/notices", body)
        self._told.clear()
        if made.get("secret"):
            with self._told:
                text(say("Copy it now: it is never shown again."), "o-note", "p")
                copyable(made["secret"], say("Secret"))
        for box in (self._target, self._secret, self._name):
            box.set_value("")
        await self._show()

    async def _show(self) -> None:
        found = (await calls().get("/me/notices"))["items"]
        self._list.clear()
        with self._list, panel(say("Your channels")):
            if not found:
                text(say("Nothing here yet."), "o-empty", "p")
                return
            table = Table([say("Name"), say("Kind"), say("Tell me of"), say("Last message"), ""], say("Your channels"))
            for channel in found:
                self._row(table, channel)

    def _row(self, table: Table, channel: dict[str, Any]) -> None:
        name = channel["name"] or channel["id"]
        kind = say(_KINDS.get(channel["kind"], channel["kind"]))
        events = ", ".join(say(event) for event in channel["events"])
        with table.row(name, kind, events, _last(channel)):
            button(say("Try"), lambda: self._try(channel), label=say("Try {name}", name=name))
            button(say("Remove"), lambda: self._remove(channel), "danger", say("Remove {name}", name=name))

    async def _try(self, channel: dict[str, Any]) -> None:
        await calls().post(f"/me/notices/{part(channel['id'])}/test")
        ui.notify(say("A sample message was sent."), type="positive")
        await self._show()

    async def _remove(self, channel: dict[str, Any]) -> None:
        name = channel["name"] or channel["id"]
        if await confirmed(say("Remove {name}?", name=name), say("Nothing more is sent there."), say("Remove")):
            await calls().delete(f"/me/notices/{part(channel['id'])}")
            await self._show()


def _last(channel: dict[str, Any]) -> str:
    last = channel["last"]
    return " · ".join(filter(None, [when(last["at"]), say(last["state"]), last["problem"]])) if last else "–"
