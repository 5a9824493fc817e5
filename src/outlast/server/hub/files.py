"""Files of a repository over REST: what a revision holds, and the bytes of one file, from git or from LFS."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from outlast.errors import NotFoundError, UsageError
from outlast.hub.bare import Bare, Item
from outlast.hub.pointers import Pointer
from outlast.inside.move.names import as_text
from outlast.server.answers import answer
from outlast.server.auth import Actor, Current
from outlast.server.hub.visits import HubState, Opened, visitor_of
from outlast.server.ranges import Read, attachment, by_pieces, send_part, sends

router = APIRouter(prefix="/repositories/{owner}/{name}", tags=["repositories"])

Revision = Annotated[str, Query(max_length=200, description="branch, tag or commit; the default branch when left out")]
InRepository = Annotated[str, Query(max_length=4096, description="like configs/base.yaml")]


@router.get("/items", summary="List files of a repository")
def list_items(
    actor: Current, shared: Opened, owner: str, name: str, revision: Revision = "", path: InRepository = "",
    recursive: bool = False,
) -> Response:  # fmt: skip
    """What a folder of a revision holds, folders first; sizes of LFS files are those of their content."""
    repository = shared.hub.find(visitor_of(actor), owner, name)
    bare = shared.hub.bare(repository)
    commit = bare.commit(revision)
    items = bare.items(commit, path, recursive=recursive)
    pointers = bare.pointers(items)
    return answer({"commit": commit, "items": [_shown(each, pointers.get(each.oid)) for each in items]})


@router.get("/file", summary="Download a file of a repository", **sends("application/octet-stream"))
async def get_file(
    request: Request, actor: Current, shared: Opened, owner: str, name: str, path: InRepository, revision: Revision = ""
) -> Response:
    """The bytes of one file, whether git or LFS keeps it. Takes a range."""
    found = await run_in_threadpool(find_content, shared, actor, owner, name, revision, path)
    item, size_bytes, read = found
    return send_part(
        request, size_bytes, by_pieces(read), media_type="application/octet-stream", tag=f'"{item.oid}"',
        headers=attachment(as_text(PurePosixPath(item.path).name)),
    )  # fmt: skip


def find_content(
    shared: HubState, actor: Actor, owner: str, name: str, revision: str, path: str
) -> tuple[Item, int, Read]:
    """A file of a repository that may be seen: what git has of it, its size, and how its bytes are read."""
    repository = shared.hub.find(visitor_of(actor), owner, name)
    bare = shared.hub.bare(repository)
    item = _file(bare, bare.commit(revision), path)
    pointer = bare.pointer(item)
    if pointer is None:
        data = bare.read(item.oid)
        return item, len(data), lambda start, length: data[start : start + length]
    objects = shared.hub.objects(repository)
    if not objects.has(pointer):
        raise NotFoundError(f"the content of {path} was never uploaded", hint="send it: git lfs push --all origin")
    return item, pointer.size_bytes, lambda start, length: objects.read(pointer, start, length)


def _file(bare: Bare, commit: str, path: str) -> Item:
    found = bare.items(commit, path)
    if len(found) != 1 or found[0].path != path.strip("/") or found[0].size_bytes is None:
        raise UsageError(f"{path or '/'} is a folder", hint="name one file in it")
    return found[0]


def _shown(item: Item, pointer: Pointer | None) -> dict[str, Any]:
    size_bytes = pointer.size_bytes if pointer is not None else item.size_bytes
    kind = "folder" if item.is_folder else "file"
    return {"path": as_text(item.path), "kind": kind, "size_bytes": size_bytes, "lfs": pointer is not None}
