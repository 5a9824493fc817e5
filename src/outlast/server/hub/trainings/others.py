"""What begins like an address of Xihe and is none here: it is answered in the one shape too."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from outlast.server.hub.trainings.envelope import NOT_EXISTS, Refusal, XiheRoute

router = APIRouter(prefix="/v1", route_class=XiheRoute, include_in_schema=False)


def unknown(rest: str) -> Response:
    raise Refusal(NOT_EXISTS, f"this server has no such address: …/{rest[:80]}", status=404)


for first in ("train", "evaluate", "repo", "stream", "project", "model", "dataset"):
    router.add_api_route(f"/{first}/{{rest:path}}", unknown, methods=["GET", "POST", "PUT", "DELETE"])
