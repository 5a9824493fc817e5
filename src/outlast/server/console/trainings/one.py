"""One training: how it goes, its log, its results, and what can be done with them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import app as console
from nicegui import ui
from starlette.requests import Request

from outlast.errors import NotFoundError, OutlastError
from outlast.hub.repository import Repository
from outlast.server.accounts.people import Actor
from outlast.server.aim.process import has_aim
from outlast.server.console import formats
from outlast.server.console.access import actor_of
from outlast.server.console.aside import aside
from outlast.server.console.html import Html, facts
from outlast.server.console.hub.head import repository_frame
from outlast.server.console.hub.publishing import publish_button
from outlast.server.console.hub.repository import open_repository
from outlast.server.console.parts import button, go, panel, text
from outlast.server.console.run.log import Log
from outlast.server.console.run.watching import Watched, read_run
from outlast.server.console.shell import link
from outlast.server.console.trainings.acting import again, delete, terminate
from outlast.server.console.trainings.aiming import aim_link
from outlast.server.console.trainings.asking import evaluation_panel
from outlast.server.console.trainings.desks import address, badge, desk_now, desk_of, head
from outlast.server.console.words import say
from outlast.server.hub.trainings.links import sealed_path
from outlast.server.hub.trainings.progress import COMPLETED, Seen
from outlast.server.refusals import NotSignedIn

_LOOK_S = 2.0


async def training_page(request: Request, owner: str, name: str, training: str) -> None:
    """What it was asked for and how it goes; followed until it is over."""
    desk = desk_of(await actor_of(request))
    project = await aside(lambda: desk.project_at(owner, name))
    seen = await aside(lambda: desk.get(project, training))
    with repository_frame(await open_repository(request, owner, name), "trainings"):
        head(project, seen.training.name)
        await _Page(project, seen, may_change=project.may_change(desk.visitor)).build(desk.actor)


class _Page:
    """What follows the training while somebody looks."""

    def __init__(self, project: Repository, seen: Seen, *, may_change: bool) -> None:
        self._project, self._seen, self._may_change = project, seen, may_change

    async def build(self, actor: Actor) -> None:
        await aside(has_aim)  # looked for once, in a thread
        self._top, self._log, self._bottom = (ui.element("div").classes("o-stack") for _ in range(3))
        self._show()
        await self._show_log(actor)
        self._timer = ui.timer(_LOOK_S, self._look, active=not self._seen.is_done)

    async def _look(self) -> None:
        project, id = self._project, self._seen.training.id
        try:
            desk = await desk_now()
            seen = await aside(lambda: desk.get(desk.project_at(project.owner, project.name), id))
        except (NotSignedIn, NotFoundError):
            ui.navigate.reload()  # which leads to the sign-in, or says that it is gone
            return
        except OutlastError:
            return  # the store is away for a while
        is_new = seen.found is not None and self._seen.found is None
        before, self._seen = self._seen, seen
        if replace(seen, duration_s=before.duration_s) != before or is_new:
            self._show()
        else:
            self._time.text = formats.duration(seen.duration_s)
        if is_new:
            await self._show_log(desk.actor)
        if seen.is_done:
            self._timer.deactivate()

    def _show(self) -> None:
        self._top.clear()
        with self._top:
            self._about()
        self._bottom.clear()
        with self._bottom:
            if self._seen.status == COMPLETED and self._may_change:
                evaluation_panel(self._project, self._seen)

    def _about(self) -> None:
        with ui.element("div").classes("o-row"):
            badge(self._seen.status)
            self._time = text(formats.duration(self._seen.duration_s), "o-quiet o-grow")
            self._actions()
        if self._seen.error:
            text(self._seen.error, "o-refusal", "div").props("role=status")
        for notice in self._seen.training.notices:
            text(notice, "o-note", "div")
        with panel():
            ui.html(_facts(self._seen), sanitize=False)

    def _actions(self) -> None:
        seen, project = self._seen, self._project
        if seen.found is not None:
            link(f"/runs/{seen.training.run}", say("The run"), "o-button")
            link(f"/runs/{seen.training.run}/curves", say("Curves"), "o-button")
            aim_link(project, seen)
            if seen.is_done:
                button(say("Download the log"), partial(self._download, "log"))
            if seen.status == COMPLETED:
                button(say("Download the output"), partial(self._download, "output"))
        if not self._may_change:
            return
        if not seen.is_done:
            button(say("Terminate"), partial(terminate, project, seen.training.id, self._look), "danger")
            return
        button(say("Train again"), partial(again, project, seen.training.id))
        link(address(project, f"new?from={seen.training.id}"), say("Change and train"), "o-button")
        button(say("Delete"), partial(delete, project, seen, self._leave), "danger")

    async def _download(self, kind: str) -> None:
        """Links carry their own proof for an hour; a page may stay open longer, so each is made when it is wanted."""
        await desk_now()
        ui.download.from_url(await aside(lambda: sealed_path(console.state.outlast.settings.home, self._seen, kind)))

    async def _leave(self) -> None:
        go(address(self._project))

    async def _show_log(self, actor: Actor) -> None:
        if self._seen.found is None:
            return
        try:
            view = await read_run(actor, self._seen.training.run)
        except OutlastError:
            return  # of a group that the reader has left; the project still shows how it went
        self._log.clear()
        with self._log:
            watched = Watched(view, actor)
            publish_button(watched)
            Log(watched, 0, empty=await aside(lambda: self._seen.log_text() is None))
            watched.start()


def _facts(seen: Seen) -> Html:
    body: dict[str, Any] = seen.training.body
    inputs = [
        f"--{each['key']}: {each['owner']}/{each['name']}/{each['File']}".rstrip("/")
        for each in (*body["models"], *body["datasets"])
    ]
    params = [f"--{each['key']}={each['value']}" for each in body["hyperparameter"]]
    told = [
        (say("Description"), body["desc"]), (say("Code"), f"{body['code_dir']}{body['boot_file']}"),
        (say("Commit"), seen.training.commit[:12]), (say("Version"), body["compute"]["version"]),
        (say("Inputs"), ", ".join(inputs)), (say("Hyper-parameters"), " ".join(params)),
        (say("Variables"), " ".join(f"{each['key']}={each['value']}" for each in body["env"])),
        (say("By"), seen.training.by),
    ]  # fmt: skip
    return facts(told)
