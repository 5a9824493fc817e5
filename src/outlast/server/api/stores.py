"""Files in buckets, HDFS and folders: browse, preview, download, upload, make, rename, remove, link."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import AsyncIterator
from pathlib import PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from outlast.errors import UsageError
from outlast.inside.move.base import FOLDER, Item
from outlast.inside.move.names import as_text
from outlast.operations.links import sign_link
from outlast.operations.login import whoami
from outlast.operations.maps import list_maps
from outlast.operations.places import list_place, make_place, plan_removal, read_place, remove_place
from outlast.server.answers import answer
from outlast.server.api.runs import State
from outlast.server.auth import Actor, Member, Role
from outlast.server.bodies import LinkBody, PlaceBody, RenameBody
from outlast.server.fences import check_address
from outlast.server.holding import Held, Holding
from outlast.server.paging import MOST_ROWS, USUAL_ROWS, read_cursor, write_cursor
from outlast.server.placing import rename, write_file
from outlast.server.previews import PREVIEW_BYTES, preview
from outlast.server.ranges import attachment, from_thread, send_part, sends

router = APIRouter(prefix="/stores", tags=["stores"])

Address = Annotated[str, Query(max_length=4096, description="like obs://bucket/data/")]


@router.get("", summary="List known stores")
def list_stores(actor: Member, held: Held) -> Response:
    """The accesses that this server knows, never a secret, and the folders that play buckets."""
    known = whoami(held.settings, os.environ)
    accesses = [{"kind": each.kind, "profile": each.profile, "endpoint": each.endpoint} for each in known]
    return answer({"accesses": accesses, "maps": [each.address for each in list_maps(held.settings)]})


@router.get("/items", summary="Browse a store")
def list_items(
    actor: Member, held: Held, address: Address, recursive: bool = False,
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = USUAL_ROWS,
    cursor: Annotated[str, Query(max_length=8192)] = "",
) -> Response:  # fmt: skip
    """What lies at an address, sorted by name, by pages."""
    _check(held, actor, address, deep=recursive)
    listing = list_place(held.settings, address, recursive=recursive)
    rows = sorted(((as_text(listing.name(item)), item) for item in listing.items), key=lambda row: row[0])
    if cursor:
        after = read_cursor(cursor, 2)[1]
        rows = [row for row in rows if row[0] > after]
    page = rows[:limit]
    following = write_cursor("", page[-1][0]) if len(rows) > limit else None
    items = [_shown(name, item) for name, item in page]
    return answer({"address": listing.place, "items": items, "next": following, "notices": listing.notices})


@router.get("/file", summary="Download a file", **sends("application/octet-stream"))
async def get_file(request: Request, actor: Member, held: Held, address: Address) -> Response:
    """The bytes of a file. Takes a range."""
    item = await run_in_threadpool(_file_at, held, actor, address)

    def pieces(start: int, length: int) -> AsyncIterator[bytes]:
        return from_thread(read_place(held.settings, address, start=start, length=length))

    tag = item.tag.strip('"') or f"{item.modified_ns:x}-{item.size_bytes:x}"
    return send_part(
        request, item.size_bytes, pieces, media_type="application/octet-stream", tag=f'"{tag}"',
        headers=attachment(as_text(PurePosixPath(item.path).name)),
    )  # fmt: skip


@router.get("/preview", summary="Preview a file")
def preview_file(actor: Member, held: Held, address: Address) -> Response:
    """The beginning of a file as text, a table or JSON; pictures as a data address; of the rest only its size."""
    item = _file_at(held, actor, address)
    head = b"".join(read_place(held.settings, address, length=min(item.size_bytes, PREVIEW_BYTES)))
    return answer({"address": address, **preview(as_text(item.path), head, item.size_bytes)})


@router.put("/file", status_code=201, summary="Write a file")
async def put_file(request: Request, actor: Member, held: Held, state: State, address: Address) -> Response:
    """Write what is sent; large files go by parts, see uploads."""
    _check(held, actor, address, deep=True)
    size_bytes = await write_file(held.settings, address, request.stream(), held.home.cache)
    await run_in_threadpool(state.accounts.audit.add, actor.name, "store.write", address)
    return answer({"address": address, "size_bytes": size_bytes}, 201)


@router.post("/folders", status_code=201, summary="Make a folder")
def make_folder(actor: Member, held: Held, body: PlaceBody) -> Response:
    """Make a folder, or a bucket; one that is there already stays as it is."""
    _check(held, actor, body.address, deep=True)
    made, is_new = make_place(held.settings, body.address)
    return answer({"address": made, "new": is_new}, 201 if is_new else 200)


@router.post("/rename", summary="Rename a file or a folder")
def rename_item(actor: Member, held: Held, state: State, body: RenameBody) -> Response:
    """Within one bucket or HDFS; never over something that is there."""
    _check(held, actor, body.source, deep=True)
    _check(held, actor, body.target, deep=True)
    renamed = rename(held.settings, body.source, body.target)
    state.accounts.audit.add(actor.name, "store.rename", body.source, to=body.target)
    return answer(renamed)


@router.delete("/items", summary="Remove files")
def remove_items(
    actor: Member, held: Held, state: State, address: Address, recursive: bool = False, dry_run: bool = False
) -> Response:
    """Remove a file, or with `recursive` a folder and all in it; with `dry_run` only say how much that is."""
    _check(held, actor, address, deep=True)
    planned = plan_removal(held.settings, address, recursive=recursive)
    body = {"address": address, "files": planned.file_count, "size_bytes": planned.size_bytes, "removed": not dry_run}
    if not dry_run:
        remove_place(planned)
        state.accounts.audit.add(actor.name, "store.remove", address, files=planned.file_count)
    return answer(body)


@router.post("/links", status_code=201, summary="Make a temporary link")
def make_link(actor: Member, held: Held, state: State, body: LinkBody) -> Response:
    """Whoever has the link may read the object, or with `put` write it, until it ends."""
    _check(held, actor, body.address, deep=True)
    link = sign_link(held.settings, body.address, expires=body.expires, put=body.put)
    state.accounts.audit.add(actor.name, "store.link", body.address, method=link.method)
    return answer(dataclasses.asdict(link), 201)


def _check(held: Holding, actor: Actor, address: str, *, deep: bool = False) -> None:
    if actor.role is not Role.ADMIN:
        check_address(address, {held.settings.store, *held.runs.stores()}, deep=deep)


def _file_at(held: Holding, actor: Actor, address: str) -> Item:
    _check(held, actor, address)
    listing = list_place(held.settings, address)
    found = next((item for item in listing.items if item.path == listing.base and item.kind != FOLDER), None)
    if found is None:
        raise UsageError(f"{address} is a folder", hint="name one file in it")
    return found


def _shown(name: str, item: Item) -> dict[str, Any]:
    return {"name": name, "kind": item.kind, "size_bytes": item.size_bytes, "modified_s": item.modified_ns / 1e9}
