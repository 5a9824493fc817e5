"""Checkpoints and outputs: what there is, one file of it, all of it as a tar."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from outlast.errors import NotFoundError
from outlast.inside import layout
from outlast.inside.checkpoints import Checkpoints
from outlast.inside.errors import NotFound
from outlast.inside.records import Manifest
from outlast.operations.faults import spoken
from outlast.operations.locate import Located
from outlast.operations.runs import show_run
from outlast.server.answers import answer
from outlast.server.archives import Stored, archive, archive_bytes
from outlast.server.auth import Actor, Current
from outlast.server.holding import Held, Holding
from outlast.server.ranges import attachment, by_pieces, send_part, sends, verified

router = APIRouter(tags=["results"])

_OUTPUTS = "outputs"
_FILE = sends("application/octet-stream")
_TAR = sends("application/x-tar", by_range=False)
_CHECKPOINT = re.compile(r"\d{4,9}-\d{6,9}")


@router.get("/runs/{run}/checkpoints", summary="List checkpoints")
def list_checkpoints(actor: Current, held: Held, run: str) -> Response:
    """Committed checkpoints, oldest first."""
    view = show_run(held.settings, held.runs.find(actor, run).id)
    return answer({"run": view.id, "checkpoints": view.checkpoints})


@router.get("/runs/{run}/checkpoints/{checkpoint}", summary="Show a checkpoint")
def get_checkpoint(actor: Current, held: Held, run: str, checkpoint: str) -> Response:
    """The files of a checkpoint with their digests, and how far the training was."""
    found = held.seen(actor, run)
    return answer(_shown(_manifest(found, checkpoint), checkpoint))


@router.get("/runs/{run}/outputs", summary="List outputs")
def list_outputs(actor: Current, held: Held, run: str) -> Response:
    """The files of the final outputs with their digests."""
    found = held.seen(actor, run)
    return answer(_shown(_manifest(found, _OUTPUTS), _OUTPUTS))


@router.get("/runs/{run}/outputs/archive", summary="Download all outputs", **_TAR)
async def archive_outputs(actor: Current, held: Held, run: str) -> Response:
    """All outputs as a tar."""
    return await _archive(held, actor, run, _OUTPUTS)


@router.get("/runs/{run}/checkpoints/{checkpoint}/archive", summary="Download a checkpoint", **_TAR)
async def archive_checkpoint(actor: Current, held: Held, run: str, checkpoint: str) -> Response:
    """A whole checkpoint as a tar."""
    return await _archive(held, actor, run, checkpoint)


@router.get("/runs/{run}/outputs/files/{path:path}", summary="Download an output", **_FILE)
async def get_output(request: Request, actor: Current, held: Held, run: str, path: str) -> Response:
    """One file. Takes a range; its entity tag is its SHA-256."""
    return await _file(request, held, actor, run, _OUTPUTS, path)


@router.get(
    "/runs/{run}/checkpoints/{checkpoint}/files/{path:path}", summary="Download a file of a checkpoint", **_FILE
)
async def get_checkpoint_file(
    request: Request, actor: Current, held: Held, run: str, checkpoint: str, path: str
) -> Response:
    """One file. Takes a range; its entity tag is its SHA-256."""
    return await _file(request, held, actor, run, checkpoint, path)


async def _archive(held: Holding, actor: Actor, run: str, which: str) -> Response:
    found = await run_in_threadpool(held.seen, actor, run)
    files = _files(await run_in_threadpool(_manifest, found, which))
    headers = {"Content-Length": str(archive_bytes(files)), **attachment(f"{found.run}-{which}.tar")}
    return StreamingResponse(archive(found.store, files), media_type="application/x-tar", headers=headers)


async def _file(request: Request, held: Holding, actor: Actor, run: str, which: str, path: str) -> Response:
    found = await run_in_threadpool(held.seen, actor, run)
    manifest = await run_in_threadpool(_manifest, found, which)
    file = next((each for each in _files(manifest) if each.path == path), None)
    if file is None:
        raise NotFoundError(f"no file {path!r} in {which} of {found.run}")
    key = layout.blob_key(file.sha256)
    pieces = by_pieces(lambda start, length: found.store.get_range(key, start, length))

    def checked(start: int, length: int) -> Any:
        whole = length == file.size_bytes
        return verified(pieces(start, length), file.sha256) if whole else pieces(start, length)

    return send_part(
        request, file.size_bytes, checked, media_type="application/octet-stream", tag=f'"{file.sha256}"',
        headers=attachment(PurePosixPath(path).name),
    )  # fmt: skip


def _manifest(found: Located, which: str) -> Manifest:
    with spoken(f"{which} of {found.run}"):
        try:
            if which == _OUTPUTS:
                return Manifest.from_bytes(found.store.get(layout.outputs_key(found.run)))
            if _CHECKPOINT.fullmatch(which):
                return Checkpoints(found.store, found.run).read(which)
        except NotFound:
            pass
    what = "outputs yet" if which == _OUTPUTS else f"checkpoint {which!r}"
    raise NotFoundError(f"run {found.run} has no {what}", hint=f"see what it has: GET /api/v1/runs/{found.run}")


def _files(manifest: Manifest) -> list[Stored]:
    return [
        Stored(path, file["sha256"], int(file["size"]), int(file.get("mode", 0o644)))
        for path, file in sorted(manifest.files.items())
    ]


def _shown(manifest: Manifest, which: str) -> dict[str, Any]:
    files = [{**file._asdict(), "mode": f"{file.mode & 0o777:04o}"} for file in _files(manifest)]
    return {
        "run": manifest.run, "id": which, "stint": manifest.stint, "created_at": manifest.created_at,
        "progress": manifest.progress, "metrics": manifest.metrics, "parent": manifest.parent, "files": files,
    }  # fmt: skip
