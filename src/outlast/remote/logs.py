"""What the script printed, from a server: as one text, or as events that lose and repeat nothing."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from outlast.errors import OutlastError, PlatformError
from outlast.inside.net.connection import Unreachable
from outlast.remote.refusals import failure, unreachable
from outlast.remote.runs import OUTAGE_S, locate
from outlast.remote.server import Query, Server, part_of, server_of
from outlast.settings import Settings

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 2.0


class Event(NamedTuple):
    """One server-sent event, and the cursor after it."""

    kind: str
    data: str
    cursor: str


def read_logs(
    settings: Settings, ref: str, *, stint: int | None = None, follow: bool = False, node: int = 0
) -> Iterator[bytes]:
    server, run = server_of(settings), locate(settings, ref).run
    path, query = f"/runs/{part_of(run)}/logs", [("stint", stint), ("node", node or None)]
    try:
        if follow:
            # Whether there is such a stint is asked first: a stream would wait for it.
            with server.opened("GET", path, [("Range", "bytes=0-0")], query=query, accepts=(416,)) as response:
                response.read()
            yield from _follow(server, run, query)
            return
        with server.opened("GET", path, query=query) as response:
            yield from response.pieces()
    except Unreachable as error:
        raise unreachable(server.url, str(error)) from None


def _follow(server: Server, run: str, query: Query) -> Iterator[bytes]:
    """The output until the run (or that stint) is over, through as many connections as it takes."""
    cursor, pause_s = "", _FIRST_PAUSE_S
    away_at: float | None = None
    while True:
        try:
            for event in _events(server, run, query, cursor):
                away_at, pause_s, cursor = None, _FIRST_PAUSE_S, event.cursor
                if event.kind == "end":
                    return
                if event.kind == "error":
                    raise _failure(event.data)
                if event.kind == "message":
                    yield base64.b64decode(json.loads(event.data)["base64"])
            trouble: OutlastError = unreachable(server.url, "the connection was closed")
        except Unreachable as error:
            trouble = unreachable(server.url, str(error))
        except PlatformError as error:
            if not error.retryable:
                raise
            trouble = error
        # The server is being restarted, or the network is away: the cursor says where to go on.
        away_at = away_at or time.monotonic()
        if time.monotonic() - away_at > OUTAGE_S:
            raise trouble
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _events(server: Server, run: str, query: Query, cursor: str) -> Iterator[Event]:
    query = [*query, ("encoding", "base64")]
    again = [("Last-Event-ID", cursor)] if cursor else []
    path = f"/runs/{part_of(run)}/logs/stream"
    with server.opened("GET", path, again, query=query, is_stream=True) as response:
        yield Event("open", "", cursor)  # the server is there, also while the script says nothing
        yield from read_events(response.pieces(), cursor)


def read_events(pieces: Iterable[bytes], cursor: str = "") -> Iterator[Event]:
    """The events of a stream. One that was cut off before its empty line is none."""
    kind, data, rest = "message", "", b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in map(bytes.decode, lines):
            name, _, value = line.partition(": ")
            if name == "id":
                cursor = value
            elif name == "event":
                kind = value
            elif name == "data":
                data = value
            elif not line:
                if data:
                    yield Event(kind, data, cursor)
                kind, data = "message", ""


def _failure(data: str) -> OutlastError:
    told = json.loads(data)
    return failure(str(told.get("state", "")), str(told.get("message", "")))
