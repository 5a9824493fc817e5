"""Connections of the null server: HTTP/1.1 without blocking, bodies dropped, objects sent from memory."""

from __future__ import annotations

import os
import socket
import ssl

from bench.answers import READ_UP_TO_BYTES, Answer, Answers, Request
from bench.datasets import BLOCK_BYTES, Block

_SCRATCH = memoryview(bytearray(4 << 20))
_BY_COPY_BYTES = 256 << 10


class Connection:
    """One client. `readable` and `writable` do what can be done now; False from them: it is over."""

    def __init__(self, sock: socket.socket, answers: Answers, block: Block) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = sock
        self._answers = answers
        self._block = block
        self._arrived = b""
        self._request: Request | None = None
        self._to_drop = 0
        self._chunked = self._in_trailers = False
        self._sending: Answer | None = None
        self._sent = 0

    @property
    def is_sending(self) -> bool:
        return self._sending is not None

    def readable(self) -> bool:
        try:
            if self._to_drop:
                count = self.drop(min(self._to_drop, len(_SCRATCH)))
                self._to_drop -= count
                if not self._to_drop and not self._chunked:
                    self._answer(b"")
                return count > 0
            # Into memory that is there already: a fresh buffer of this size costs more than the request.
            data = bytes(_SCRATCH[: self.sock.recv_into(_SCRATCH, READ_UP_TO_BYTES * 2)])
        except (BlockingIOError, ssl.SSLWantReadError):
            return True
        self._arrived = self._arrived + data if self._arrived else data
        if data:
            self._advance()
        return bool(data)

    def drop(self, count: int) -> int:
        """Read so many bytes into nowhere: with MSG_TRUNC they are not even copied."""
        return self.sock.recv_into(_SCRATCH, count, socket.MSG_TRUNC)

    def _advance(self) -> None:
        """Make of what arrived as much as can be made."""
        if self._chunked:
            return self._skip_chunks()
        if self._request is None:
            end = self._arrived.find(b"\r\n\r\n")
            if end < 0:
                return None
            self._request = _parse(self._arrived[:end].decode("latin-1"))
            self._arrived = self._arrived[end + 4 :]
            if "expect" in self._request.headers:
                self.sock.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            if self._request.headers.get("transfer-encoding") == "chunked":
                self._chunked = True
                return self._skip_chunks()
        length = int(self._request.headers.get("content-length") or 0)
        # What is posted is XML that has to be read: the list of the parts of a large file is a megabyte.
        if length > READ_UP_TO_BYTES and self._request.method != "POST":
            self._to_drop = length - len(self._arrived)
            self._arrived = b""
            return None if self._to_drop else self._answer(b"")
        if len(self._arrived) >= length:
            body, self._arrived = self._arrived[:length], self._arrived[length:]
            self._answer(body)
        return None

    def _skip_chunks(self) -> None:
        """Drop a chunked body; its frames are read, what is in them is not."""
        while True:
            line, found, rest = self._arrived.partition(b"\r\n")
            if not found:
                return
            if self._in_trailers:
                self._arrived = rest
                if not line:
                    self._chunked = self._in_trailers = False
                    return self._answer(b"")
                continue
            size = int(line.split(b";")[0], 16)
            self._in_trailers = not size
            if size:
                size += 2  # the line end behind the data
            self._arrived = rest[size:]
            self._to_drop = max(0, size - len(rest))
            if self._to_drop:
                return

    def _answer(self, body: bytes) -> None:
        assert self._request is not None
        self._sending = self._answers.answer(self._request, body)
        self._request, self._sent = None, 0
        self.writable()

    def writable(self) -> None:
        """Send until all is sent or the socket is full."""
        assert self._sending is not None
        data, entry, start, length = self._sending
        total = len(data) + length
        try:
            while self._sent < total:
                if entry is None or length > _BY_COPY_BYTES or entry.fd >= 0:
                    self._sent += self._send_some(self._sending)
                else:
                    whole = b"".join((data, *self._block.pieces(entry.offset + start, length)))
                    self._sent += self.sock.send(whole[self._sent :] if self._sent else whole)
        except (BlockingIOError, ssl.SSLWantWriteError):
            return
        self._sending = None
        if self._arrived:
            self._advance()

    def _send_some(self, answer: Answer) -> int:
        if self._sent < len(answer.data):
            return self.sock.send(answer.data[self._sent :], socket.MSG_MORE if answer.entry else 0)
        assert answer.entry is not None
        done = self._sent - len(answer.data)
        return self.send_file(answer, answer.start + done, answer.length - done)

    def send_file(self, answer: Answer, position: int, count: int) -> int:
        """Send bytes of an object from memory that the kernel has already."""
        entry = answer.entry
        assert entry is not None
        if entry.fd >= 0:
            return os.sendfile(self.sock.fileno(), entry.fd, position, count)
        offset = (entry.offset + position) % BLOCK_BYTES
        return os.sendfile(self.sock.fileno(), self._block.fd, offset, min(count, BLOCK_BYTES - offset))


class TlsConnection(Connection):
    """The same over TLS, where every byte has to be copied."""

    sock: ssl.SSLSocket

    def __init__(self, sock: ssl.SSLSocket, answers: Answers, block: Block) -> None:
        super().__init__(sock, answers, block)
        self._is_open = False

    def readable(self) -> bool:
        if not self._is_open:
            try:
                self.sock.do_handshake()
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return True
            self._is_open = True
        # What the library has decrypted already is not announced by the socket.
        while super().readable():
            if not self.sock.pending() or self.is_sending:
                return True
        return False

    def drop(self, count: int) -> int:
        return self.sock.recv_into(_SCRATCH, count)

    def _send_some(self, answer: Answer) -> int:
        if self._sent < len(answer.data):
            return self.sock.send(answer.data[self._sent :])
        return super()._send_some(answer)

    def send_file(self, answer: Answer, position: int, count: int) -> int:
        entry = answer.entry
        assert entry is not None
        if entry.fd >= 0:
            return self.sock.send(os.pread(entry.fd, min(count, _BY_COPY_BYTES), position))
        return self.sock.send(next(self._block.pieces(entry.offset + position, min(count, _BY_COPY_BYTES))))


def _parse(head: str) -> Request:
    first, *lines = head.split("\r\n")
    method, target, _ = first.split(" ")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return Request(method, target, headers)
