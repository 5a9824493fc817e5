"""The application: routers, errors, and what every answer carries."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

from outlast import __version__
from outlast.server import apipage, gateways, hub, signin
from outlast.server.accounts import admin_routes, routes
from outlast.server.aim import routes as aim
from outlast.server.api import LARGE_BODIES, ROUTERS
from outlast.server.auth import COOKIE
from outlast.server.backstage.front import PassedOn
from outlast.server.console.addresses import ConsoleMount
from outlast.server.errors import add_error_handlers
from outlast.server.hub import trainings
from outlast.server.notices import routes as notices
from outlast.server.security import Guard
from outlast.server.state import ServerState
from outlast.settings import Settings

PREFIX = "/api/v1"


class Refusal(BaseModel):
    """What every error looks like."""

    ok: bool = False
    code: str
    message: str
    hint: str


def create_app(state: ServerState, *, console: bool = False, pages: str | None = None) -> FastAPI:
    """The server of one home. Closes `state` when it stops.

    With `console` it makes the pages of the console, too: once per process. With `pages` it passes requests for them
    on to the process that listens there.
    """

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        _prepare_routes(app)
        try:
            yield
        finally:
            state.close()

    app = FastAPI(
        title="Outlast", version=__version__, lifespan=lifespan, openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None, redoc_url=None,
    )  # fmt: skip
    app.state.outlast = state
    app.add_middleware(Guard, large=LARGE_BODIES | gateways.LARGE_BODIES, formed=hub.LARGE_PATHS)
    add_error_handlers(app)
    refusals: dict[int | str, dict[str, Any]] = {"default": {"model": Refusal, "description": "what went wrong"}}
    # Runs first: routes are tried in this order, and their list is asked for most.
    for router in (*ROUTERS, *hub.API_ROUTERS, routes.router, notices.router, admin_routes.router):
        app.include_router(router, prefix=PREFIX, responses=refusals)
    app.include_router(apipage.router, prefix=PREFIX)
    app.include_router(signin.router)
    for router in (*hub.GIT_ROUTERS, *trainings.ROUTERS):
        app.include_router(router)
    if pages is None:  # one process has all of Aim's: a page that is loaded from several would start as many
        app.include_router(aim.router)
    gateways.mount(app, state)
    if console:
        from outlast.server.console.mounting import mount  # late: NiceGUI takes a second to load

        mount(app, state)
    elif pages is not None:
        app.router.routes.append(ConsoleMount(PassedOn(pages)))
    else:
        app.include_router(signin.front_router)
    _describe_access(app)
    return app


def app_of_environment() -> FastAPI:
    """The same from the environment alone: what each of several processes starts with."""
    return create_app(ServerState.open(Settings.load(os.environ)))


def _prepare_routes(app: FastAPI) -> None:
    """Look for an address that nobody has: FastAPI prepares each route when it is first compared, all in 0.2 s."""
    nowhere = {"type": "http", "method": "GET", "path": "/-", "root_path": "", "headers": [], "query_string": b""}
    for route in app.routes:
        route.matches(nowhere)


def _describe_access(app: FastAPI) -> None:
    """Say in the OpenAPI document how one is let in: our dependency reads headers itself, which FastAPI cannot see."""
    make = app.openapi

    def described() -> dict[str, Any]:
        document = make()
        document.setdefault("components", {})["securitySchemes"] = {
            "token": {"type": "http", "scheme": "bearer"},
            "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
        }
        document["security"] = [{"token": []}, {"session": []}]
        return document

    app.openapi = described  # type: ignore[method-assign]
