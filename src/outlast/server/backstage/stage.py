"""The process that makes the pages: the whole application, behind a socket of this machine alone."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket

import uvloop
from fastapi import FastAPI
from starlette.types import Message

from outlast.server.backstage import frames
from outlast.server.backstage.parting import leave_with_parent
from outlast.server.state import ServerState
from outlast.settings import Settings

#: Requests that are under way get so long to end, less than those who passed them on wait.
_GRACE_S = 4.0
_PIECE_BYTES = 64 << 10
#: How many may wait to be answered before one is refused.
BACKLOG = 2048
_log = logging.getLogger("outlast.server")


def make_pages(listening: socket.socket) -> None:
    """Answer what comes in at `listening` until SIGTERM or SIGINT; the settings come from the environment."""
    leave_with_parent()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(listening))


async def _serve(listening: socket.socket) -> None:
    from outlast.server.app import create_app  # late: it may import this room

    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    app = create_app(ServerState.open(Settings.load(os.environ)), console=True)
    stage = Stage(app)
    async with app.router.lifespan_context(app):
        server = await asyncio.start_unix_server(stage.answer, sock=listening, backlog=BACKLOG)
        await stop.wait()
        server.close()
        await stage.clear()


class Stage:
    """The application for those who pass requests on: one connection for each request."""

    def __init__(self, app: FastAPI, grace_s: float = _GRACE_S) -> None:
        self._app, self._grace_s = app, grace_s
        self._answering: dict[asyncio.Task[None], str] = {}

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request; whoever asked may leave at any time."""
        task = asyncio.current_task()
        assert task is not None
        try:
            scope = await frames.read(reader)
            if scope is not None:
                self._answering[task] = scope["type"]
                await self._play(scope, reader, writer)
                await _part(reader, writer)
        except Exception:  # noqa: BLE001 - a bug of ours, half an answer is out: ending the connection is all that tells
            _log.exception("a page failed")
        finally:
            self._answering.pop(task, None)
            writer.close()

    async def _play(
        self, scope: frames.Message, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:  # fmt: skip
        gone: Message = {"type": f"{scope['type']}.disconnect"}
        if scope["type"] == "websocket":
            gone["code"] = 1006  # it broke off

        async def receive() -> Message:
            return await frames.read(reader) or gone

        async def send(message: Message) -> None:
            with contextlib.suppress(OSError):  # nobody is there to hear it; `receive` says so
                await frames.write(writer, message)

        scope |= {"asgi": {"version": "3.0", "spec_version": "2.3"}, "root_path": "", "state": {}, "extensions": {}}
        scope["headers"] = [(name, value) for name, value in scope["headers"]]
        await self._app(scope, receive, send)

    async def clear(self) -> None:
        """Let answers end; live connections of pages, which never end by themselves, are ended."""
        for task, kind in list(self._answering.items()):
            if kind == "websocket":
                task.cancel()
        if self._answering:
            await asyncio.wait(list(self._answering), timeout=self._grace_s)
        for task in list(self._answering):
            task.cancel()


async def _part(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Say that this was all, and hear the other side out.

    A socket that is closed while words for it wait unread is reset, and the other side loses the end of the answer.
    """
    with contextlib.suppress(OSError):  # it has left already
        writer.write_eof()
        while await reader.read(_PIECE_BYTES):
            pass
