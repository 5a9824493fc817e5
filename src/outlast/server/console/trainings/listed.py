"""The trainings of a project, followed while somebody looks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement
from starlette.requests import Request

from outlast.errors import OutlastError
from outlast.hub.repository import Repository
from outlast.server.console import formats
from outlast.server.console.access import actor_of
from outlast.server.console.aside import aside
from outlast.server.console.hub.head import repository_frame
from outlast.server.console.hub.repository import open_repository
from outlast.server.console.parts import Table, button, text
from outlast.server.console.shell import link
from outlast.server.console.trainings.acting import again, delete, terminate
from outlast.server.console.trainings.desks import address, badge, desk_now, desk_of
from outlast.server.console.words import say
from outlast.server.hub.trainings.book import MOST_RECORDS
from outlast.server.hub.trainings.progress import Seen
from outlast.server.refusals import NotSignedIn

_LOOK_S = 2.0


async def trainings_page(request: Request, owner: str, name: str) -> None:
    """All of them, newest first, with what can be done to each."""
    desk = desk_of(await actor_of(request))
    project = await aside(lambda: desk.project_at(owner, name))
    found = await aside(lambda: desk.list(project))
    may_change = project.may_change(desk.visitor)
    with repository_frame(await open_repository(request, owner, name), "trainings"):
        with ui.element("div").classes("o-row"):
            about = say("A project keeps {count} trainings and has one at a time.", count=MOST_RECORDS)
            text(about, "o-quiet o-grow")
            if may_change:
                link(address(project, "new"), say("New training"), "o-button primary")
        _Listed(project, found, may_change=may_change)


class _Listed:
    """The table of one reader."""

    def __init__(self, project: Repository, found: list[Seen], *, may_change: bool) -> None:
        self._project, self._may_change = project, may_change
        self._place = ui.element("div")
        self._shown: list[Seen] | None = None
        self._times: dict[str, TextElement] = {}
        self._show(found)
        ui.timer(_LOOK_S, self._look)

    async def _look(self) -> None:
        try:
            desk = await desk_now()
            found = await aside(lambda: desk.list(desk.project_at(self._project.owner, self._project.name)))
        except NotSignedIn:
            ui.navigate.reload()  # which leads to the sign-in
            return
        except OutlastError:
            return  # what is shown stays until the store, or the project, is back
        self._show(found)

    def _show(self, found: list[Seen]) -> None:
        """The table anew when something happened; otherwise the time alone: no button moves while one clicks."""
        for seen in found:
            if seen.training.id in self._times:
                self._times[seen.training.id].text = formats.duration(seen.duration_s)
        still = [replace(seen, duration_s=0) for seen in found]
        if still == self._shown:
            return
        self._shown = still
        self._times.clear()
        self._place.clear()
        with self._place:
            if not found:
                text(say("This project was never trained."), "o-empty", "p")
                return
            heads = [say("Training"), say("Created"), say("By"), ""]
            table = Table(heads, say("Training instances"))
            for seen in found:
                self._row(table, seen)

    def _row(self, table: Table, seen: Seen) -> None:
        training = seen.training

        def called() -> None:
            with ui.element("div").classes("o-line"):
                link(address(self._project, training.id), training.name)
                badge(seen.status)
                self._times[training.id] = text(formats.duration(seen.duration_s), "o-quiet o-small")
            if seen.error:
                text(seen.error.splitlines()[0], "o-quiet o-small", "div")

        created = seen.summary()["created_at"]
        with table.opened_row(called, created, training.by):
            if self._may_change:
                self._actions(seen)

    def _actions(self, seen: Seen) -> None:
        id, called = seen.training.id, seen.training.name
        if not seen.is_done:
            button(say("Terminate"), partial(terminate, self._project, id, self._look), "danger",
                   label=say("Terminate {name}", name=called))  # fmt: skip
            return
        button(say("Train again"), partial(again, self._project, id), label=say("Train {name} again", name=called))
        button(say("Delete"), partial(delete, self._project, seen, self._look), "danger",
               label=say("Delete {name}", name=called))  # fmt: skip
