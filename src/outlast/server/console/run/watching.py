"""What the page of a run knows of it, kept up to date while somebody looks."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from outlast.errors import NotFoundError, OutlastError
from outlast.model.view import RunView
from outlast.operations.runs import show_run
from outlast.server.accounts.people import Actor
from outlast.server.console.access import actor_now, holding
from outlast.server.console.aside import aside
from outlast.server.holding import Holding
from outlast.server.refusals import NotSignedIn

_LOOK_S = 2.0

Seen = Callable[[RunView], object]


class Watched:
    """One run and the parts of the page that show it; each is told when the run changed."""

    def __init__(self, view: RunView, actor: Actor) -> None:
        self.view, self.actor = view, actor
        self._parts: list[Seen] = []

    @property
    def is_mine(self) -> bool:
        """Whether the reader may change this run."""
        return self.actor.may_change(self.view.user)

    def show(self, part: Seen) -> None:
        """Call `part` now and at every change."""
        self._parts.append(part)
        part(self.view)

    def start(self) -> None:
        """Look again and again; a run that is over changes only when somebody resumes it, here."""
        self._timer = ui.timer(_LOOK_S, self._look, active=not self.view.state.is_final)

    async def look_now(self) -> None:
        """After something was done to the run."""
        self._timer.activate()
        await self._look()

    async def _look(self) -> None:
        try:
            view = await read_run(await actor_now(), self.view.id)
        except (NotSignedIn, NotFoundError):
            self._timer.deactivate()
            ui.navigate.reload()  # which leads to the sign-in, or says that the run is gone
            return
        except OutlastError:
            return  # the store is away for a while
        if view != self.view:
            self.view = view
            for part in self._parts:
                part(view)
        if view.state.is_final:
            self._timer.deactivate()


async def read_run(actor: Actor, ref: str) -> RunView:
    """A run that `actor` may see, read from its folder just now."""
    held = holding()
    return await aside(lambda: _read(held, actor, ref))


def _read(held: Holding, actor: Actor, ref: str) -> RunView:
    return show_run(held.settings, held.runs.find(actor, ref).id)
