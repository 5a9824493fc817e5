"""Evaluation of a training at Xihe's old addresses. The report is a page of the console, ready at once."""

from __future__ import annotations

import contextlib
from typing import Any

import orjson
from fastapi import APIRouter, Request, WebSocket
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import Response

from outlast.hub.repository import Repository
from outlast.server.hub.trainings.access import Asking, find_desk_of, offered_protocol
from outlast.server.hub.trainings.desk import Desk
from outlast.server.hub.trainings.envelope import NO_TRAINING, Refusal, XiheRoute, refused, said, told
from outlast.server.hub.trainings.judging import read_evaluation
from outlast.server.hub.trainings.routes import json_body

router = APIRouter(
    prefix="/v1/evaluate/project/{pid}/training/{tid}/evaluate", route_class=XiheRoute, include_in_schema=False
)


@router.post("")
async def evaluate(request: Request, desk: Asking, pid: str, tid: str) -> Response:
    """Ask for an evaluation; a later one of the same training replaces it."""
    body = await json_body(request)
    project = await run_in_threadpool(ask, desk, pid, tid, body)
    return told({"evaluate_id": tid, "access_url": _address(request, project, tid), "error": ""}, 201)


@router.websocket("/{id}")
async def follow(socket: WebSocket, pid: str, tid: str, id: str) -> None:
    """Say where the report is, and close."""
    try:
        desk = await find_desk_of(socket)
        project = await run_in_threadpool(_asked, desk, pid, tid, id)
    except Exception as error:  # noqa: BLE001 - the outermost frame: a bug too leaves in the one shape
        await socket.send_denial_response(refused(error, f"WebSocket {socket.url.path}"))
        return
    await socket.accept(subprotocol=offered_protocol(socket))
    told_once: dict[str, Any] = {"evaluate_id": tid, "access_url": _address(socket, project, tid), "error": ""}
    with contextlib.suppress(RuntimeError):  # the other side has gone
        await socket.send_text(orjson.dumps(said(told_once)).decode())
        await socket.close()


def ask(desk: Desk, pid: str, tid: str, body: object) -> Repository:
    """Write down what is asked for; the project that the training belongs to."""
    project = desk.project(pid, to_change=True)
    seen = desk.get(project, tid)
    desk.book(project).change(seen.training, evaluation=read_evaluation(body, seen))
    return project


def _asked(desk: Desk, pid: str, tid: str, id: str) -> Repository:
    project = desk.project(pid)
    if id != tid or not desk.get(project, tid).training.evaluation:
        raise Refusal(NO_TRAINING, f"no evaluation {id[:40]!r} of this training", status=404)
    return project


def _address(connection: HTTPConnection, project: Repository, tid: str) -> str:
    scheme = {"ws": "http", "wss": "https"}.get(connection.url.scheme, connection.url.scheme)
    return f"{connection.base_url.replace(scheme=scheme)}hub/{project.path}/trainings/{tid}/evaluation"
