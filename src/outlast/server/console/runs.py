"""The runs: a live table with search, filters and pages that live in the address; stop and compare what is chosen."""

from __future__ import annotations

from typing import Any

import orjson
from nicegui import ui
from nicegui.events import GenericEventArguments
from starlette.requests import Request

from outlast.errors import OutlastError, UsageError
from outlast.model.states import RunState
from outlast.server.accounts.people import Actor, Role
from outlast.server.console import formats
from outlast.server.console.access import actor_now, actor_of, holding, server_option
from outlast.server.console.aside import aside
from outlast.server.console.calls import calls, part
from outlast.server.console.parts import confirmed
from outlast.server.console.runs_filter import ROWS, RunsFilter
from outlast.server.console.shell import frame, heading, link, notify_error
from outlast.server.console.sparks import Sparks, shown_metric
from outlast.server.console.words import say
from outlast.server.ready import Asked
from outlast.server.refusals import NotSignedIn

#: How often the table looks whether something changed; the index answers that in microseconds.
_LOOK_S = 2.0
_COLUMNS = ("name", "state", "progress", "curve", "useful", "left", "stints", "platform", "user", "created")
_SPARKS = Sparks()


async def runs_page(request: Request) -> None:
    """The table, and everything around it that says which runs it shows."""
    actor = await actor_of(request)
    wanted = RunsFilter.of(request)
    with frame("Runs", "/", actor, heading=False):
        with ui.element("div").classes("o-row o-page-head"):
            heading(say("Runs"), 1, "o-grow")
            if actor.role.reaches(Role.MEMBER):
                link("/new", say("New run"), "o-button primary")
        try:
            asked = Asked(actor.sees, wanted.query(), ROWS, wanted.cursor)
            page = await _read(asked)
        except UsageError as error:
            _search_bar(wanted, [])
            _state_links(wanted)
            _refusal(error)
            return
        _search_bar(wanted, _sortable(page["runs"]))
        _state_links(wanted)
        _LiveTable(actor, asked, page, is_search=bool(wanted.search or wanted.states))
        _turn_pages(wanted, page["next"])


class _LiveTable:
    """The table of one reader, brought up to date while it is looked at."""

    def __init__(self, actor: Actor, asked: Asked, page: dict[str, Any], *, is_search: bool) -> None:
        self._actor, self._asked, self._runs = actor, asked, page["runs"]
        self._table = RunsTable(_rows(actor, self._runs), actor).on("stop", self._stop)
        self._empty = ui.element("div").classes("o-empty")
        with self._empty:
            _say_why_empty(actor, is_search)
        self._show_whether_empty()
        ui.timer(0.05, self._draw, once=True)
        ui.timer(_LOOK_S, self._look)

    async def _look(self) -> None:
        try:
            self._actor = await actor_now()
            page = await _read(self._asked._replace(owners=self._actor.sees))
        except NotSignedIn:
            ui.navigate.reload()  # which leads to the sign-in
            return
        except OutlastError:
            return  # the run at the cursor is gone; what is shown stays until the reader turns the page
        rows = _rows(self._actor, page["runs"])
        self._runs = page["runs"]
        self._table.show(rows=rows)
        self._show_whether_empty()
        await self._draw()

    async def _draw(self) -> None:
        """Show the curves; each is drawn once for as long as its run does not change."""
        held, views = holding(), list(self._runs)
        self._table.show(sparks=await aside(lambda: {view["id"]: _SPARKS.of(held, view) for view in views}))

    def _show_whether_empty(self) -> None:
        self._empty.set_visibility(not self._runs)
        self._table.set_visibility(bool(self._runs))

    async def _stop(self, event: GenericEventArguments) -> None:
        chosen = [str(each) for each in event.args][:ROWS]
        title = say("Stop {count} runs?", count=len(chosen))
        if await confirmed(title, say("Each saves first and can be resumed."), say("Stop")):
            await stop_runs(chosen)
            await self._look()


class RunsTable(ui.element, component="static/runs.js"):
    """Rows as text, ready to be shown, and the path of each curve; the selection lives in the browser."""

    def __init__(self, rows: list[dict[str, Any]], actor: Actor) -> None:
        super().__init__()
        sees_others = actor.sees is None or len(actor.sees) > 1
        self._props["rows"], self._props["sparks"] = rows, {}
        self._props["columns"] = [each for each in _COLUMNS if each != "user" or sees_others]
        self._props["texts"] = {
            "name": say("Run"), "state": say("State"), "progress": say("Progress"), "curve": say("Curve"),
            "useful": say("Useful"), "left": say("Time left"), "stints": say("Stints"), "platform": say("Platform"),
            "user": say("User"), "created": say("Created"), "all": say("Select all"), "select": say("Select"),
            "selected": say("Selected"), "compare": say("Compare"), "stop": say("Stop"),
            "clear": say("Clear selection"), "caption": say("Runs"),
        }  # fmt: skip

    def show(self, **shown: Any) -> None:
        """New `rows` or `sparks`; what is the same already is not sent again."""
        if any(self._props[name] != value for name, value in shown.items()):
            self._props.update(shown)
            self.update()


