"""The page: the form on one side, what it means on the other."""

from __future__ import annotations

import contextlib
import uuid
from functools import partial
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments
from starlette.requests import Request

from outlast.errors import NotFoundError, OutlastError, SpecError
from outlast.server.accounts.people import Actor, Role
from outlast.server.console.access import actor_now, actor_of, holding, member_now, server_option
from outlast.server.console.calls import calls
from outlast.server.console.newrun.bringing import code_of_project, code_of_run, job_as_form
from outlast.server.console.newrun.form import Form
from outlast.server.console.newrun.plan import forecast_words, plan_facts, show_facts
from outlast.server.console.newrun.wanted import Wanted, from_spec
from outlast.server.console.parts import (
    answered,
    button,
    copyable,
    dialog,
    go,
    panel,
    send_button,
    spoken,
    style_sheet,
    text,
    told,
)
from outlast.server.console.shell import frame, heading
from outlast.server.console.words import say, say_refusal

#: How often the form is looked at. What was the same twice in a row is checked.
_LOOK_S = 0.5
_READ_FILE = "async (e) => { const f = e.target.files[0]; if (f) emit({name: f.name, text: await f.text()}) }"


async def new_run_page(request: Request) -> None:
    """The form; `?from=RUN` fills it with what an earlier run was asked for, `?project=` and `?input=` from the hub."""
    actor = await actor_of(request)
    earlier = request.query_params.get("from", "")
    with frame("New run", "/new", actor), ui.element("div").classes("o-stack"), told():
        style_sheet()
        if not actor.role.reaches(Role.MEMBER):
            text(say("Viewers cannot start runs; ask an admin for another role."), "o-note", "p")
            return
        page = _NewRun(actor)
        await page.build()
        if earlier:
            await page.copy(earlier)
        await page.take(request.query_params.get("project", ""), request.query_params.getlist("input"))


