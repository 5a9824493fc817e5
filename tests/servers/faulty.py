"""A proxy on loopback that spoils what passes between a client and an HTTP server, as it was told to.

with Faulty(server.endpoint) as proxy:
    proxy.add(slow_down(method="PUT", times=3), cut(path="/big"))
    ...                       # use proxy.url in place of server.endpoint
    assert [seen.fault for seen in proxy.seen] == ["answer 503", ...]

The head of a request arrives as it was sent, Host included, so signatures stay valid.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import BinaryIO, NamedTuple
from urllib.parse import urlsplit

from servers.faults import Fault
from servers.messages import PIECE_BYTES, Head

_REASONS = {403: "Forbidden", 429: "Too Many Requests", 500: "Internal Server Error", 503: "Slow Down"}


class Seen(NamedTuple):
    """One request that came to the proxy."""

    number: int  # from 1, in the order in which their heads were read
    method: str
    target: str
    fault: str  # the kind of fault it met; empty: none


class _Dropped(Exception):
    """The connection to the client is to be cut now."""


class Faulty:
    """The proxy. Faults are tried in the order they were added; each request meets at most one."""

    def __init__(self, upstream: str, relocate: Mapping[str, str] | None = None) -> None:
        """`relocate` swaps `host:port` in Location headers, so that redirects come back through another proxy."""
        parts = urlsplit(upstream)
        assert parts.scheme == "http" and parts.hostname, upstream
        self._upstream = (parts.hostname, parts.port or 80)
        self._relocate = dict(relocate or {})
        self._faults: list[Fault] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._clients: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self.seen: list[Seen] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.authority = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.url = "http://" + self.authority
        self._start(self._accept)

    def add(self, *faults: Fault) -> None:
        """More faults, after those that wait already. Safe while requests pass."""
        with self._lock:
            self._faults.extend(faults)

    def clear(self) -> None:
        """From now on nothing is spoiled; `seen` starts afresh."""
        with self._lock:
            self._faults.clear()
            self.seen.clear()

    @property
    def waiting(self) -> list[Fault]:
        """Faults that no request has used up yet."""
        with self._lock:
            return [fault for fault in self._faults if fault.left]

    def close(self) -> None:
        """Cut every connection and end every thread."""
        self._closing.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            clients, threads = list(self._clients), list(self._threads)
        for client in clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(timeout=150)

    def __enter__(self) -> Faulty:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, target: object, *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)  # type: ignore[arg-type]
        with self._lock:
            self._threads = [*(each for each in self._threads if each.is_alive()), thread]
            thread.start()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._clients.add(client)
            self._start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        reader = client.makefile("rb", PIECE_BYTES)
        try:
            while not self._closing.is_set() and self._exchange(client, reader):
                pass
        except (_Dropped, OSError):
            pass
        finally:
            reader.close()
            client.close()
            with self._lock:
                self._clients.discard(client)

    def _exchange(self, client: socket.socket, reader: BinaryIO) -> bool:
        """One request and its answer; True when the connection can carry another."""
        head = Head.read(reader)
        if head is None:
            return False
        method, target, _ = head.first.split(" ", 2)
        fault = self._next_fault(method, target)
        if fault.kind == "drop":
            raise _drop(client, fault)
        if fault.kind == "answer" and fault.early:
            client.sendall(_answer(fault, keep=False))
            return False
        if head.value("expect"):
            client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            head.remove("expect")
        body = head.body(reader)
        if fault.kind == "answer":
            for _ in body:
                pass
            client.sendall(_answer(fault, keep=True, bodiless=method == "HEAD"))
            return True
        if fault.kind == "stall":
            self._stall(client, fault)
        with socket.create_connection(self._upstream, timeout=300) as server:
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            on_the_way = fault if fault.kind == "corrupt request" else _HARMLESS
            head.send(server, self._spoil(client, body, on_the_way, head.length))
            with server.makefile("rb", PIECE_BYTES) as answers:
                return self._answer(client, answers, fault, method)

    def _answer(self, client: socket.socket, answers: BinaryIO, fault: Fault, method: str) -> bool:
        """Hand the server's answer on."""
        answer = Head.read(answers)
        while answer is not None and answer.status == 100:
            answer = Head.read(answers)
        if answer is None:
            return False
        if fault.kind == "drop after":
            for _ in answer.body(answers, method):
                pass
            raise _drop(client, fault)
        if location := answer.value("location"):
            for old, new in self._relocate.items():
                location = location.replace(f"//{old}/", f"//{new}/")
            answer.set("Location", location)
        if fault.kind == "date":
            answer.set("Date", fault.date)
        body = answer.body(answers, method)
        if fault.kind == "stall after":
            self._stall(client, fault)
        if fault.kind == "rephrase":
            body = _rephrased(answer, body, fault)
        if fault.kind == "truncate" and answer.length:
            body = _first(body, fault.offset(answer.length))
            answer.set("Content-Length", str(fault.offset(answer.length)))
        answer.send(client, self._spoil(client, body, fault, answer.length))
        return answer.value("connection").lower() != "close" and answer.is_framed(method)

    def _next_fault(self, method: str, target: str) -> Fault:
        with self._lock:
            number = len(self.seen) + 1
            fault = next((each for each in self._faults if each.takes(number, method, target)), _HARMLESS)
            self.seen.append(Seen(number, method, target, fault.name))
            return fault

    def _spoil(
        self, client: socket.socket, pieces: Iterable[bytes], fault: Fault, length: int | None
    ) -> Iterator[bytes]:
        """The body with the fault in it."""
        offset, at = fault.offset(length), 0
        for piece in pieces:
            inside = at <= offset < at + len(piece)
            if fault.kind.startswith("corrupt") and inside:
                spoilt = bytearray(piece)
                spoilt[offset - at] ^= 0x20
                yield bytes(spoilt)
            elif fault.kind in ("cut", "stall in body") and inside:
                yield piece[: offset - at]
                if fault.kind == "cut":
                    raise _drop(client, fault)
                self._stall(client, fault)
                yield piece[offset - at :]
            elif fault.kind == "drip":
                for start in range(0, len(piece), fault.piece_bytes):
                    yield piece[start : start + fault.piece_bytes]
                    self._closing.wait(fault.pause_s)
            else:
                yield piece
            at += len(piece)

    def _stall(self, client: socket.socket, fault: Fault) -> None:
        """Until the fault is released (then all goes on) or the client has gone."""
        fault.reached.set()
        while not fault.released.wait(0.02):
            readable, _, _ = select.select([client], [], [], 0)
            if self._closing.is_set() or (readable and not client.recv(1, socket.MSG_PEEK)):
                raise _Dropped


_HARMLESS = Fault("")


def _rephrased(answer: Head, pieces: Iterable[bytes], fault: Fault) -> Iterable[bytes]:
    old, new = (word.encode() for word in fault.words)
    body = b"".join(pieces).replace(old, new)
    if answer.length is not None:
        answer.set("Content-Length", str(len(body)))
    return [body]


def _first(pieces: Iterable[bytes], count: int) -> Iterator[bytes]:
    for piece in pieces:
        if piece := piece[:count]:
            yield piece
        count -= len(piece)


def _drop(client: socket.socket, fault: Fault) -> _Dropped:
    if fault.reset:
        # Closing sends RST and throws away what was not delivered yet.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return _Dropped()


def _answer(fault: Fault, keep: bool, bodiless: bool = False) -> bytes:
    body = fault.body.encode()
    lines = [
        f"HTTP/1.1 {fault.status} {_REASONS.get(fault.status, 'Fault')}",
        f"Content-Length: {len(body)}",
        "Content-Type: application/xml",
        *(f"{name}: {value}" for name, value in fault.headers),
        *([] if keep else ["Connection: close"]),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + (b"" if bodiless else body)
