"""A revision of a repository as one file, made while it is sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

import anyio
from fastapi import APIRouter, Path, Query
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.responses import Response, StreamingResponse

from outlast.hub.archives import Form, Pieces, archive_name, open_archive, split_form
from outlast.server.auth import Actor, Current
from outlast.server.hub.visits import HubState, Opened, visitor_of
from outlast.server.ranges import attachment, sends

router = APIRouter(prefix="/repositories/{owner}/{name}", tags=["repositories"])

_TYPES: dict[Form, str] = {"zip": "application/zip", "tar.gz": "application/gzip"}
File = Annotated[str, Path(max_length=220, description="a branch, tag or commit, then .zip or .tar.gz: v1.zip")]
Lfs = Annotated[bool, Query(description="files in LFS with their content; otherwise git's pointers")]


@router.get(
    "/archive/{file:path}", summary="Download a revision", **sends("application/octet-stream", by_range=False)
)  # fmt: skip
async def get_archive(actor: Current, shared: Opened, owner: str, name: str, file: File, lfs: Lfs = False) -> Response:
    """All files of a revision in one folder, `NAME-REVISION`. The header `Outlast-Commit` says which commit it is."""
    called, form, commit, pieces = await run_in_threadpool(_open, shared, actor, owner, name, file, lfs)
    headers = {**attachment(f"{called}.{form}"), "Outlast-Commit": commit}
    return StreamingResponse(send_pieces(shared, pieces), headers=headers, media_type=_TYPES[form])


def _open(shared: HubState, actor: Actor, owner: str, name: str, file: str, lfs: bool) -> tuple[str, Form, str, Pieces]:
    repository = shared.hub.find(visitor_of(actor), owner, name)
    revision, form = split_form(file)
    commit, pieces = open_archive(shared.hub, repository, revision, form, lfs=lfs)
    return archive_name(repository, revision, commit), form, commit, pieces


async def send_pieces(shared: HubState, pieces: Pieces) -> AsyncIterator[bytes]:
    """The pieces as git makes them; a client that left does not keep git busy."""
    try:
        async with shared.places:
            async for piece in iterate_in_threadpool(pieces):
                yield piece
    finally:
        with anyio.CancelScope(shield=True):
            await run_in_threadpool(pieces.close)
