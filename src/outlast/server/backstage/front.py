"""The side that is asked: passes a request on to the process that makes the pages, and its answer back."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from outlast.errors import PlatformError
from outlast.server.backstage import frames
from outlast.server.errors import refuse
from outlast.server.pages import refused_page, wants_page

#: What tells a browser that the server starts anew, and that it may come back.
_STARTS_ANEW = 1012


class PassedOn:
    """An application that is somewhere else: in the process that listens on `address`, a socket of this machine."""

    def __init__(self, address: str) -> None:
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        passage = _Passage(scope, receive, send)
        try:
            reader, writer = await asyncio.open_unix_connection(self._address)
        except OSError:  # nobody listens any more, or thousands wait already
            await passage.own_up()
            return
        asking = asyncio.create_task(passage.ask(writer))
        try:
            await passage.answer(reader)
        finally:
            asking.cancel()
            await asyncio.wait([asking])
            writer.close()


class _Passage:
    """One request on its way there, and its answer on the way back."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._is_socket = scope["type"] == "websocket"
        self._began = self._ended = False

    async def ask(self, writer: asyncio.StreamWriter) -> None:
        """The request, its body, and whatever the browser says later on."""
        try:
            await frames.write(writer, frames.scope_of(self._scope))
            while True:
                message = await self._receive()
                self._ended = self._ended or message["type"] == "websocket.disconnect"
                await frames.write(writer, message)
        except OSError:  # the other side is gone; `answer` notices that too, and says so
            return

    async def answer(self, reader: asyncio.StreamReader) -> None:
        """All that is answered, as it comes; an answer that breaks off is owned up to."""
        while (message := await frames.read(reader)) is not None:
            self._began = True
            self._ended = self._ended or _is_last(message)
            await self._send(message)
        if not self._ended:
            await self.own_up()

    async def own_up(self) -> None:
        """Say that the pages' process is gone. Half an answer is left as it is: the connection ends with it."""
        if self._is_socket:
            await self._send({"type": "websocket.close", "code": _STARTS_ANEW})
        elif not self._began:
            await self._refusal()(self._scope, self._receive, self._send)

    def _refusal(self) -> Response:
        error = PlatformError("the console is starting anew", hint="load the page again in a few seconds")
        request = Request(self._scope)
        if wants_page(request):
            return refused_page(request, error.http_status, error.message, error.hint)
        return refuse(error)


def _is_last(message: frames.Message) -> bool:
    if message["type"] == "http.response.body":
        return not message.get("more_body")
    return bool(message["type"] == "websocket.close")
