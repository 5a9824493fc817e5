"""The body of a request, in pieces: of a told length or chunked, and asked for only when somebody wants it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from email.message import Message
from io import BufferedIOBase

from outlast.webhdfs.refusals import Torn

PIECE_BYTES = 256 << 10
_LINE_BYTES = 4096
_LINES = 100  # of trailers


class BadBody(Exception):
    """Headers that do not say where the body ends."""


class Body:
    """Iterate once. With `Expect: 100-continue` the client sends nothing before the first piece is asked for."""

    def __init__(self, source: BufferedIOBase, headers: Message, go_on: Callable[[], None]) -> None:
        self._source = source
        self._go_on = go_on
        self._expected = headers.get("Expect", "").lower() == "100-continue"
        coding, length = headers.get("Transfer-Encoding", "").lower(), headers.get("Content-Length")
        if coding not in ("", "chunked", "identity") or (coding == "chunked" and length is not None):
            raise BadBody(f"Transfer-Encoding: {coding}")
        if length is not None and not re.fullmatch(r"[0-9]{1,18}", length):
            raise BadBody(f"Content-Length: {length}")
        self._pieces = self._chunks() if coding == "chunked" else self._counted(int(length or 0))
        self.is_finished = coding != "chunked" and not int(length or 0)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._expected and not self.is_finished:
            self._expected = False
            self._go_on()
        try:
            return next(self._pieces)
        except (OSError, ValueError) as error:
            raise Torn(str(error)) from None

    def drain(self) -> None:
        """Read the rest and throw it away: a connection closed on unread bytes can lose the answer before them.

        A client that still waits for leave to send is left alone.
        """
        if not self._expected:
            for _ in self:
                pass

    def _counted(self, left: int) -> Iterator[bytes]:
        while left:
            piece = self._read(min(left, PIECE_BYTES))
            left -= len(piece)
            self.is_finished = not left
            yield piece

    def _chunks(self) -> Iterator[bytes]:
        while size := self._size():
            while size:
                piece = self._read(min(size, PIECE_BYTES))
                size -= len(piece)
                yield piece
            if self._line():
                raise Torn("a chunk has another length than it says")
        for _ in range(_LINES):
            if not self._line():
                break
        self.is_finished = True

    def _size(self) -> int:
        text = self._line().partition(b";")[0].strip()
        if not re.fullmatch(rb"[0-9a-fA-F]{1,15}", text):
            raise Torn("a chunk without a length")
        return int(text, 16)

    def _line(self) -> bytes:
        line = self._source.readline(_LINE_BYTES)
        if not line.endswith(b"\n"):
            raise Torn("the body ended within a line")
        return line.rstrip(b"\r\n")

    def _read(self, size: int) -> bytes:
        # One call of the system at most: what is there is passed on, not collected.
        piece = self._source.read1(size)
        if not piece:
            raise Torn("the body ended too early")
        return piece
