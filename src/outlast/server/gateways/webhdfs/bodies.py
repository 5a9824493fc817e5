"""Bytes between a connection, which the event loop serves, and a worker thread, which reads and writes files."""

from __future__ import annotations

import asyncio
from typing import Final, cast

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from outlast.server.intake import pieces
from outlast.webhdfs.refusals import Torn

PIECE_BYTES: Final = 1 << 20
#: A client has so long for each piece, in either direction: slower than some 3 KiB/s is given up.
PIECE_LIMIT_S = 300.0


class TooSlow(Torn):
    """The client is there, and does not get on."""


class Arriving:
    """The body of a request as an ordinary iterator, for one worker thread.

    A piece is good until the next one is asked for, which comes in while it is used. Nothing is asked for before the
    first one is wanted: only then gets a client that waits for leave (`Expect`) it.
    """

    def __init__(self, scope: Scope, receive: Receive, loop: asyncio.AbstractEventLoop) -> None:
        self._pieces = pieces(scope, receive)
        self._loop = loop

    def __iter__(self) -> Arriving:
        return self

    def __next__(self) -> bytes:
        piece = asyncio.run_coroutine_threadsafe(self._next(), self._loop).result()
        if piece is None:
            raise StopIteration
        return piece

    async def close(self) -> None:
        """Nobody wants the rest."""
        await self._pieces.aclose()

    async def _next(self) -> bytes | None:
        try:
            async with asyncio.timeout(PIECE_LIMIT_S):
                async for piece in self._pieces:
                    if piece:
                        return cast(bytes, piece)  # memory of ours, which everybody here only writes out
        except ClientDisconnect:
            raise Torn("the client went away") from None
        except TimeoutError:
            raise TooSlow(f"less than {PIECE_BYTES} bytes came within {PIECE_LIMIT_S:g} s") from None
        return None
