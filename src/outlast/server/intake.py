"""Large bodies straight from the connection: bytes come into buffers of ours, past the parser and its copies.

Through the parser every byte of an upload is copied six times before it is hashed, into memory that is found anew.
Here the connection gets another protocol for the rest of one body whose length is known, and its own one back behind
the last byte.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from typing import Final

import httptools
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

PIECE_BYTES: Final = 1 << 20
_EXTENSION: Final = "outlast.intake"
#: One is filled while the other is used.
_BUFFERS: Final = 2
#: Who takes longer to say what is wanted is given up: a connection that says nothing costs as much as one that works.
HEAD_LIMIT_S = 60.0


async def pieces(scope: Scope, receive: Receive) -> AsyncGenerator[bytes | bytearray | memoryview, None]:
    """A body that nobody has read from, in pieces of about a mebibyte; `ClientDisconnect` when the client goes away.

    A piece is valid until the next one is asked for. That one comes in while this one is used, so hashing and writing
    in a thread cost no time of their own. Close it (`aclosing`): what was not asked for is then read and forgotten.
    """
    protocol = scope.get("extensions", {}).get(_EXTENSION, {}).get("protocol")
    left = _announced(scope) if protocol is not None else 0
    gathered, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        gathered += message.get("body", b"")
        more = message.get("more_body", False)
        if more and left - len(gathered) >= PIECE_BYTES:
            break
        if len(gathered) >= PIECE_BYTES or not more:
            yield gathered
            left, gathered = left - len(gathered), bytearray()
    if not more:
        return
    gathered += protocol.take_parsed()
    intake = _Intake(protocol, left - len(gathered))
    try:
        yield gathered
        while (piece := await intake.take()) is not None:
            yield piece
    finally:
        intake.forget()


class IntakeProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which lets the application have a body from the connection itself.

    It does not wait for the head of a request for ever either.
    """

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {_EXTENSION: {"protocol": self}}
        if self._patience is None:
            self._expect_head()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        self._patience = self.loop.call_later(HEAD_LIMIT_S, self._give_up)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._expect_head()  # an answer is still on its way to a client that sends the next request already
        else:
            self.transport.close()

    def take_parsed(self) -> bytearray:
        """What of the body has passed the parser since it was last asked for."""
        body, self.cycle.body = self.cycle.body, bytearray()
        return body

    def give_way(self, other: asyncio.BaseProtocol) -> None:
        """Let another protocol have what comes. A transport looks at its protocol when it begins to read."""
        self.flow.pause_reading()
        self.transport.set_protocol(other)
        self.flow.resume_reading()

    def go_on(self) -> None:
        """Take the connection back behind a body that the parser has not seen: the next request gets a new parser."""
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        self.cycle.more_body = False
        self.cycle.message_event.set()
        self.give_way(self)

    def stay(self) -> None:
        """Bytes came that nobody wants: the client is there, and its connection not idle."""
        self._unset_keepalive_if_required()


class _Intake(asyncio.BufferedProtocol):
    """The protocol of a connection for the rest of one body: a ring of buffers, filled by one side, emptied by one."""

    def __init__(self, protocol: IntakeProtocol, left: int) -> None:
        self._protocol = protocol
        self._left = left  # to come
        self._buffers = [memoryview(bytearray(PIECE_BYTES)) for _ in range(_BUFFERS)]
        self._at = 0  # the buffer that is filled
        self._filled = 0  # bytes of it
        self._ready: deque[memoryview] = deque()  # the first one may be lent out
        self._is_lent = self._is_lost = self._is_forgotten = False
        self._changed = asyncio.Event()
        protocol.give_way(self)

    async def take(self) -> memoryview | None:
        """The next piece, None behind the last; the one before is used up."""
        if self._is_lent:
            self._ready.popleft()
            self._is_lent = False
            self._resume()
        while not self._ready:
            if not self._left:
                return None
            if self._is_lost:
                raise ClientDisconnect
            self._changed.clear()
            await self._changed.wait()
        self._is_lent = True
        return self._ready[0]

    def forget(self) -> None:
        """Nobody wants the rest; it is read nevertheless, so that the client hears the answer."""
        self._is_forgotten = True
        self._ready.clear()
        self._resume()

    def _resume(self) -> None:
        if self._left and not self._is_lost:
            self._protocol.flow.resume_reading()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the next bytes go; never more of them than belong to this body."""
        return self._buffers[self._at][self._filled : self._filled + self._left]

    def buffer_updated(self, nbytes: int) -> None:
        self._left -= nbytes
        if self._is_forgotten:
            self._filled = 0
            self._protocol.stay()
        else:
            self._filled += nbytes
            if self._filled == PIECE_BYTES or not self._left:
                self._hand_out()
        if not self._left:
            self._protocol.go_on()

    def _hand_out(self) -> None:
        self._ready.append(self._buffers[self._at][: self._filled])
        self._at, self._filled = (self._at + 1) % _BUFFERS, 0
        self._changed.set()
        if len(self._ready) == _BUFFERS:
            self._protocol.flow.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = True
        self._changed.set()
        self._protocol.connection_lost(exc)

    def pause_writing(self) -> None:
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._protocol.resume_writing()


def _announced(scope: Scope) -> int:
    """The length that a body is said to have; 0 when it comes in chunks."""
    headers = Headers(scope=scope)
    text = headers.get("content-length", "")
    return int(text) if text.isdecimal() and "transfer-encoding" not in headers else 0
