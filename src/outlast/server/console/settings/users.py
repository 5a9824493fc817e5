"""The accounts, for admins: add, give another role, let choose a new password, remove, bring back."""

from __future__ import annotations

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
    spoken,
    text,
    when,
)
from outlast.server.console.words import say


async def users_part(actor: Actor) -> None:
    await _Users(actor).build()


class _Users:
    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    async def build(self) -> None:
        first = self._actor.via == "local"
        with panel(say("Add a user"), say("They choose their password with a link that works once.")):
            if first:
                text(say("The first account is an admin's. From then on everybody signs in."), "o-note", "p")
            with ui.element("div").classes("o-fields"):
                self._name = field(say("Name"))
                roles = {role.value: say(role.value) for role in ([Role.ADMIN] if first else Role)}
                self._role = choice(say("Role"), roles, Role.ADMIN.value if first else Role.MEMBER.value)
            send_button(say("Add"), self._add)
            self._link = ui.element("div").classes("o-stack")
        self._list = ui.element("div")
        await self._show()

    async def _add(self) -> None:
        name = (self._name.value or "").strip()
        made = await calls().post("/users", {"name": name, "role": self._role.value})
        self._show_link(name, made["link"])
        self._name.set_value("")
        if self._actor.via != "local":  # whoever made the first account signs in with it
            await self._show()

    def _show_link(self, name: str, path: str) -> None:
        request = ui.context.client.request
        self._link.clear()
        with self._link:
            text(say("Send this link to {name}; it works once, within two days.", name=name), "o-note", "p")
            copyable(str(request.base_url).rstrip("/") + path, say("One-time link"))

    async def _show(self) -> None:
        found = (await calls().get("/users"))["items"]
        self._list.clear()
        with self._list, panel(say("Users")):
            if not found:
                text(say("Nothing here yet."), "o-empty", "p")
                return
            table = Table([say("Name"), say("Groups"), "@" + say("Made"), say("State"), ""], say("Users"))
            for user in found:
                self._row(table, user)

    def _row(self, table: Table, user: dict[str, Any]) -> None:
        state = say("removed") if not user["active"] else say("active") if user["has_password"] else say("invited")
        name = user["name"]
        with table.row(name, ", ".join(user["groups"]), when(user["created_at"]), state):
            if not user["active"]:
                button(say("Bring back"), lambda: self._restore(user), label=say("Bring back {name}", name=name))
                return
            roles = {role.value: say(role.value) for role in Role}
            role = ui.select(roles, value=user["role"]).props("dense outlined options-dense").classes("o-inline")
            role._props["aria-label"] = say("Role of {name}", name=name)
            role.on_value_change(spoken(lambda: self._change(user, str(role.value))))
            button(say("New link"), lambda: self._relink(name), label=say("New link for {name}", name=name))
            button(say("Remove"), lambda: self._remove(name), "danger", say("Remove {name}", name=name))

    async def _change(self, user: dict[str, Any], role: str) -> None:
        try:
            if role != user["role"]:
                await calls().patch(f"/users/{part(user['name'])}", {"role": role})
        finally:
            await self._show()  # what was refused goes back to what it is

    async def _relink(self, name: str) -> None:
        self._show_link(name, (await calls().post(f"/users/{part(name)}/link"))["link"])

    async def _remove(self, name: str) -> None:
        about = say("Their tokens and sessions end at once; their runs stay.")
        if await confirmed(say("Remove {name}?", name=name), about, say("Remove")):
            await calls().delete(f"/users/{part(name)}")
            await self._show()

    async def _restore(self, user: dict[str, Any]) -> None:
        made = await calls().post("/users", {"name": user["name"], "role": user["role"], "restore": True})
        self._show_link(user["name"], made["link"])
        await self._show()
