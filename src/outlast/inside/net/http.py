"""One server: its address, its idle connections, and whole requests on them."""

from __future__ import annotations

import collections
import os
import socket
import ssl
import threading
import time
from typing import Any, Deque, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union
from urllib.parse import urlsplit

from ..errors import RequestError
from .connection import CHUNK_BYTES, Body, Connection, CutOff, FilePart, Head, Stale, Steps, Unreachable
from .drive import finish

__all__ = ["Answer", "FilePart", "Head", "Http", "Response", "Unreachable"]

#: Servers drop idle connections, OBS after 30 s; younger ones are still good.
_IDLE_S = 25.0
_NAMES_KEPT_S = 60.0
#: This machine or the next one; anything that needs a router takes longer.
_NEAR_S = 0.0005

Headers = Sequence[Tuple[str, str]]
#: A body as callers give it; a binary file is sent from its current position.
Sendable = Union[Body, Tuple[Any, int]]


class Answer(NamedTuple):
    """A whole answer, with its body in memory."""

    head: Head
    body: bytes
    tries: int = 1  # more than one: an earlier try may have worked without our hearing of it

    @property
    def status(self) -> int:
        return self.head.status


class Http:
    """A server under one URL. Safe to use from several threads; connections are kept and used again."""

    def __init__(self, url: str, ca_file: str = "", verify: bool = True, timeout_s: float = 60.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise RequestError("endpoint %r is no address; write it like https://host or http://host:9000" % url)
        try:
            port = parts.port
        except ValueError:
            raise RequestError("endpoint %r has no good port" % url) from None
        self.url = url.rstrip("/")
        self.host: str = parts.hostname
        self.port: int = port or (443 if parts.scheme == "https" else 80)
        self.secure = parts.scheme == "https"
        self.base = parts.path.rstrip("/")
        self.timeout_s = timeout_s
        shown = "[%s]" % self.host if ":" in self.host else self.host
        #: The Host header: without the port where it is the usual one.
        self.authority = shown if self.port == (443 if self.secure else 80) else "%s:%d" % (shown, self.port)
        self._context = tls_context(ca_file, verify) if self.secure else None
        self._idle: Deque[Connection] = collections.deque()
        self._addresses: List[Tuple[Any, ...]] = []
        self._looked_up_at = 0.0
        self._nearest_s = 60.0
        self._lock = threading.Lock()

    def request(self, method: str, target: str, headers: Headers = (), body: Sendable = b"") -> Response:
        """Send one request and return its answer, whose body is still to be read."""
        connection, head = finish(self.exchange(method, self.head_of(method, target, headers, body), as_body(body)))
        return Response(self, connection, head, method)

    def head_of(self, method: str, target: str, headers: Headers, body: Sendable) -> bytes:
        """The bytes of a request up to its body."""
        lines = ["%s %s HTTP/1.1" % (method, target), "Host: " + self.authority]
        lines += ["%s: %s" % pair for pair in headers]
        length = length_of(body)
        if length is None:
            lines.append("Transfer-Encoding: chunked")
        elif length or method in ("PUT", "POST"):
            lines.append("Content-Length: %d" % length)
        text = "\r\n".join(lines)
        if text.count("\n") != len(lines) - 1:
            raise RequestError("a header or address of a request holds a line break")
        return text.encode("utf-8") + b"\r\n\r\n"

    def exchange(self, method: str, head: bytes, body: Body = b"") -> Steps[Tuple[Connection, Head]]:
        """Send and read up to the body of the answer.

        A kept connection that the server had closed is replaced at once for what only reads; for the rest `Stale`
        tells the caller, who knows whether a second time does harm.
        """
        while True:
            connection = self._take_idle()
            fresh = connection is None
            if connection is None:
                connection = yield from self._open()
            try:
                yield from connection.send(head, body)
                return connection, (yield from connection.receive_head())
            except CutOff as error:
                connection.close()
                if fresh:
                    raise
                if method not in ("GET", "HEAD"):
                    raise Stale(str(error)) from None
            except BaseException:
                connection.close()
                raise

    def answer(self, method: str, head: bytes, body: Body = b"") -> Steps[Answer]:
        """Send and read everything."""
        connection, got = yield from self.exchange(method, head, body)
        try:
            content = yield from connection.receive_body(got, method)
        except BaseException:
            connection.close()
            raise
        self.give_back(connection)
        return Answer(got, content)

    @property
    def is_near(self) -> bool:
        """Whether connecting takes so little time that one connection can use the whole way."""
        return self._nearest_s < _NEAR_S

    def give_back(self, connection: Connection) -> None:
        """Keep a connection whose answer has been read to its end."""
        if connection.sock is not None:
            self._idle.append(connection)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _take_idle(self) -> Optional[Connection]:
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            if time.monotonic() - connection.used_at < _IDLE_S:
                return connection
            connection.close()

    def _open(self) -> Steps[Connection]:
        connection = Connection(self.authority, self.timeout_s)
        addresses = self._look_up()
        began = time.monotonic()
        try:
            yield from connection.open(addresses, self._context, self.host)
            self._nearest_s = min(self._nearest_s, time.monotonic() - began)
        except BaseException:
            connection.close()
            raise
        return connection

    def _look_up(self) -> List[Tuple[Any, ...]]:
        with self._lock:
            if not self._addresses or time.monotonic() - self._looked_up_at > _NAMES_KEPT_S:
                try:
                    self._addresses = list(socket.getaddrinfo(self.host, self.port, 0, socket.SOCK_STREAM))
                except (OSError, UnicodeError) as error:
                    raise Unreachable("no address is known for %s: %s" % (self.host, error)) from None
                self._looked_up_at = time.monotonic()
            return self._addresses


class Response:
    """An answer whose body can be read in pieces. As a context manager it never leaks a connection."""

    def __init__(self, http: Http, connection: Connection, head: Head, method: str) -> None:
        self.status = head.status
        self.reason = head.reason
        self.head = head
        self._http = http
        self._connection = connection
        self._left = connection.body_length(head, method)
        self._finished = False
        if self._left == 0:
            self._finish()

    def __enter__(self) -> Response:
        return self

    def __exit__(self, *error: object) -> None:
        if not self._finished:
            self._connection.close()

    def header(self, name: str, default: str = "") -> str:
        return self.head.header(name, default)

    def read(self) -> bytes:
        """The rest of the body."""
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        """The body in pieces; `Unreachable` when it is cut short."""
        while not self._finished:
            piece = finish(self._next_piece())
            if piece:
                yield piece

    def _next_piece(self) -> Steps[bytes]:
        connection = self._connection
        if self._left == -1:
            piece = yield from connection.receive_chunk()
            if not piece:
                self._finish()
            return piece
        limit = CHUNK_BYTES if self._left is None else min(CHUNK_BYTES, self._left)
        piece = yield from connection.receive_some(limit)
        if self._left is not None:
            if not piece:
                connection.cut_short(0, self._left)
            self._left -= len(piece)
        if not piece or self._left == 0:
            self._finish()
        return piece

    def _finish(self) -> None:
        self._finished = True
        if self.head.keep and self._left is not None:
            self._http.give_back(self._connection)
        else:
            self._connection.close()


def length_of(body: Sendable) -> Optional[int]:
    """How long a body is; None for one that ends when it ends."""
    if isinstance(body, bytes):
        return len(body)
    if isinstance(body, FilePart):
        return body.length
    return int(body[1]) if isinstance(body, tuple) else None


def as_body(body: Sendable) -> Body:
    """A file and a length as the part of the file they mean."""
    if isinstance(body, tuple) and not isinstance(body, FilePart):
        file, length = body
        return FilePart(file.fileno(), file.tell(), int(length))
    return body


def tls_context(ca_file: str, verify: bool) -> ssl.SSLContext:
    """How a server has to prove who it is: by the system's certificates, by those of a file, or not at all."""
    try:
        context = ssl.create_default_context(cafile=os.path.expanduser(ca_file) if ca_file else None)
    except (OSError, ssl.SSLError) as error:
        raise RequestError("cannot read certificates from %s: %s" % (ca_file, error)) from None
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
