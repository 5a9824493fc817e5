"""The verbs on trainings for whoever is on the current page, and how a training's state is shown."""

from __future__ import annotations

from typing import TypeVar

from nicegui import app as console
from nicegui import ui
from starlette.datastructures import State

from outlast.hub.repository import Repository
from outlast.operations.hubs import open_hub
from outlast.server.accounts.people import Actor
from outlast.server.console.access import actor_now, holding
from outlast.server.console.parts import text
from outlast.server.console.shell import heading, link
from outlast.server.console.words import say
from outlast.server.hub.trainings import progress
from outlast.server.hub.trainings.desk import Desk
from outlast.server.hub.visits import HubState

T = TypeVar("T")

#: The colours of states are those of runs.
_KINDS = {
    progress.SCHEDULING: "queued", progress.SCHEDULE_FAILED: "failed", progress.RUNNING: "running",
    progress.COMPLETED: "succeeded", progress.FAILED: "failed", progress.TERMINATED: "stopped",
    progress.TERMINATING: "stopped",
}  # fmt: skip


def desk_of(actor: Actor) -> Desk:
    """The desk of somebody; the hub is the one that the routes use."""
    shared: State = console.state.server.state
    if not hasattr(shared, "hub"):
        shared.hub = HubState(open_hub(console.state.outlast.settings))
    return Desk(actor, console.state.outlast, holding(), shared.hub)


async def desk_now() -> Desk:
    """The desk of whoever is on this page, looked up again."""
    return desk_of(await actor_now())


def address(project: Repository, *parts: str) -> str:
    return "/".join([f"/hub/{project.path}/trainings", *parts])


def head(project: Repository, title: str, *more: tuple[str, str]) -> None:
    """The heading of a page, and the way to it; `more` are (address, text) of pages between the list and this one."""
    with ui.element("nav").classes("o-crumbs") as crumbs:
        crumbs._props["aria-label"] = say("Way to this page")
        for number, (where, words) in enumerate(((address(project), say("Training instances")), *more)):
            if number:
                text("/").props("aria-hidden=true")
            link(where, words)
    heading(title)


def badge(status: str) -> None:
    text(say(status), f"o-state {_KINDS[status]}")
