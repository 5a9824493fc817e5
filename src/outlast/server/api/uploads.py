"""Sending code and data by parts. A connection that breaks costs one part; what is there is never sent again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from outlast.server.accounts import quotas, usage
from outlast.server.answers import answer
from outlast.server.api.runs import State
from outlast.server.auth import Member, Role
from outlast.server.bodies import PlaceBody, Sha256, UploadBody
from outlast.server.fences import check_address
from outlast.server.holding import Held
from outlast.server.placing import send_upload
from outlast.server.uploads import PART_BYTES

router = APIRouter(tags=["uploads"])


@router.get("/uploads", summary="List uploads")
def list_uploads(actor: Member, held: Held) -> Response:
    """What you have sent or begun to send, newest first."""
    return answer({"uploads": [held.uploads.status(actor.name, each.sha256) for each in held.uploads.all(actor.name)]})


@router.post("/uploads", summary="Announce an upload")
def begin_upload(actor: Member, held: Held, state: State, body: UploadBody) -> Response:
    """Say what will be sent; the answer says which parts are missing. Announcing again goes on where it broke off."""
    groups = state.accounts.groups.of(actor.id) if actor.id else []
    known = {each.sha256 for each in held.uploads.all(actor.name)}
    if groups and body.sha256 not in known:
        used = held.uploads.used_bytes(actor.name)
        measured = [
            (group, use._replace(stored_bytes=use.stored_bytes + used))
            for group, use in usage.measure(held.settings, groups)
        ]
        quotas.check(measured, quotas.Use(stored_bytes=body.size_bytes))
    held.uploads.begin(actor.name, body.sha256, body.size_bytes, body.kind, body.name)
    return answer(held.uploads.status(actor.name, body.sha256))


@router.get("/uploads/{sha256}", summary="Show an upload")
def get_upload(actor: Member, held: Held, sha256: Sha256) -> Response:
    """Which parts are missing, and whether it is complete."""
    return answer(held.uploads.status(actor.name, sha256))


@router.put("/uploads/{sha256}/parts/{number}", status_code=204, summary="Send a part")
async def put_part(
    request: Request, actor: Member, held: Held, sha256: Sha256, number: int,
    part_sha256: Annotated[str, Header(alias="outlast-part-sha256", max_length=64)] = "",
) -> Response:  # fmt: skip
    """The bytes of one part, counted from 1; a part may be sent again. The header lets it be checked on arrival."""
    await held.uploads.put_part(actor.name, sha256, number, request.stream(), part_sha256)
    return Response(status_code=204)


@router.post("/uploads/{sha256}/complete", summary="Complete an upload")
async def complete_upload(actor: Member, held: Held, sha256: Sha256) -> Response:
    """Verify the whole by its digest; from then on runs can use it."""
    await run_in_threadpool(held.uploads.complete, actor.name, sha256)
    return answer(held.uploads.status(actor.name, sha256))


@router.post("/uploads/{sha256}/place", summary="Put an upload into a store")
def place_upload(actor: Member, held: Held, state: State, sha256: Sha256, body: PlaceBody) -> Response:
    """Copy what was uploaded to an address; a slash at its end means "into this folder"."""
    if actor.role is not Role.ADMIN:
        check_address(body.address, {held.settings.store, *held.runs.stores()}, deep=True)
    content = held.uploads.content(actor.name, sha256)
    placed = send_upload(held.settings, content, body.address)
    state.accounts.audit.add(actor.name, "store.upload", body.address)
    return answer(placed)


@router.delete("/uploads/{sha256}", status_code=204, summary="Remove an upload")
def remove_upload(actor: Member, held: Held, sha256: Sha256) -> Response:
    """Remove what was sent. Runs that still read data from it cannot go on."""
    held.uploads.remove(actor.name, sha256)
    return Response(status_code=204)


#: What the largest body of these routes is.
LARGEST_BYTES = PART_BYTES + 1024
