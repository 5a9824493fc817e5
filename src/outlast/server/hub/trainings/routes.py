"""Trainings over HTTP, at Xihe's own addresses. What their clients get from a WebSocket is there by GET too."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from outlast.server.hub.trainings.access import Asking
from outlast.server.hub.trainings.envelope import BAD_BODY, NO_TRAINING, Refusal, XiheRoute, told
from outlast.server.hub.trainings.links import sealed_path

router = APIRouter(prefix="/v1/train/project/{pid}", route_class=XiheRoute, include_in_schema=False)


@router.post("/training")
async def create(request: Request, desk: Asking, pid: str) -> Response:
    """Start a training of the project's newest commit."""
    body = await json_body(request)
    made = await run_in_threadpool(lambda: desk.create(desk.project(pid, to_change=True), body))
    return told({"id": made.id}, 201)


@router.get("/training")
def show_all(desk: Asking, pid: str) -> Response:
    """The trainings of a project, newest first."""
    return told([each.summary() for each in desk.list(desk.project(pid))])


@router.get("/training/{id}")
def show(desk: Asking, pid: str, id: str) -> Response:
    return told(desk.get(desk.project(pid), id).detail())


@router.post("/training/{id}")
def again(desk: Asking, pid: str, id: str) -> Response:
    """Start it once more under a new name."""
    return told({"id": desk.again(desk.project(pid, to_change=True), id).id}, 201)


@router.put("/training/{id}")
def terminate(desk: Asking, pid: str, id: str) -> Response:
    desk.terminate(desk.project(pid, to_change=True), id)
    return told("success", 202)


@router.delete("/training/{id}")
def delete(desk: Asking, pid: str, id: str) -> Response:
    desk.delete(desk.project(pid, to_change=True), id)
    return Response(status_code=204)


@router.get("/training/{id}/result/{kind}")
def result(request: Request, desk: Asking, pid: str, id: str, kind: str) -> Response:
    """A link to the log or the output that works for an hour; `log_url` in both cases, as upstream."""
    seen = desk.get(desk.project(pid), id)
    path = sealed_path(desk.state.settings.home, seen, kind)
    return told({"log_url": str(request.base_url).rstrip("/") + path})


@router.get("/config")
def last_config(desk: Asking, pid: str) -> Response:
    """What the newest training was asked for with, to fill a form with."""
    found = desk.last_config(desk.project(pid))
    if not found:
        raise Refusal(NO_TRAINING, "this project was never trained", status=404)
    return told(found)


async def json_body(request: Request) -> Any:
    try:
        return orjson.loads(await request.body())
    except orjson.JSONDecodeError as error:
        raise Refusal(BAD_BODY, f"the body is not JSON: {error}") from None
