"""Trainings over WebSocket, as Xihe's pages follow them: the whole answer again whenever it changed, until the end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson
from fastapi import APIRouter, WebSocket
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocketDisconnect

from outlast.errors import OutlastError
from outlast.server.hub.trainings.access import find_desk_of, offered_protocol
from outlast.server.hub.trainings.desk import Desk
from outlast.server.hub.trainings.envelope import refused, said
from outlast.server.hub.trainings.progress import Seen

router = APIRouter(prefix="/v1/train/project/{pid}/training")

_LOOK_S = 1.0
#: An answer whose duration alone is another one is sent so often: it carries the whole log.
_TICK_S = 5.0


class Told(NamedTuple):
    """What is to be sent, what of it counts as a change, and whether it is the last."""

    data: Any
    mark: object
    is_over: bool


@router.websocket("/ws")
async def follow_all(socket: WebSocket, pid: str) -> None:
    def look(desk: Desk) -> Told:
        found = desk.list(desk.project(pid))
        shown = [each.summary() for each in found]
        return Told(shown, [_mark(each) for each in found], all(each.is_done for each in found))

    await _follow(socket, look)


@router.websocket("/{id}")
async def follow(socket: WebSocket, pid: str, id: str) -> None:
    def look(desk: Desk) -> Told:
        seen = desk.get(desk.project(pid), id)
        detail = seen.detail()
        return Told(detail, (_mark(seen), len(detail["log"])), seen.is_done)

    await _follow(socket, look)


def _mark(seen: Seen) -> tuple[str, str, str]:
    return seen.training.id, seen.status, seen.error


async def _follow(socket: WebSocket, look: Callable[[Desk], Told]) -> None:
    """Send what `look` finds until it is over or nobody listens any more. Refused before the socket is open."""
    try:
        told = await run_in_threadpool(look, await find_desk_of(socket))
    except Exception as error:  # noqa: BLE001 - the outermost frame: a bug too leaves in the one shape
        await socket.send_denial_response(refused(error, f"WebSocket {socket.url.path}"))
        return
    await socket.accept(subprotocol=offered_protocol(socket))
    with contextlib.suppress(WebSocketDisconnect, OutlastError):
        await _send(socket, look, told)
    with contextlib.suppress(RuntimeError):  # the other side has closed it
        await socket.close()


async def _send(socket: WebSocket, look: Callable[[Desk], Told], told: Told) -> None:
    sent: object = None
    sent_at = 0.0
    heard = asyncio.ensure_future(socket.receive())
    try:
        while True:
            if told.mark != sent or time.monotonic() - sent_at >= _TICK_S:
                await socket.send_text(orjson.dumps(said(told.data)).decode())
                sent, sent_at = told.mark, time.monotonic()
            if told.is_over:
                return
            await asyncio.wait({heard}, timeout=_LOOK_S)
            if heard.done():
                if heard.result()["type"] == "websocket.disconnect":
                    return
                heard = asyncio.ensure_future(socket.receive())  # what clients say means nothing here
            told = await run_in_threadpool(look, await find_desk_of(socket))
    finally:
        heard.cancel()
