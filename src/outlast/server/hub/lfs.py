"""The LFS protocol: which objects to send, their bytes, and locks. Bytes are hashed here before they count."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal, TypeVar

import orjson
from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from outlast.errors import NotFoundError, OutlastError, UsageError
from outlast.hub.objects import Objects, Receiving
from outlast.hub.pointers import Pointer
from outlast.hub.repository import Repository
from outlast.server.hub.room import require_room
from outlast.server.hub.visits import HubState, Opened, visit
from outlast.server.intake import pieces
from outlast.server.ranges import by_pieces, send_part
from outlast.server.refusals import NotAllowed, NotSignedIn
from outlast.server.state import state_of

router = APIRouter(prefix="/{owner}/{name}.git/info/lfs", include_in_schema=False)

MEDIA_TYPE = "application/vnd.git-lfs+json"
OBJECT_LIMIT_BYTES = 1 << 42
_MOST_OBJECTS = 1000

Body = TypeVar("Body", bound=BaseModel)
Oid = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]
Size = Annotated[int, Path(ge=0, le=OBJECT_LIMIT_BYTES)]


class ObjectBody(BaseModel):
    """An object as the client names it."""

    oid: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    size: Annotated[int, Field(ge=0, le=OBJECT_LIMIT_BYTES)]


class BatchBody(BaseModel):
    """What the client wants to send or get."""

    operation: Literal["upload", "download"]
    objects: Annotated[list[ObjectBody], Field(max_length=_MOST_OBJECTS)]
    transfers: list[str] = ["basic"]
    hash_algo: str = "sha256"


@router.post("/objects/batch")
async def batch(request: Request, shared: Opened, owner: str, name: str) -> Response:
    """Say for each object what the client shall do: send it, get it, or nothing."""

    async def work() -> Response:
        body = await read_body(request, BatchBody)
        uploads = body.operation == "upload"
        visited = await visit(request, shared, owner, name, to_change=uploads)
        if body.hash_algo != "sha256" or "basic" not in body.transfers:
            raise UsageError("this server takes SHA-256 objects by basic transfer only")
        wanted = [Pointer(each.oid, each.size) for each in body.objects]
        base = f"{request.base_url}{owner}/{name}.git/info/lfs"
        plan = _plan_upload if uploads else _plan_download
        objects = await run_in_threadpool(plan, request, shared, visited.repository, wanted, base)
        return told({"transfer": "basic", "objects": objects, "hash_algo": "sha256"})

    return await spoken(work)


@router.put("/objects/{oid}/{size}")
async def put_object(request: Request, shared: Opened, owner: str, name: str, oid: Oid, size: Size) -> Response:
    """Take an object's bytes. Nothing is kept unless they are exactly what was announced."""

    async def work() -> Response:
        visited = await visit(request, shared, owner, name, to_change=True)
        _require_lfs(visited.repository)
        pointer = Pointer(oid, size)
        if not shared.is_granted(visited.repository, pointer):
            await run_in_threadpool(require_room, state_of(request), shared.hub, visited.repository, size)
        receiving = await run_in_threadpool(shared.hub.objects(visited.repository).receive, pointer)
        try:
            await _take(request, receiving)
        finally:
            await run_in_threadpool(receiving.abort)
        return Response(status_code=200)

    return await spoken(work)


@router.get("/objects/{oid}/{size}")
async def get_object(request: Request, shared: Opened, owner: str, name: str, oid: Oid, size: Size) -> Response:
    """An object's bytes; with a range those that a broken download still needs. The client checks the digest."""

    async def work() -> Response:
        visited = await visit(request, shared, owner, name, to_change=False)
        objects, pointer = shared.hub.objects(visited.repository), Pointer(oid, size)
        await run_in_threadpool(_require_object, objects, pointer)
        pieces = by_pieces(lambda start, length: objects.read(pointer, start, length))
        return send_part(request, size, pieces, media_type="application/octet-stream", tag=f'"{oid}"')

    return await spoken(work)