class _NewRun:
    def __init__(self, actor: Actor) -> None:
        self._is_admin = actor.role is Role.ADMIN
        self._server = server_option(actor)
        self._seen: Wanted | None = None
        self._planned: Wanted | None = None
        self._key = uuid.uuid4().hex
        self._is_good = False

    async def build(self) -> None:
        platforms = await calls().get("/platforms")
        environments = await calls().get("/environments")
        usable = [each["name"] for each in environments["environments"] if each["here"] == "yes"]
        with ui.element("div").classes("o-row"):
            button(say("Copy an earlier run"), self._ask_earlier)
            button(say("Import a job file"), self._ask_job)
        self._notices = ui.element("div").classes("o-stack")
        with ui.element("div").classes("o-two"):
            with ui.element("div").classes("o-stack"):
                self._form = Form([each["name"] for each in platforms["platforms"]], usable, is_admin=self._is_admin)
            with ui.element("aside").classes("o-side"), panel(say("Before it starts")):
                self._about = ui.element("div").classes("o-stack").props("aria-live=polite")
                self._start = send_button(say("Start the run"), self._submit)
                self._set_good(False)
                heading(say("The same on the command line"), 3)
                self._command = ui.element("div")
        ui.timer(_LOOK_S, self._look)

    # ---- checking while it is filled in

    async def _look(self) -> None:
        now = self._form.wanted
        if now == self._seen and now != self._planned:
            self._planned = now
            await self._plan(now)
        self._seen = now

    async def _plan(self, wanted: Wanted) -> None:
        self._command.clear()
        with self._command:
            copyable(wanted.command(self._server), say("Command line"))
        if wanted.code is None and not wanted.target:
            self._tell(say("Upload the code, then choose the boot file."), "o-quiet")
            return
        try:
            plan = await calls().post("/runs/plan", _body(wanted))
        except OutlastError as error:
            if wanted == self._planned:
                self._tell(say_refusal(error), "o-refusal")
            return
        if wanted == self._planned:
            self._show(plan)

    def _tell(self, words: str, classes: str) -> None:
        self._set_good(False)
        self._about.clear()
        with self._about:
            text(words, classes, "p")

    def _show(self, plan: dict[str, Any]) -> None:
        self._set_good(True)
        self._about.clear()
        with self._about:
            text(say("Everything is in order."), "o-well", "p")
            show_facts(plan_facts(plan["spec"]))
            for notice in plan["notices"]:
                text(notice, "o-note", "p")
            self._forecast(plan.get("forecast"), plan["spec"]["script"])

    def _forecast(self, told: dict[str, Any] | None, script: str) -> None:
        """Only an earlier run of the same script, or a probe, can tell; nothing is measured for it."""
        if told is None:
            return
        heading(say("Forecast"), 3)
        if not told["basis"] and script:
            text(say("How long it will take is not known yet. Measure it with:"), "", "p")
            text(f"outlast probe {script}", "o-mono", "code")
        else:
            text(forecast_words(told), "" if told["possible"] else "o-refusal", "p")
        for words in told["lines"][1:]:
            text(words, "", "p")
        if told["run"]:
            text(say("Judged by {run}.", run=told["run"]), "o-quiet o-small", "p")

    def _set_good(self, good: bool) -> None:
        self._is_good = good
        self._start.props(remove="disabled") if good else self._start.props("disabled")

    async def _submit(self) -> None:
        wanted = self._form.wanted
        run = await calls().post("/runs", _body(wanted), key=self._key)
        self._key = uuid.uuid4().hex
        go(f"/runs/{run['id']}")

    # ---- filling it from elsewhere

    async def copy(self, ref: str) -> None:
        """Say what an earlier run was asked for; its code comes along."""
        held, actor = holding(), await member_now()
        spec, code = await code_of_run(held, actor, ref)
        pinned = str((spec["code"] or {}).get("asset", "")).removeprefix("project:")  # type: ignore[attr-defined]
        if pinned:
            with contextlib.suppress(NotFoundError):  # gone since, or of somebody else: the code as it was packed
                code = await code_of_project(pinned)
        self._form.fill(from_spec(spec, code))
        self._note([say("This is what {run} was asked for.", run=spec["id"])])

    async def take(self, project: str, inputs: list[str]) -> None:
        """Begin with a project of the hub as the code, and with some of its models and data sets as inputs."""
        if project:
            await self._form.take_project(project)
        for each in inputs:
            self._form.add_input(each)

    async def _ask_earlier(self) -> None:
        actor = await actor_now()
        found = await calls().get("/runs", limit=50)
        with dialog(say("Copy an earlier run")) as asked:
            with ui.element("div").classes("o-preview o-choices"):
                for run in found["runs"]:
                    if actor.may_see(run["user"]):
                        words = f"{run['name']} · {run['id']} · {say(run['state'])}"
                        button(words, partial(asked.submit, run["id"]), "o-plain")
                if not found["runs"]:
                    text(say("There are no runs yet."), "o-empty", "p")
            with ui.element("div").classes("o-row o-end"):
                button(say("Cancel"), lambda: asked.submit(None))
        chosen = await answered(asked)
        if isinstance(chosen, str):
            await self.copy(chosen)

    async def _ask_job(self) -> None:
        with dialog(say("Import a job file")) as asked:
            text(say("A job of OpenPAI (YAML or JSON) or of ModelArts (JSON). Upload its code first."), "o-quiet", "p")
            chosen = ui.element("input").props("type=file accept=.json,.jsonc,.yaml,.yml")
            chosen._props["aria-label"] = say("Job file")
            chosen.on("change", asked.submit, js_handler=_READ_FILE)
            with ui.element("div").classes("o-row o-end"):
                button(say("Cancel"), lambda: asked.submit(None))
        event = await answered(asked)
        if isinstance(event, GenericEventArguments):
            await spoken(lambda: self._import_job(str(event.args["name"]), str(event.args["text"])))()

    async def _import_job(self, name: str, content: str) -> None:
        actor = await member_now()
        filled, notices = await job_as_form(holding(), actor, name, content.encode(), self._form.wanted)
        self._form.fill(filled)
        self._note([say("{name} was read into the form.", name=name), *notices])

    def _note(self, notices: list[str]) -> None:
        self._notices.clear()
        with self._notices:
            for notice in notices:
                text(notice, "o-note", "p")


def _body(wanted: Wanted) -> dict[str, Any]:
    try:
        return wanted.body()
    except ValueError as error:
        raise SpecError(f"the further arguments cannot be read: {error}", hint="close the quotes") from None
