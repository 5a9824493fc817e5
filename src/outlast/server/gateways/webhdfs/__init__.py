"""`/webhdfs/v1`: one HDFS for everybody who has an account here, in the folder `hdfs` of the server's home.

The server's stores are folders in it, below `/stores`.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from fastapi import APIRouter, FastAPI

from outlast.keeper.home import Home
from outlast.server.gateways.webhdfs.permissions import KEEPER, STICKY
from outlast.server.holding import Holding
from outlast.server.state import ServerState
from outlast.webhdfs.folder import FolderFileSystem
from outlast.webhdfs.notes import Notes

#: As on a cluster; everybody may make something in them, and only its owner takes it away.
_SHARED = ("/user", "/Output", "/Container")
LARGE_BODIES = {"/webhdfs/": 1 << 44, "/as/": 1 << 44}


def mount(app: FastAPI, state: ServerState) -> None:
    """Serve the folder. `app.state.hdfs` is the whole of it, without any user's rules."""
    from outlast.server.gateways.webhdfs.door import Door
    from outlast.server.gateways.webhdfs.stores.opening import Stores

    app.state.hdfs = files = open_files(Home(state.settings.home))

    def stores_of_runs() -> set[str]:
        holding: Holding = app.state.holding
        return {state.settings.store, *holding.runs.stores()}

    stores = Stores(state.settings, stores_of_runs, state.accounts.audit)
    door = Door(state, files, stores)
    app.mount("/webhdfs", door)
    app.mount("/as", door)

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            stores.close()
            files.close()

    app.include_router(APIRouter(lifespan=lifespan))


def open_files(home: Home) -> FolderFileSystem:
    """The folder that a home serves, made when it is missing."""
    place = home.path / "hdfs"
    with home.explained():
        (place / "files").mkdir(mode=0o700, parents=True, exist_ok=True)
        files = FolderFileSystem(place / "files", Notes(place / "notes.db"), KEEPER, KEEPER)
    for path in ("/", *_SHARED):
        status = files.glance(path)
        if status is None or (status.owner == KEEPER and not status.permission & 0o077):
            files.make_folders(path, 0o777)
            files.set_permission(path, 0o777 | STICKY)
    return files