@router.post("/verify")
async def verify(request: Request, shared: Opened, owner: str, name: str) -> Response:
    """Confirm that an object has arrived."""

    async def work() -> Response:
        body = await read_body(request, ObjectBody)
        visited = await visit(request, shared, owner, name, to_change=True)
        await run_in_threadpool(_require_object, shared.hub.objects(visited.repository), Pointer(body.oid, body.size))
        return told({})

    return await spoken(work)


def _plan_upload(
    request: Request, shared: HubState, repository: Repository, wanted: list[Pointer], base: str
) -> list[dict[str, Any]]:
    """Objects that only other repositories have are sent again: knowing a digest is no proof of having the bytes."""
    _require_lfs(repository)
    objects = shared.hub.objects(repository)
    missing = {each for each in wanted if not objects.has(each)}
    require_room(state_of(request), shared.hub, repository, sum(each.size_bytes for each in missing))
    shared.grant(repository, missing)
    return [_action(each, base, upload=True) if each in missing else _plain(each) for each in wanted]


def _plan_download(
    request: Request, shared: HubState, repository: Repository, wanted: list[Pointer], base: str
) -> list[dict[str, Any]]:
    objects = shared.hub.objects(repository)
    return [
        _action(each, base, upload=False)
        if objects.has(each)
        else {**_plain(each), "error": {"code": 404, "message": f"{repository.path} has no such object of this size"}}
        for each in wanted
    ]


def _plain(pointer: Pointer) -> dict[str, Any]:
    return {"oid": pointer.oid, "size": pointer.size_bytes}


def _action(pointer: Pointer, base: str, *, upload: bool) -> dict[str, Any]:
    href = f"{base}/objects/{pointer.oid}/{pointer.size_bytes}"
    if not upload:
        return {**_plain(pointer), "actions": {"download": {"href": href}}}
    return {**_plain(pointer), "actions": {"upload": {"href": href}, "verify": {"href": f"{base}/verify"}}}


def _require_lfs(repository: Repository) -> None:
    if not repository.takes_lfs:
        raise NotAllowed(
            f"{repository.path} is a project, which holds code only: nothing in it can be kept in LFS",
            hint="put large files into a model or dataset repository, and name that one as an input of the run",
        )


def _require_object(objects: Objects, pointer: Pointer) -> None:
    if not objects.has(pointer):
        raise NotFoundError("no such object")


async def _take(request: Request, receiving: Receiving) -> None:
    """Write and hash one piece in a thread while the next one arrives."""
    async with contextlib.aclosing(pieces(request.scope, request.receive)) as body:
        async for piece in body:
            await run_in_threadpool(receiving.write, piece)
    await run_in_threadpool(receiving.finish)


async def read_body(request: Request, kind: type[Body]) -> Body:
    """The body of a request as `kind`. Forms of web pages cannot send this type, so no other site can ask."""
    if request.headers.get("content-type", "").partition(";")[0].strip() not in (MEDIA_TYPE, "application/json"):
        raise UsageError(f"the body must be {MEDIA_TYPE}")
    try:
        return kind.model_validate_json(await request.body() or b"{}")
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"{'.'.join(map(str, first['loc'])) or 'the body'}: {first['msg'].lower()}") from None


def told(value: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, media_type=MEDIA_TYPE)


async def spoken(work: Callable[[], Awaitable[Response]]) -> Response:
    """Every refusal as LFS clients show it: a JSON message behind a status that stops them."""
    try:
        return await work()
    except OutlastError as error:
        response = told({"message": str(error)}, error.http_status if error.http_status != 429 else 403)
        if isinstance(error, NotSignedIn):
            for header in ("LFS-Authenticate", "WWW-Authenticate"):
                response.headers[header] = 'Basic realm="outlast"'
        return response