async def stop_runs(runs: list[str]) -> None:
    """Ask runs to save and stop; the first refusal is told, the others are asked all the same."""
    refused: OutlastError | None = None
    for one in runs:
        try:
            await calls().post(f"/runs/{part(one)}/stop")
        except OutlastError as error:
            refused = refused or error
    if refused is not None:
        notify_error(refused)


async def _read(asked: Asked) -> dict[str, Any]:
    held = holding()
    data = held.runs.known_page(asked)
    if data is None:
        data = await aside(lambda: held.runs.page(asked))
    page: dict[str, Any] = orjson.loads(data)
    return page


def _say_why_empty(actor: Actor, is_search: bool) -> None:
    if is_search:
        ui.label(say("No run fits this search")).classes("o-strong")
        ui.label(say("Try other words, or other states.")).classes("o-quiet")
        return
    ui.label(say("No runs here")).classes("o-strong")
    if actor.role.reaches(Role.MEMBER):
        server = server_option(actor)
        command = f"outlast --server {server} run train.py" if server else "outlast run train.py"
        ui.label(say("Start one here, or with: {command}", command=command)).classes("o-quiet")
    else:
        ui.label(say("Runs of your groups appear here.")).classes("o-quiet")


def _refusal(error: UsageError) -> None:
    with ui.element("div").props("role=alert"):
        ui.label(error.message.removeprefix("--where ")).classes("o-error")  # the option is the command line's
        ui.label(error.hint).classes("o-quiet")


def _rows(actor: Actor, views: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [_row(actor, view) for view in views]


def _row(actor: Actor, view: dict[str, Any]) -> dict[str, Any]:
    far = formats.how_far(view["epoch"], view["epochs"], view["step"], view["steps"])
    is_open = not RunState(view["state"]).is_final
    metric = shown_metric(view)
    return {
        "id": view["id"], "name": view["name"], "state": view["state"], "stateText": say(view["state"]),
        "message": view["message"] if view["state"] in ("failed", "queued") else "",
        "far": str(far), "done": 1.0 if view["state"] == "succeeded" else far.done,
        "metric": f"{metric} {formats.quantity(view['metrics'][metric])}" if metric else "",
        "useful": formats.percent(view["useful_fraction"]),
        "left": formats.duration(view["eta_s"]) if is_open else "",
        "stints": view["stints"], "platform": view["platform"], "user": view["user"],
        "created": formats.ago(view["created_at"]), "createdAt": formats.when(view["created_at"]),
        "canStop": is_open and actor.may_change(view["user"]),
    }  # fmt: skip


def _search_bar(wanted: RunsFilter, sortable: list[str]) -> None:
    with ui.element("form").props("method=get action=/ role=search").classes("o-row o-search"):
        field = ui.element("input").props("type=search name=q maxlength=300 autocomplete=off").classes("o-input o-grow")
        field._props["^value"] = wanted.search  # as an attribute: what is typed survives the table's updates
        field._props["aria-label"] = say("Search")
        field._props["placeholder"] = say("Name, or a condition: lr=0.1 best:val_acc>0.9")
        for state in wanted.states:
            ui.element("input").props(f"type=hidden name=state value={state}")
        choices = list(dict.fromkeys(["created", "name", "state", *sortable, wanted.sort]))
        with ui.element("select").props("name=sort").classes("o-input") as select:
            select._props["aria-label"] = say("Sort by")
            select.on("change", js_handler="(event) => event.target.form.requestSubmit()")
            for choice in choices:
                text = say("Sort by: {what}", what=say(choice) if choice in choices[:3] else choice)
                option = ui.element("option")
                option._props["value"] = choice
                option._text = text
                if choice == wanted.sort:
                    option._props["selected"] = True
        button = ui.element("button").props("type=submit").classes("o-button")
        button._text = say("Search")


def _state_links(wanted: RunsFilter) -> None:
    with ui.element("div").classes("o-row o-chips").props("role=group") as group:
        group._props["aria-label"] = say("Filter by state")
        for state in RunState:
            chip = link(wanted.toggled(state), say(state.value), f"o-chip {state}")
            chip._props["aria-current"] = "true" if state in wanted.states else "false"
        if wanted != RunsFilter():
            link("/", say("Show all"), "o-quiet o-small")


def _turn_pages(wanted: RunsFilter, following: str | None) -> None:
    with ui.element("nav").classes("o-row o-pages") as pages:
        pages._props["aria-label"] = say("Pages")
        if wanted.cursor:
            link(wanted.address(), say("First page"), "o-button")
        if following:
            link(wanted.address(cursor=following), say("Next page"), "o-button")


def _sortable(views: list[dict[str, Any]]) -> list[str]:
    """Parameters and metrics of the runs on this page; the best of each metric that can get better."""
    best = {f"best:{name}" for view in views for name in view.get("best") or {}}
    params = {name for view in views for name in view.get("params") or {}}
    return [*sorted(best)[:20], *sorted(params)[:20]]
