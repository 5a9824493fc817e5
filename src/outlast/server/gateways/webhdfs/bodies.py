"""Bytes between a connection, which the event loop serves, and a worker thread, which reads and writes files."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Final

from starlette.types import Receive

from outlast.webhdfs.refusals import Torn

PIECE_BYTES: Final = 1 << 20
#: A client has so long for each piece, in either direction: slower than some 3 KiB/s is given up.
PIECE_LIMIT_S = 300.0


class TooSlow(Torn):
    """The client is there, and does not get on."""


class Arriving:
    """The body of a request as an ordinary iterator, for one worker thread. The next piece comes while one is used.

    Nothing is asked for before the first piece is wanted: only then gets a client that waits for leave (`Expect`) it.
    """

    def __init__(self, receive: Receive, loop: asyncio.AbstractEventLoop) -> None:
        self._receive = receive
        self._loop = loop
        self._coming: Future[bytes] | None = None
        self._is_finished = False

    def __iter__(self) -> Arriving:
        return self

    def __next__(self) -> bytes:
        piece = (self._coming or self._order()).result()
        if not piece:
            raise StopIteration
        self._coming = self._order()
        return piece

    def _order(self) -> Future[bytes]:
        return asyncio.run_coroutine_threadsafe(self._gather(), self._loop)

    async def _gather(self) -> bytes:
        """About a mebibyte: many small pieces would cost a change of threads each. Empty at the end."""
        pieces, size = list[bytes](), 0
        try:
            async with asyncio.timeout(PIECE_LIMIT_S):
                while size < PIECE_BYTES and not self._is_finished:
                    message = await self._receive()
                    if message["type"] == "http.disconnect":
                        raise Torn("the client went away")
                    pieces.append(message.get("body", b""))
                    size += len(pieces[-1])
                    self._is_finished = not message.get("more_body", False)
        except TimeoutError:
            raise TooSlow(f"{size} bytes came within {PIECE_LIMIT_S:g} s") from None
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)
