"""The door for clients of ModelArts: training jobs of both generations, their credentials, real runs behind."""

from __future__ import annotations

from fastapi import FastAPI

from outlast.server.state import ServerState


def mount(app: FastAPI, state: ServerState) -> None:
    """Open the door. `/v1`, `/v2` and `/v3` are the paths that clients ask for; nothing of ours lies there."""
    from outlast.server.accounts.pairs import Pairs
    from outlast.server.gateways.modelarts import carrying, iam, links, routesv1, routesv2

    app.state.modelarts = Pairs(state.settings.home)
    for router in (iam.router, routesv1.router, routesv2.router, links.router, carrying.router):
        app.include_router(router)
