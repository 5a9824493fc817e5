"""What the routes of this API share within one process."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, FastAPI, Request

from outlast.errors import OutlastError
from outlast.keeper.home import Home
from outlast.keeper.index import RunRow
from outlast.operations.locate import Located, open_run_store
from outlast.server.auth import Actor
from outlast.server.events import Watches
from outlast.server.ready import KEEPER_S, ReadyRuns
from outlast.server.state import ServerState
from outlast.server.uploads import Uploads
from outlast.settings import Settings

log = logging.getLogger("outlast.server")


@dataclasses.dataclass(frozen=True)
class Holding:
    """The home that is served, its runs as ready bytes, those who follow one, and what was uploaded."""

    settings: Settings
    home: Home
    runs: ReadyRuns
    watches: Watches
    uploads: Uploads

    def settings_of(self, actor: Actor) -> Settings:
        """Settings under which new runs belong to `actor`."""
        return dataclasses.replace(self.settings, user=actor.name)

    def located(self, row: RunRow) -> Located:
        """A run's folder, opened."""
        return Located(row.id, row.store, open_run_store(self.home, row.store, row.id))

    def seen(self, actor: Actor, ref: str) -> Located:
        """The folder of a run that `actor` may see; `NotFoundError` for every other."""
        return self.located(self.runs.find(actor, ref))

    def changeable(self, actor: Actor, ref: str) -> RunRow:
        """A run that `actor` may change."""
        row = self.runs.find(actor, ref)
        actor.require_change(row.user, "run")
        return row


@contextlib.asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open what the routes share, and close it when the server stops."""
    state: ServerState = app.state.outlast
    home = Home(state.settings.home)
    holding = Holding(
        state.settings, home, ReadyRuns(state.settings), Watches(state.settings), Uploads(home.path / "uploads")
    )
    app.state.holding = holding
    watching = asyncio.create_task(_watch_over_keeper(holding.runs))
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.wait([watching])
        await holding.watches.close()
        holding.runs.close()


async def _watch_over_keeper(runs: ReadyRuns) -> None:
    """Have a keeper that was killed replaced, also when all who ask do so at a gateway, which reads folders alone."""
    while True:
        await asyncio.sleep(KEEPER_S)
        try:
            await asyncio.to_thread(runs.keep_up)
        except OutlastError as error:  # a database that is away, for instance: better later than never
            log.warning("%s", error)
        except Exception:
            log.exception("trouble with the keeper")


async def holding_of(request: Request) -> Holding:
    holding: Holding = request.app.state.holding
    return holding


Held = Annotated[Holding, Depends(holding_of)]
