"""The first message of a WebSocket, and no more: Xihe tells the log of a running instance nowhere else."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import socket
import ssl
import struct
from collections.abc import Iterable
from typing import IO, Any

from outlast.errors import Unavailable
from outlast.inside.net.http import Http

_TIMEOUT_S = 20.0
#: A log is sent whole; what is longer than this is not read.
_MOST_BYTES = 64 << 20
_CONTINUATION, _TEXT, _CLOSE, _PING, _PONG = 0, 1, 8, 9, 10


def read_message(http: Http, target: str, headers: Iterable[tuple[str, str]]) -> Any:
    """The `data` of the first message that an address sends; the connection is closed behind it."""
    try:
        with contextlib.closing(_connect(http)) as line, line.makefile("rb") as stream:
            line.sendall(_request(http, target, headers))
            status = stream.readline(1024)
            while stream.readline(8192).strip():
                pass
            if b" 101 " not in status:
                raise Unavailable(
                    f"{http.url} opens no WebSocket at {target}: {status.decode('latin-1')[:80]}", why="down"
                )
            body = json.loads(_first_text(line, stream))
    except (OSError, ValueError, struct.error) as error:
        raise Unavailable(f"the WebSocket at {http.url}{target} broke: {error}", why="down") from None
    return body.get("data", body) if isinstance(body, dict) else None


def _connect(http: Http) -> socket.socket:
    line = socket.create_connection((http.host, http.port), timeout=_TIMEOUT_S)
    return ssl.create_default_context().wrap_socket(line, server_hostname=http.host) if http.secure else line


def _request(http: Http, target: str, headers: Iterable[tuple[str, str]]) -> bytes:
    own = dict(headers)
    lines = [f"GET {target} HTTP/1.1", f"Host: {http.authority}", "Upgrade: websocket", "Connection: Upgrade",
             f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}", "Sec-WebSocket-Version: 13",
             # Browsers cannot send headers of their own there, so the service takes the token from this one.
             f"Sec-WebSocket-Protocol: {own.get('PRIVATE-TOKEN', '')}"]  # fmt: skip
    return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in own.items()), "", ""]).encode()


def _first_text(line: socket.socket, stream: IO[bytes]) -> bytes:
    """The payload of the first text message, put together from its frames."""
    found = bytearray()
    while True:
        is_last, opcode, payload = _frame(stream, _MOST_BYTES - len(found))
        if opcode == _PING:
            line.sendall(_masked(_PONG, payload))
        elif opcode == _CLOSE:
            raise ValueError("it was closed without a message")
        elif opcode in (_TEXT, _CONTINUATION):
            found += payload
            if is_last:
                return bytes(found)


def _frame(stream: IO[bytes], room_bytes: int) -> tuple[bool, int, bytes]:
    first, second = struct.unpack("!BB", stream.read(2))
    length = second & 0x7F
    if length >= 126:
        length = struct.unpack("!H" if length == 126 else "!Q", stream.read(2 if length == 126 else 8))[0]
    if length > room_bytes:
        raise ValueError(f"a message of more than {_MOST_BYTES >> 20} MiB")
    payload = stream.read(length)
    if len(payload) != length:
        raise ValueError("it was cut off")
    return bool(first & 0x80), first & 0x0F, payload


def _masked(opcode: int, payload: bytes) -> bytes:
    """A frame as clients must send it; the mask of zeros leaves the payload as it is."""
    return struct.pack("!BB", 0x80 | opcode, 0x80 | len(payload)) + bytes(4) + payload
