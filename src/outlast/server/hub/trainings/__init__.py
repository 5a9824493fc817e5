"""Training instances of hub projects, at the addresses and in the words of Xihe; real runs behind.

Not imported by the hub's own package: starting a run needs modules that need the hub.
"""

from __future__ import annotations

from fastapi import APIRouter

from outlast.server.hub.trainings import (
    changes,
    evaluations,
    filechanges,
    links,
    others,
    people,
    repofiles,
    repositories,
    routes,
    sockets,
)

#: At `/v1/…`; before the door for ModelArts, which answers whatever else begins so.
ROUTERS: list[APIRouter] = [
    routes.router, sockets.router, links.router, evaluations.router, repofiles.router, filechanges.router,
    repositories.router, changes.router, people.router, others.router,
]  # fmt: skip
