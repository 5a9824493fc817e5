"""What a page does to a training: terminate it, train again, delete it. Each asks anew who is there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from outlast.hub.repository import Repository
from outlast.server.console.aside import aside
from outlast.server.console.parts import confirmed, go
from outlast.server.console.trainings.desks import address, desk_now
from outlast.server.console.words import say
from outlast.server.hub.trainings.progress import Seen

After = Callable[[], Awaitable[None]]


async def terminate(project: Repository, id: str, after: After) -> None:
    about = say("It is asked to save first. It cannot be continued, only trained again.")
    if not await confirmed(say("Terminate this training?"), about, say("Terminate")):
        return
    desk = await desk_now()
    await aside(lambda: desk.terminate(desk.project_at(project.owner, project.name, to_change=True), id))
    await after()


async def again(project: Repository, id: str) -> None:
    """Start it once more with the newest code, and go there."""
    desk = await desk_now()
    made = await aside(lambda: desk.again(desk.project_at(project.owner, project.name, to_change=True), id))
    go(address(project, made.id))


async def delete(project: Repository, seen: Seen, after: After) -> None:
    about = say("Its run goes with it: log, curves and output. This cannot be undone.")
    if not await confirmed(say("Delete {name}?", name=seen.training.name), about, say("Delete")):
        return
    desk = await desk_now()
    id = seen.training.id
    await aside(lambda: desk.delete(desk.project_at(project.owner, project.name, to_change=True), id))
    await after()
