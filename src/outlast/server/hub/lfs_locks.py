"""LFS file locks over HTTP, as `git lfs lock`, `locks` and `unlock` speak."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from outlast.hub.locks import LockedError
from outlast.server.hub.lfs import read_body, spoken, told
from outlast.server.hub.visits import Opened, visit

router = APIRouter(prefix="/{owner}/{name}.git/info/lfs/locks", include_in_schema=False)


class LockBody(BaseModel):
    path: str


class UnlockBody(BaseModel):
    force: bool = False


class VerifyBody(BaseModel):
    """The client may ask by pages; there are never so many locks."""


@router.post("")
async def lock(request: Request, shared: Opened, owner: str, name: str) -> Response:
    """Lock a path; 409 with the lock that is there already."""

    async def work() -> Response:
        body = await read_body(request, LockBody)
        visited = await visit(request, shared, owner, name, to_change=True)
        locks = shared.hub.locks(visited.repository)
        try:
            taken = await run_in_threadpool(locks.take, body.path, visited.visitor.name)
        except LockedError as error:
            return told({"lock": error.lock.to_json(), "message": str(error)}, 409)
        return told({"lock": taken.to_json()}, 201)

    return await spoken(work)


@router.get("")
async def list_locks(
    request: Request, shared: Opened, owner: str, name: str, path: str | None = None, id: str | None = None
) -> Response:
    """All locks, or those of one path or id."""

    async def work() -> Response:
        visited = await visit(request, shared, owner, name, to_change=False)
        found = await run_in_threadpool(shared.hub.locks(visited.repository).all)
        shown = [each for each in found if path in (None, each.path) and id in (None, each.id)]
        return told({"locks": [each.to_json() for each in shown]})

    return await spoken(work)


@router.post("/verify")
async def verify_locks(request: Request, shared: Opened, owner: str, name: str) -> Response:
    """One's own locks and those of others, before a push."""

    async def work() -> Response:
        await read_body(request, VerifyBody)
        visited = await visit(request, shared, owner, name, to_change=True)
        found = await run_in_threadpool(shared.hub.locks(visited.repository).all)
        ours = [each for each in found if each.owner == visited.visitor.name]
        theirs = [each for each in found if each.owner != visited.visitor.name]
        return told({"ours": [each.to_json() for each in ours], "theirs": [each.to_json() for each in theirs]})

    return await spoken(work)


@router.post("/{id}/unlock")
async def unlock(request: Request, shared: Opened, owner: str, name: str, id: str) -> Response:
    """End a lock; another's only with `force`."""

    async def work() -> Response:
        body = await read_body(request, UnlockBody)
        visited = await visit(request, shared, owner, name, to_change=True)
        own = visited.visitor.name
        locks = shared.hub.locks(visited.repository)
        try:
            ended = await run_in_threadpool(locks.give_back, id, lambda each: body.force or each.owner == own)
        except LockedError as error:
            return told({"message": str(error)}, 403)
        return told({"lock": ended.to_json()})

    return await spoken(work)
