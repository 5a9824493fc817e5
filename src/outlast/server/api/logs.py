"""The output of a run: as text by range, and as events while it comes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from outlast.server.auth import Current
from outlast.server.encoding import LOG, LOG_BYTES, METRICS, Kind
from outlast.server.events import read_position, write_position
from outlast.server.holding import Held, Holding
from outlast.server.logtext import LogText
from outlast.server.ranges import attachment, by_pieces, send_part, sends

router = APIRouter(tags=["logs"])

Stint = Annotated[int | None, Query(ge=1, le=10**6, description="of this stint only")]
Node = Annotated[int, Query(ge=0, le=10**6, description="of this machine, when the stints have several")]
Cursor = Annotated[str, Query(max_length=64, description="go on after this; as the header Last-Event-ID")]
Again = Annotated[str, Header(alias="last-event-id", max_length=64)]
_STREAM = sends("text/event-stream", by_range=False)
_EVENTS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@router.get("/runs/{run}/logs", summary="Read the output", **sends("text/plain"))
async def get_logs(
    request: Request, actor: Current, held: Held, run: str, stint: Stint = None, node: Node = 0, download: bool = False
) -> Response:
    """What the script printed, all stints in order. Takes a range; `bytes=-65536` is the end of it.

    The header `Outlast-Cursor` is where `/logs/stream` goes on without losing or repeating anything.
    """
    text = await run_in_threadpool(lambda: LogText.read(held.seen(actor, run), stint, node))
    name = f"{text.run}.log" if stint is None else f"{text.run}-{stint:04d}.log"
    headers = {"Outlast-Cursor": write_position(text.position), **(attachment(name) if download else {})}
    media_type = "text/plain; charset=utf-8"
    return send_part(request, text.size_bytes, by_pieces(text.get), media_type=media_type, headers=headers)


@router.get("/runs/{run}/logs/stream", summary="Follow the output", **_STREAM)
async def stream_logs(
    actor: Current, held: Held, run: str, stint: Stint = None, node: Node = 0, cursor: Cursor = "",
    last_event_id: Again = "",
    encoding: Annotated[Literal["text", "base64"], Query(description="base64: byte for byte")] = "text",
) -> Response:  # fmt: skip
    """The output as server-sent events until the run is over: `{"stint", "text"}`, at last an event `end`.

    With `encoding=base64` the events hold `{"stint", "base64"}`: exactly the bytes that were written.
    """
    kind = LOG if encoding == "text" else LOG_BYTES
    return await _stream(held, actor, run, kind.of_node(node), stint, last_event_id or cursor)


@router.get("/runs/{run}/metrics/stream", tags=["metrics"], summary="Follow the metrics", **_STREAM)
async def stream_metrics(
    actor: Current, held: Held, run: str, stint: Stint = None, cursor: Cursor = "", last_event_id: Again = ""
) -> Response:
    """Metrics as server-sent events until the run is over: `{"stint", "points"}`, at last an event `end`."""
    return await _stream(held, actor, run, METRICS, stint, last_event_id or cursor)


async def _stream(held: Holding, actor: Current, run: str, kind: Kind, stint: int | None, cursor: str) -> Response:
    position = read_position(cursor)
    found = await run_in_threadpool(held.seen, actor, run)
    if stint is not None:
        position = {stint: position.get(stint, 1)}
    events: AsyncIterator[bytes] = held.watches.follow(found, kind, position, stint)
    return StreamingResponse(events, media_type="text/event-stream", headers=_EVENTS)
