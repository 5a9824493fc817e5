"""What passes between two processes of one server: messages of ASGI as they are, each with its length before it."""

from __future__ import annotations

import asyncio
import marshal
from collections.abc import Mapping
from typing import Any

#: A body comes in pieces of some KiB; more than this is not ours.
_MOST_BYTES = 64 << 20
_LENGTH_BYTES = 4
#: What of a request's scope says something to another process; all of it is plain values.
_SCOPE = ("type", "http_version", "method", "scheme", "path", "raw_path", "query_string", "headers", "client", "server",
          "subprotocols")  # fmt: skip

Message = dict[str, Any]


def scope_of(scope: Mapping[str, Any]) -> Message:
    """The part of a scope that travels: who asks for what, from where, by which name."""
    return {name: scope[name] for name in _SCOPE if name in scope}


async def write(writer: asyncio.StreamWriter, message: Mapping[str, Any]) -> None:
    """Send one message; waits while the other side has enough to do. `OSError` when it is gone."""
    # `marshal` knows bytes and is read without running anything; both ends are the same program.
    data = marshal.dumps(_plain(message))
    writer.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
    await writer.drain()


async def read(reader: asyncio.StreamReader) -> Message | None:
    """The next message; None when the other side is gone, be it in the middle of one."""
    try:
        length = int.from_bytes(await reader.readexactly(_LENGTH_BYTES), "big")
        if length > _MOST_BYTES:
            return None
        message: Message = marshal.loads(await reader.readexactly(length))
    except (asyncio.IncompleteReadError, OSError):
        return None
    return message


def _plain(value: Any) -> Any:
    """What `marshal` takes: mappings and sequences of any class as dicts and lists, all bytes as bytes."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, str):
        return str(value)
    return value
