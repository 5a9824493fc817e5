"""HTTP/1.1 messages as a proxy reads and writes them."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from typing import BinaryIO

PIECE_BYTES = 1 << 16


class Head:
    """The first line and the headers of a message, and what they say about its body."""

    def __init__(self, first: str, headers: list[tuple[str, str]]) -> None:
        self.first = first
        self.headers = headers

    @classmethod
    def read(cls, reader: BinaryIO) -> Head | None:
        first = reader.readline().decode("latin-1").rstrip("\r\n")
        if not first:
            return None
        headers = []
        while line := reader.readline().decode("latin-1").rstrip("\r\n"):
            name, _, value = line.partition(":")
            headers.append((name, value.strip()))
        return cls(first, headers)

    @property
    def status(self) -> int:
        return int(self.first.split(" ", 2)[1])

    @property
    def length(self) -> int | None:
        text = self.value("content-length")
        return int(text) if text else None

    @property
    def is_chunked(self) -> bool:
        return self.value("transfer-encoding").lower() == "chunked"

    def value(self, name: str) -> str:
        return next((value for each, value in self.headers if each.lower() == name), "")

    def remove(self, name: str) -> None:
        self.headers = [(each, value) for each, value in self.headers if each.lower() != name]

    def set(self, name: str, value: str) -> None:
        self.remove(name.lower())
        self.headers.append((name, value))

    def is_framed(self, method: str) -> bool:
        """The answer's end can be seen without closing the connection."""
        return self._is_bodiless(method) or self.is_chunked or self.length is not None

    def _is_bodiless(self, method: str) -> bool:
        return self.first.startswith("HTTP/") and (method == "HEAD" or self.status in (204, 304))

    def body(self, reader: BinaryIO, method: str = "") -> Iterator[bytes]:
        """The payload, without the framing of chunks; an answer without a length goes on to the end."""
        if self._is_bodiless(method):
            return iter(())
        if self.is_chunked:
            return _chunks(reader)
        until_end = 1 << 62 if self.first.startswith("HTTP/") else 0
        return _exactly(reader, until_end if self.length is None else self.length)

    def send(self, target: socket.socket, pieces: Iterable[bytes]) -> None:
        lines = [self.first, *(f"{name}: {value}" for name, value in self.headers), "", ""]
        target.sendall("\r\n".join(lines).encode("latin-1"))
        for piece in filter(None, pieces):  # an empty chunk would end the body
            target.sendall(b"%x\r\n%b\r\n" % (len(piece), piece) if self.is_chunked else piece)
        if self.is_chunked:
            target.sendall(b"0\r\n\r\n")


def _exactly(reader: BinaryIO, length: int) -> Iterator[bytes]:
    while length and (piece := reader.read1(min(length, PIECE_BYTES))):  # type: ignore[attr-defined]
        length -= len(piece)
        yield piece


def _chunks(reader: BinaryIO) -> Iterator[bytes]:
    while size := int(reader.readline().split(b";")[0], 16):
        yield from _exactly(reader, size)
        reader.readline()
    while reader.readline().strip():
        pass  # trailers are not handed on
