"""Groups with their quotas, and the queues they wait in. Everybody sees their own; admins change them."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from outlast.errors import UsageError
from outlast.model.quantities import format_size, parse_size
from outlast.server.accounts.people import Actor, Role
from outlast.server.console.calls import calls, part
from outlast.server.console.parts import (
    Table,
    answered,
    button,
    choice,
    confirmed,
    dialog,
    field,
    number,
    panel,
    text,
)
from outlast.server.console.settings.profile import limits_of
from outlast.server.console.words import say


async def groups_part(actor: Actor) -> None:
    await _Groups(actor.role is Role.ADMIN).build()


class _Groups:
    def __init__(self, may_change: bool) -> None:
        self._may_change = may_change
        self._place = ui.element("div").classes("o-stack")

    async def build(self) -> None:
        groups = (await calls().get("/groups"))["items"]
        queues = (await calls().get("/queues"))["items"]
        self._place.clear()
        with self._place:
            self._groups(groups, queues)
            self._queues(queues)

    def _groups(self, groups: list[dict[str, Any]], queues: list[dict[str, Any]]) -> None:
        names = [queue["name"] for queue in queues]
        about = say("Members of a group see each other's runs, share its quota and wait in its queue.")
        with panel(say("Groups"), about):
            if groups:
                columns = [say("Name"), say("Members"), say("Queue"), "#" + say("Stints"), "#" + say("Accelerators"),
                           "#" + say("Stored"), ""]  # fmt: skip
                table = Table(columns, say("Groups"))
                for group in groups:
                    words = (group["name"], ", ".join(group["members"]) or "–", group["queue"] or "–")
                    with table.row(*words, *limits_of(group)):
                        if self._may_change:
                            self._group_buttons(group, names)
            else:
                text(say("Nothing here yet."), "o-empty", "p")
            if self._may_change:
                button(f"+ {say('New group')}", lambda: self._edit({}, names))

    def _group_buttons(self, group: dict[str, Any], queues: list[str]) -> None:
        name = group["name"]
        button(say("Members"), lambda: self._members(group), label=say("Members of {name}", name=name))
        button(say("Change"), lambda: self._edit(group, queues), label=say("Change {name}", name=name))
        button(say("Remove"), lambda: self._remove(name), "danger", say("Remove {name}", name=name))

    async def _edit(self, group: dict[str, Any], queues: list[str]) -> None:
        stored = group.get("max_stored_bytes")
        with dialog(group.get("name") or say("New group")) as asked:
            name = field(say("Name"), group.get("name", ""))
            name.set_enabled(not group)
            stints = number(say("Stints at the same time"), group.get("max_stints"), hint=say("empty: no limit"))
            cards = number(say("Accelerators at the same time"), group.get("max_accelerators"))
            kept = field(say("Stored, at most"), format_size(stored) if stored is not None else "", hint="500 GB")
            queue = choice(say("Queue"), {None: say("none"), **{each: each for each in queues}}, group.get("queue"))
            with ui.element("div").classes("o-row o-end"):
                button(say("Cancel"), lambda: asked.submit(False))
                button(say("Save"), lambda: asked.submit(True), "primary")
        if await answered(asked) is not True:
            return
        body = {
            "max_stints": _whole(stints.value), "max_accelerators": _whole(cards.value),
            "max_stored_bytes": _bytes(kept.value or ""), "queue": queue.value,
        }  # fmt: skip
        await calls().put(f"/groups/{part((name.value or '').strip())}", body)
        await self.build()

    async def _members(self, group: dict[str, Any]) -> None:
        users = [user["name"] for user in (await calls().get("/users"))["items"] if user["active"]]
        with dialog(say("Members of {name}", name=group["name"])) as asked:
            chosen = choice(say("Members"), users, list(group["members"]), multiple=True).props("use-chips")
            with ui.element("div").classes("o-row o-end"):
                button(say("Cancel"), lambda: asked.submit(False))
                button(say("Save"), lambda: asked.submit(True), "primary")
        if await answered(asked) is not True:
            return
        before, after = set(group["members"]), set(chosen.value or ())
        for user in sorted(after - before):
            await calls().put(f"/groups/{part(group['name'])}/members/{part(user)}")
        for user in sorted(before - after):
            await calls().delete(f"/groups/{part(group['name'])}/members/{part(user)}")
        await self.build()

    async def _remove(self, name: str) -> None:
        about = say("Its members and their runs stay.")
        if await confirmed(say("Remove {name}?", name=name), about, say("Remove")):
            await calls().delete(f"/groups/{part(name)}")
            await self.build()

    # ---- queues

    def _queues(self, queues: list[dict[str, Any]]) -> None:
        about = say("When all machines are busy, queues get time in proportion to their weights.")
        with panel(say("Queues"), about):
            if queues:
                table = Table([say("Name"), "#" + say("Weight"), say("Groups"), ""], say("Queues"))
                for queue in queues:
                    with table.row(queue["name"], f"{queue['weight']:g}", ", ".join(queue["groups"]) or "–"):
                        if self._may_change:
                            self._queue_buttons(queue)
            else:
                text(say("Nothing here yet."), "o-empty", "p")
            if self._may_change:
                button(f"+ {say('New queue')}", lambda: self._weigh({}))

    def _queue_buttons(self, queue: dict[str, Any]) -> None:
        name = queue["name"]
        button(say("Change"), lambda: self._weigh(queue), label=say("Change {name}", name=name))
        button(say("Remove"), lambda: self._remove_queue(name), "danger", say("Remove {name}", name=name))

    async def _weigh(self, queue: dict[str, Any]) -> None:
        with dialog(queue.get("name") or say("New queue")) as asked:
            name = field(say("Name"), queue.get("name", ""))
            name.set_enabled(not queue)
            weight = number(say("Weight"), queue.get("weight", 1))
            with ui.element("div").classes("o-row o-end"):
                button(say("Cancel"), lambda: asked.submit(False))
                button(say("Save"), lambda: asked.submit(True), "primary")
        if await answered(asked) is True:
            await calls().put(f"/queues/{part((name.value or '').strip())}", {"weight": weight.value})
            await self.build()

    async def _remove_queue(self, name: str) -> None:
        if await confirmed(say("Remove {name}?", name=name), say("No group may wait in it."), say("Remove")):
            await calls().delete(f"/queues/{part(name)}")
            await self.build()


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _bytes(words: str) -> int | None:
    try:
        return parse_size(words) if words.strip() else None
    except ValueError as error:
        raise UsageError(str(error)) from None
