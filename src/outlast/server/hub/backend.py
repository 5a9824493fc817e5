"""`git http-backend` as an answer: bytes stream both ways, and never more than a few pieces of them are in memory."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping, Sequence

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

_PIECE_BYTES = 1 << 18
_HEAD_BYTES = 1 << 16
_GONE = (BrokenPipeError, ConnectionResetError)
_log = logging.getLogger("outlast.server")


class Backend(Response):
    """One request that git answers. `settle` runs when git has ended, before the client hears the last of it."""

    #: What is started.
    command: Sequence[str] = ("git", "http-backend")

    def __init__(
        self, places: asyncio.Semaphore, environ: Mapping[str, str], settle: Callable[[], None] | None = None
    ) -> None:
        super().__init__()
        self._places = places
        self._environ = environ
        self._settle = settle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with self._places:
                await self._answer(scope, receive, send)
        finally:
            await self._finish()

    async def _finish(self) -> None:
        settle, self._settle = self._settle, None
        if settle is not None:
            with anyio.CancelScope(shield=True):
                await run_in_threadpool(settle)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        process = await asyncio.create_subprocess_exec(
            *self.command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=self._environ, limit=_HEAD_BYTES,
            start_new_session=True,
        )  # fmt: skip
        feeding = asyncio.create_task(_feed(process, receive, self.decode))
        try:
            await self._relay(process, feeding, scope, receive, send)
        finally:
            feeding.cancel()
            if process.returncode is None:
                _end(process)  # a client that left does not keep git busy
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await feeding
            if process.stdin is not None:
                process.stdin.close()
            await process.wait()

    async def _relay(
        self, process: Process, feeding: asyncio.Task[None], scope: Scope, receive: Receive, send: Send
    ) -> None:
        assert process.stdout is not None and process.stdin is not None
        try:
            status, headers = await self.head(process.stdout)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            if feeding.done() and feeding.exception() is not None:
                feeding.result()  # the body was too large: that is the answer
            _log.error("git http-backend gave no answer for %s", scope["path"])
            await PlainTextResponse("git could not be run\n", 503)(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": status, "headers": headers})
        while piece := await process.stdout.read(_PIECE_BYTES):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        process.stdin.close()  # git may have answered before the body was over; waiting includes this pipe
        await process.wait()
        await self._finish()
        await send({"type": "http.response.body", "body": b""})

    async def head(self, out: asyncio.StreamReader) -> tuple[int, list[tuple[bytes, bytes]]]:
        """Status and headers of the answer: those that git says first."""
        return _parse(await out.readuntil(b"\r\n\r\n"))

    def decode(self, piece: bytes) -> bytes:
        """A piece of the request's body as git wants it."""
        return piece


async def _feed(process: Process, receive: Receive, decode: Callable[[bytes], bytes]) -> None:
    """Hand the request's body to git, as fast as git takes it; then wait until the client leaves."""
    assert process.stdin is not None
    try:
        while (message := await receive())["type"] == "http.request":
            # Git may have said no already: the rest is read and dropped, so that the client hears why.
            with contextlib.suppress(*_GONE):
                process.stdin.write(decode(message.get("body", b"")))
                await process.stdin.drain()
            if not message.get("more_body", False):
                process.stdin.close()
        raise ConnectionResetError("the client left")
    except (ConnectionResetError, HTTPException):  # left, or sent more than the path takes
        _end(process)
        raise


def _end(process: Process) -> None:
    """End git and what it started: receive-pack would go on reading from us, and hold its end of the pipe for ever."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _parse(head: bytes) -> tuple[int, list[tuple[bytes, bytes]]]:
    """Status and headers of a CGI answer."""
    lines = [line.split(b":", 1) for line in head.strip().split(b"\r\n")]
    pairs = [(name.strip().lower(), value.strip()) for name, value in lines]
    status = next((int(value.split()[0]) for name, value in pairs if name == b"status"), 200)
    return status, [pair for pair in pairs if pair[0] != b"status"]
