"""The folder of a run as it lies in the store: for clients that read a run as they would at home."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from outlast.errors import NotFoundError
from outlast.inside import layout
from outlast.inside.errors import InsideError, NotFound
from outlast.inside.records import Manifest
from outlast.inside.stores.base import check_key
from outlast.operations.faults import spoken
from outlast.operations.locate import Located
from outlast.server.answers import answer
from outlast.server.auth import Current
from outlast.server.bodies import Sha256
from outlast.server.holding import Held
from outlast.server.ranges import by_pieces, send_part, sends

router = APIRouter(tags=["folder"])

#: Segments of one answer: enough for minutes of output, little enough to be held in memory.
_SEGMENTS_BYTES = 4 << 20
_REMEMBERED = 4096
_BYTES = sends("application/octet-stream")


@router.get("/runs/{run}/folder", summary="List the run folder")
def list_folder(
    actor: Current, held: Held, run: str,
    prefix: Annotated[str, Query(max_length=1024, description="like stints/0001/log/")] = "",
) -> Response:  # fmt: skip
    """The keys of the run folder that begin with `prefix`, sorted, each relative to the folder."""
    found = held.seen(actor, run)
    base = layout.run_prefix(found.run)
    with spoken(f"folder of {found.run}"):
        there = [
            {"key": entry.key[len(base) :], "size_bytes": entry.size_bytes, "modified_at": entry.modified_at}
            for entry in found.store.list(base + prefix)
        ]
    return answer({"run": found.run, "store": found.url, "entries": there})


@router.get("/runs/{run}/folder/{path:path}", summary="Read a file of the run folder", **_BYTES)
async def get_document(request: Request, actor: Current, held: Held, run: str, path: str) -> Response:
    """One document or segment. The token that a stint's runner is known by is left empty."""
    found = await run_in_threadpool(held.seen, actor, run)
    data = await run_in_threadpool(_document, found, path)

    def read(start: int, length: int) -> bytes:
        return data[start : start + length]

    return send_part(request, len(data), by_pieces(read), media_type="application/octet-stream")


@router.get("/runs/{run}/segments", summary="Read segments", **sends("application/octet-stream", by_range=False))
def get_segments(
    actor: Current, held: Held, run: str,
    stint: Annotated[int, Query(ge=1, le=10**6)] = 1,
    kind: Literal["log", "metrics"] = "log",
    first: Annotated[int, Query(ge=1, le=10**9)] = 1,
) -> Response:  # fmt: skip
    """Segments of a stint's output or metrics from a number on, some megabytes of them.

    Before each stands a line with its number and its size in bytes. Nothing means: there is no such segment yet.
    """
    found = held.seen(actor, run)
    key_of = layout.log_key if kind == "log" else layout.metrics_key
    body = bytearray()
    number = first
    with spoken(f"{kind} of {found.run}"):
        while len(body) < _SEGMENTS_BYTES:
            try:
                data = found.store.get(key_of(found.run, stint, number))
            except NotFound:
                break
            body += b"%d %d\n" % (number, len(data)) + data
            number += 1
    return Response(bytes(body), media_type="application/octet-stream")


@router.get("/runs/{run}/blobs/{sha256}", summary="Read a blob of a run", **_BYTES)
async def get_blob(request: Request, actor: Current, held: Held, run: str, sha256: Sha256) -> Response:
    """Bytes by their digest: those that the code, a checkpoint or the outputs of this run name, and no others."""
    found = await run_in_threadpool(held.seen, actor, run)
    size_bytes = await run_in_threadpool(_size_of_blob, found, sha256)
    pieces = by_pieces(lambda start, length: found.store.get_range(layout.blob_key(sha256), start, length))
    return send_part(request, size_bytes, pieces, media_type="application/octet-stream", tag=f'"{sha256}"')


def _document(found: Located, path: str) -> bytes:
    try:
        data = found.store.get(layout.run_prefix(found.run) + check_key(path))
    except InsideError as error:
        if isinstance(error, NotFound) or not _is_key(path):
            raise NotFoundError(f"no {path!r} in the folder of {found.run}") from None
        raise
    if not path.endswith(("/order.json", "/claim.json")):
        return data
    return json.dumps({**json.loads(data), "token": ""}).encode()


def _is_key(path: str) -> bool:
    try:
        return bool(check_key(path))
    except InsideError:
        return False


def _size_of_blob(found: Located, sha256: str) -> int:
    with spoken(f"blobs of {found.run}"):
        if _NAMED.has(found, sha256):
            entry = found.store.head(layout.blob_key(sha256))
            if entry is not None:
                return entry.size_bytes
    raise NotFoundError(f"run {found.run} names no blob {sha256}")


class _Named:
    """The digests that documents name. Neither a manifest nor a spec is ever rewritten, so each is read once."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, frozenset[str]] = OrderedDict()
        self._lock = threading.Lock()

    def has(self, found: Located, sha256: str) -> bool:
        run = found.run
        checkpoints = [entry.key for entry in found.store.list(layout.checkpoints_prefix(run))]
        keys = [layout.spec_key(run), layout.outputs_key(run), *reversed(checkpoints)]
        return any(sha256 in self._digests(found, key) for key in keys)

    def _digests(self, found: Located, key: str) -> frozenset[str]:
        name = f"{found.url} {key}"
        with self._lock:
            known = self._kept.get(name)
        if known is not None:
            return known
        try:
            data = found.store.get(key)
        except NotFound:
            return frozenset()  # it may come
        digests = _named_in(key, data)
        with self._lock:
            self._kept[name] = digests
            while len(self._kept) > _REMEMBERED:
                self._kept.popitem(last=False)
        return digests


def _named_in(key: str, data: bytes) -> frozenset[str]:
    if key.endswith("/spec.json"):
        spec: dict[str, Any] = json.loads(data)
        return frozenset({str((spec.get("code") or {}).get("sha256", ""))})
    return frozenset(str(file["sha256"]) for file in Manifest.from_bytes(data).files.values())


_NAMED = _Named()
