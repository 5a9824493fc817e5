"""The routers of the REST API. Each is mounted under `/api/v1`, in this order."""

from __future__ import annotations

from fastapi import APIRouter

from outlast.server.api import (
    folder,
    house,
    imports,
    judging,
    logs,
    metrics,
    overview,
    places,
    results,
    runs,
    signing_in,
    stores,
    sweeps,
    uploads,
    usage,
)
from outlast.server.placing import MOST_BYTES

ROUTERS: list[APIRouter] = [
    runs.router, logs.router, metrics.router, usage.router, results.router, folder.router, overview.router,
    judging.router, sweeps.router, imports.router, house.router, uploads.router, stores.router, places.router,
    signing_in.router,
]  # fmt: skip

#: Beginning of a path → the largest body it takes, in bytes; everything else takes `security.BODY_LIMIT_BYTES`.
LARGE_BODIES: dict[str, int] = {
    "/api/v1/uploads/": uploads.LARGEST_BYTES,
    "/api/v1/stores/file": MOST_BYTES,
}
