"""Files of repositories at Xihe's own addresses, as the newest commit has them."""

from __future__ import annotations

import base64
import time
from pathlib import PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from outlast.errors import NotFoundError
from outlast.hub.archives import open_archive
from outlast.hub.bare import Item
from outlast.hub.pointers import Pointer
from outlast.hub.repository import Repository
from outlast.inside.move.names import as_text
from outlast.model.visitor import Visitor
from outlast.server.accounts.pairs import Pairs
from outlast.server.hub.archives import send_pieces
from outlast.server.hub.files import find_content
from outlast.server.hub.trainings.access import Asking
from outlast.server.hub.trainings.desk import Desk
from outlast.server.hub.trainings.envelope import NO_TOKEN, Refusal, XiheRoute, told
from outlast.server.hub.trainings.links import LINK_S
from outlast.server.hub.trainings.repositories import Kind, find
from outlast.server.hub.visits import Opened
from outlast.server.ranges import attachment, by_pieces, send_part
from outlast.server.state import state_of

router = APIRouter(prefix="/v1", route_class=XiheRoute, include_in_schema=False)

_EVERYBODY = Visitor("", sees_all=True)


@router.get("/repo/{kind}/{user}/{name}")
async def download_all(desk: Asking, kind: Kind, user: str, name: str) -> Response:
    """Everything as a zip, made while it is sent; files in LFS with their content."""
    repository = await run_in_threadpool(find, desk, kind, user, name)
    _, pieces = await run_in_threadpool(
        lambda: open_archive(desk.shared.hub, repository, "", "zip", lfs=repository.takes_lfs)
    )
    headers = attachment(f"{repository.name}.zip")
    return StreamingResponse(send_pieces(desk.shared, pieces), headers=headers, media_type="application/zip")


@router.get("/repo/{kind}/{user}/{name}/readme")
def has_readme(desk: Asking, kind: Kind, user: str, name: str) -> Response:
    return _told_whether(desk, find(desk, kind, user, name), "README.md")


@router.get("/repo/{kind}/{user}/{name}/app")
def has_app(desk: Asking, kind: Kind, user: str, name: str) -> Response:
    return _told_whether(desk, find(desk, kind, user, name), "inference/app.py")


@router.get("/repo/{kind}/{user}/{name}/files")
def show_all(
    desk: Asking, kind: Kind, user: str, name: str, path: Annotated[str, Query(max_length=4096)] = ""
) -> Response:
    """What a folder holds, folders first; nothing while the repository is empty."""
    repository = find(desk, kind, user, name)
    bare = desk.shared.hub.bare(repository)
    try:
        commit = bare.commit()
    except NotFoundError:
        return told([])
    items = bare.items(commit, path)
    pointers = bare.pointers(items)
    return told([_shown(each, each.oid in pointers) for each in items])


@router.get("/repo/{kind}/{user}/{name}/file/{path:path}/preview")
def preview(desk: Asking, kind: Kind, user: str, name: str, path: str) -> Response:
    """The content as text."""
    _, data = _content(desk, find(desk, kind, user, name), path)
    if isinstance(data, Pointer):
        raise Refusal("preview_lfs_file", f"{path} is kept in LFS", hint="download it")
    return Response(data, media_type="text/plain; charset=utf-8")


@router.get("/repo/{kind}/{user}/{name}/file/{path:path}")
def download(request: Request, desk: Asking, kind: Kind, user: str, name: str, path: str) -> Response:
    """The content in base64, or for a file in LFS a link that works for an hour."""
    repository = find(desk, kind, user, name)
    item, data = _content(desk, repository, path)
    if isinstance(data, bytes):
        return told({"content": base64.b64encode(data).decode(), "download_url": ""})
    called, until = as_text(PurePosixPath(item.path).name), int(time.time()) + LINK_S
    seal = Pairs(desk.state.settings.home).seal(_sealed(repository.id, data.oid, str(data.size_bytes), until))
    link = request.url_for("stream", id=repository.id, oid=data.oid, size=data.size_bytes)
    return told({"content": "", "download_url": str(link.include_query_params(name=called, expires=until, seal=seal))})


@router.get("/stream/repo/{kind}/{user}/{name}/file/{path:path}")
async def raw(request: Request, desk: Asking, kind: Kind, user: str, name: str, path: str) -> Response:
    """The bytes of a file as they are, from git or from LFS. Takes a range."""
    await run_in_threadpool(find, desk, kind, user, name)
    item, size_bytes, read = await run_in_threadpool(find_content, desk.shared, desk.actor, user, name, "", path)
    return send_part(
        request, size_bytes, by_pieces(read), media_type="application/octet-stream", tag=f'"{item.oid}"',
        headers=attachment(as_text(PurePosixPath(item.path).name)),
    )  # fmt: skip


@router.get("/stream/repo/{id}/{oid}/{size}", name="stream")
async def stream(
    request: Request, shared: Opened, id: str, oid: str, size: str, name: str = "file", expires: int = 0, seal: str = ""
) -> Response:  # fmt: skip
    """The bytes of a file in LFS behind a link."""
    pairs = Pairs(state_of(request).settings.home)
    if not pairs.is_sealed(_sealed(id, oid, size, expires), seal) or time.time() > expires:
        raise Refusal(NO_TOKEN, "this link has run out, or was changed", status=401)
    pointer = Pointer(oid, int(size))
    everything = await run_in_threadpool(shared.hub.list, _EVERYBODY)
    found = next((each for each in everything if each.id == id), None)
    if found is None or not await run_in_threadpool(shared.hub.objects(found).has, pointer):
        raise NotFoundError("the file is gone")
    objects = shared.hub.objects(found)
    return send_part(
        request, pointer.size_bytes, by_pieces(lambda start, length: objects.read(pointer, start, length)),
        media_type="application/octet-stream", tag=f'"{oid}"', headers=attachment(name),
    )  # fmt: skip


def _told_whether(desk: Desk, repository: Repository, path: str) -> Response:
    bare = desk.shared.hub.bare(repository)
    try:
        found = bare.items(bare.commit(), path)
    except NotFoundError:
        found = []
    return told({"has_file": len(found) == 1 and found[0].path == path and not found[0].is_folder})


def _sealed(id: str, oid: str, size: str, until: int) -> str:
    return f"lfs {id} {oid} {size} {until}"


def _content(desk: Desk, repository: Repository, path: str) -> tuple[Item, bytes | Pointer]:
    """A file of the newest commit: its bytes, or what it stands for."""
    bare = desk.shared.hub.bare(repository)
    found = bare.items(bare.commit(), path)
    if len(found) != 1 or found[0].path != path.strip("/") or found[0].size_bytes is None:
        raise Refusal("unavailable_repo_file", f"{path or '/'} is a folder", hint="name one file in it")
    pointer = bare.pointer(found[0])
    return found[0], bare.read(found[0].oid) if pointer is None else pointer


def _shown(item: Item, is_lfs: bool) -> dict[str, Any]:
    path = as_text(item.path)
    return {"path": path, "name": path.rpartition("/")[2], "is_dir": item.is_folder, "is_lfs_file": is_lfs}
