"""Looking into a repository over REST: one commit with its changes, previews, pictures, and the runs that used it."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from outlast.errors import UsageError
from outlast.hub.bare import SYMLINK
from outlast.hub.diffs import read_changes
from outlast.hub.gitprocess import PLAIN_LIMIT_BYTES
from outlast.model.query import RunQuery
from outlast.server.answers import answer
from outlast.server.auth import Current
from outlast.server.holding import Held
from outlast.server.hub.files import InRepository, Revision, find_content
from outlast.server.hub.visits import Opened, visitor_of
from outlast.server.paging import MOST_ROWS
from outlast.server.previews import PICTURE_HEAD_BYTES, PREVIEW_BYTES, picture_type, preview
from outlast.server.ranges import sends
from outlast.server.ready import Asked

router = APIRouter(prefix="/repositories/{owner}/{name}", tags=["repositories"])

#: The largest picture that a page shows.
PICTURE_BYTES = 8 << 20


@router.get("/commits/{commit}", summary="Show a commit")
def show_commit(actor: Current, shared: Opened, owner: str, name: str, commit: str) -> Response:
    """Who changed what, and the lines: of texts that are not too large; of LFS files their sizes."""
    bare = shared.hub.bare(shared.hub.find(visitor_of(actor), owner, name))
    found = bare.log(bare.commit(commit), limit=1)[0]
    return answer({**dataclasses.asdict(found), **read_changes(bare, found.id)})


@router.get("/preview", summary="Look at a file of a repository")
def preview_file(
    actor: Current, shared: Opened, owner: str, name: str, path: InRepository, revision: Revision = ""
) -> Response:  # fmt: skip
    """The beginning of a file as a text, JSON, a table or a picture. `editable`: it is a whole text kept by git."""
    item, size_bytes, read = find_content(shared, actor, owner, name, revision, path)
    head = read(0, min(size_bytes, PREVIEW_BYTES)) if size_bytes else b""
    found: dict[str, Any] = preview(path, head, size_bytes)
    in_git = size_bytes == item.size_bytes
    is_plain = in_git and not found["cut"] and item.mode != SYMLINK and size_bytes <= PLAIN_LIMIT_BYTES
    text = _text(head) if is_plain else None
    return answer({**found, "path": path, "lfs": not in_git, "editable": text is not None, "source": text})


@router.get("/picture", summary="Show a picture of a repository", **sends("image/png", by_range=False))
async def show_picture(
    request: Request, actor: Current, shared: Opened, owner: str, name: str, path: InRepository, revision: Revision = ""
) -> Response:
    """A PNG, JPEG, GIF, BMP or WebP as what it is, for pages; known by its first bytes, never by its name."""
    item, size_bytes, read = await run_in_threadpool(find_content, shared, actor, owner, name, revision, path)
    if size_bytes > PICTURE_BYTES:
        raise UsageError(f"{path} is too large to be shown", hint="download it instead")
    head = await run_in_threadpool(read, 0, min(size_bytes, PICTURE_HEAD_BYTES)) if size_bytes else b""
    kind = picture_type(head)
    if kind is None:
        raise UsageError(f"{path} is no picture", hint="download it instead")
    tag = f'"{item.oid}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(await run_in_threadpool(read, 0, size_bytes), headers=headers, media_type=kind)


@router.get("/runs", summary="List the runs that used a repository")
def list_uses(
    actor: Current, shared: Opened, held: Held, owner: str, name: str,
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 50,
    cursor: Annotated[str, Query(max_length=500)] = "",
) -> Response:  # fmt: skip
    """The runs that you may see whose code or inputs are from here, newest first; `uses` says which revisions.

    Those from before a renaming too; what another repository was called so did is not among them.
    """
    found = shared.hub.find(visitor_of(actor), owner, name)
    tenures = shared.hub.tenures(found)
    page = orjson.loads(held.runs.used(Asked(actor.sees, RunQuery(), limit, cursor), tenures))
    for run in page["runs"]:
        moment = run["created_at"]
        run["uses"] = [each for each in run["assets"] if any(one.covers(each, moment) for one in tenures)]
    return answer(page)


def _text(head: bytes) -> str | None:
    """A whole text that a browser's field gives back byte by byte; None for every other file."""
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if "\0" not in text and "\r" not in text else None
