"""A sweep: its members as a table, the best first, and how parameters lead to results."""

from __future__ import annotations

from typing import Any

from nicegui import ui
from starlette.requests import Request

from outlast.model.quantities import format_duration
from outlast.server.accounts.people import Actor
from outlast.server.console.access import actor_of
from outlast.server.console.calls import calls, part
from outlast.server.console.charts import parallel
from outlast.server.console.parts import Table, button, confirmed, go, panel, spoken, style_sheet, text, told
from outlast.server.console.shell import frame, heading, link
from outlast.server.console.words import say

#: How often a sweep that goes on is looked at.
_LOOK_S = 5.0
_COMPARED = 5


async def sweep_page(request: Request, sweep: str) -> None:
    actor = await actor_of(request)
    with frame("Sweep", "/compare", actor, heading=False), ui.element("div").classes("o-stack"), told():
        style_sheet()
        await _Sweep(sweep, actor).build()


class _Sweep:
    def __init__(self, name: str, actor: Actor) -> None:
        self._name = name
        self._actor = actor
        self._shown: dict[str, Any] = {}

    async def build(self) -> None:
        found = await self._read()
        with ui.element("div").classes("o-row o-page-head"):
            heading(self._name, 1, "o-grow")
            self._actions = ui.element("div").classes("o-row")
        self._place = ui.element("div").classes("o-stack").props("aria-live=polite")
        self._show(found)
        if not found["over"]:
            ui.timer(_LOOK_S, spoken(self._look))

    async def _read(self) -> dict[str, Any]:
        return await calls().get(f"/sweeps/{part(self._name)}")

    async def _look(self) -> None:
        found = await self._read()
        if found != self._shown:
            self._show(found)

    def _show(self, found: dict[str, Any]) -> None:
        self._shown = found
        self._offer(found)
        self._place.clear()
        with self._place:
            with ui.element("div").classes("o-row"):
                for state, count in sorted(found["counts"].items()):
                    text(f"{count} {say(state)}", f"o-state {state.split()[0]}")
                best = [member["run"] for member in found["members"] if member["best"] is not None][:_COMPARED]
                if len(best) > 1:
                    link(f"/compare?runs={','.join(best)}", say("Compare the best"), "o-button")
            if found["notice"]:
                text(found["notice"], "o-note", "p")
            self._chart(found)
            self._table(found)

    def _offer(self, found: dict[str, Any]) -> None:
        """What can be done with it now."""
        self._actions.clear()
        if not self._actor.may_change(found["user"]):
            return
        with self._actions:
            if not found["over"]:
                button(say("Stop"), self._stop, "danger")
            if {"failed", "stopped"} & found["counts"].keys():
                button(say("Resume"), self._resume, "primary")
            button(say("Remove"), self._remove, "danger")

    def _chart(self, found: dict[str, Any]) -> None:
        names = [name for name, _ in found["swept"]]
        options = parallel(names, found["members"], found["metric"], found["sign"])
        if options is None:
            return
        with panel(say("From parameters to {metric}", metric=found["metric"])):
            chart = ui.echart(options, renderer="svg").classes("o-chart").props("role=img")
            chart._props["aria-label"] = say("From parameters to {metric}", metric=found["metric"])

    def _table(self, found: dict[str, Any]) -> None:
        names = [name for name, _ in found["swept"]]
        metric = found["metric"] or say("value")
        columns = [*(f"#{name}" for name in names), "#" + say("Best {metric}", metric=metric), "#" + say("At epoch"),
                   "#" + say("Last"), "#" + say("Epoch"), "#" + say("Time"), say("State"), say("Run")]  # fmt: skip
        with panel():
            table = Table(columns, say("Members"))
            for member in found["members"]:
                values = [member["params"].get(name, "") for name in names]
                state = say("stopped early") if member["early"] else say(member["state"] or "removed")
                cells = [
                    _figure(member["best"]),
                    _figure(member["best_epoch"]),
                    _figure(member["last"]),
                    _epoch(member),
                ]
                with table.row(*values, *cells, format_duration(member["time_s"]), state):
                    link(f"/runs/{part(member['run'])}", member["run"])

    async def _stop(self) -> None:
        if await confirmed(say("Stop the sweep?"), say("Every open member saves and stops."), say("Stop")):
            await calls().post(f"/sweeps/{part(self._name)}/stop")
            await self._look()

    async def _resume(self) -> None:
        await calls().post(f"/sweeps/{part(self._name)}/resume")
        await self._look()

    async def _remove(self) -> None:
        about = say("All its members go with it.")
        if await confirmed(say("Remove {name}?", name=self._name), about, say("Remove")):
            await calls().delete(f"/sweeps/{part(self._name)}")
            go("/compare")


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.5g}"


def _epoch(member: dict[str, Any]) -> str:
    if member["epoch"] is None:
        return "–"
    return f"{member['epoch']:g}" + (f" / {member['epochs']:g}" if member["epochs"] is not None else "")
