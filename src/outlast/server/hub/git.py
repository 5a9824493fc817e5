"""Clone, fetch and push with the real git: routes in front of `git upload-pack` and `git http-backend`."""

from __future__ import annotations

import contextlib
import uuid
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from outlast.errors import OutlastError
from outlast.hub.gitprocess import PLAIN_LIMIT_BYTES, git_environment
from outlast.server.auth import address_of
from outlast.server.hub.backend import Backend
from outlast.server.hub.room import require_room
from outlast.server.hub.uploadpack import answer_upload_pack
from outlast.server.hub.visits import HubState, Opened, Visited, visit
from outlast.server.refusals import NotSignedIn
from outlast.server.state import state_of

router = APIRouter(include_in_schema=False)

_SERVICES = ("git-upload-pack", "git-receive-pack")


@router.get("/{owner}/{name}.git/info/refs")
async def advertise(request: Request, shared: Opened, owner: str, name: str, service: str = "") -> Response:
    """What branches there are; where every clone and every push begins."""
    if service not in _SERVICES:
        return PlainTextResponse("only git 1.6.6 and later can talk to this server\n", 403)
    return await _serve(request, shared, owner, name, "info/refs", pushes=service == "git-receive-pack")


@router.post("/{owner}/{name}.git/git-upload-pack")
async def upload_pack(request: Request, shared: Opened, owner: str, name: str) -> Response:
    """Clone and fetch."""
    return await _serve(request, shared, owner, name, "git-upload-pack", pushes=False)


@router.post("/{owner}/{name}.git/git-receive-pack")
async def receive_pack(request: Request, shared: Opened, owner: str, name: str) -> Response:
    """Push."""
    return await _serve(request, shared, owner, name, "git-receive-pack", pushes=True)


async def _serve(request: Request, shared: HubState, owner: str, name: str, what: str, *, pushes: bool) -> Response:
    room = None
    try:
        visited = await visit(request, shared, owner, name, to_change=pushes)
        if pushes:
            room = await run_in_threadpool(require_room, state_of(request), shared.hub, visited.repository, 1)
    except OutlastError as error:
        return refuse_git(error)
    if what == "info/refs" and visited.repository.path != f"{owner}/{name}":
        # Git says so in the terminal and goes on there; the other routes lead there silently.
        return RedirectResponse(f"{request.base_url}{visited.repository.path}.git/info/refs?{request.url.query}", 301)
    environ = _environment(request, shared, visited, what)
    folder = shared.hub.bare(visited.repository).folder
    if what == "git-upload-pack":
        return answer_upload_pack(request, shared.places, environ, folder)
    if not pushes:
        return await shared.advertisement.answer(request, folder, environ)
    if what == "info/refs":
        return Backend(shared.places, environ)
    known = shared.hub.folder(visited.repository) / f".known-{uuid.uuid4().hex}"
    await run_in_threadpool(_list_known, shared, visited, known)
    environ["OUTLAST_HUB_KNOWN"] = str(known)
    if room is not None:  # how large a pack is, its sender does not say beforehand
        environ["OUTLAST_HUB_ROOM"] = f"{room.free_bytes} {room.group}"

    def settle() -> None:
        known.unlink(missing_ok=True)
        with contextlib.suppress(OutlastError):  # the repository may have been removed meanwhile
            shared.hub.bare(visited.repository).settle_head()

    return Backend(shared.places, environ, settle)


def refuse_git(error: OutlastError) -> Response:
    """The same refusals as words that git shows behind `remote:`."""
    headers = {"WWW-Authenticate": 'Basic realm="outlast", charset="UTF-8"'} if isinstance(error, NotSignedIn) else {}
    status = error.http_status if error.http_status < 500 else 503
    return PlainTextResponse(f"{error}\n", status, headers)


def _environment(request: Request, shared: HubState, visited: Visited, what: str) -> dict[str, str]:
    repository = visited.repository
    headers = request.headers
    words = {
        "GIT_PROJECT_ROOT": str(shared.hub.folder(repository)),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/repository.git/{what}",
        "REQUEST_METHOD": request.method,
        "QUERY_STRING": request.url.query,
        "CONTENT_TYPE": headers.get("content-type", ""),
        "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
        "GIT_PROTOCOL": headers.get("git-protocol", ""),
        "REMOTE_ADDR": address_of(request),
        "OUTLAST_HUB_KIND": repository.kind,
        "OUTLAST_HUB_LIMIT_BYTES": str(PLAIN_LIMIT_BYTES),
    }
    if repository.may_change(visited.visitor):
        words["REMOTE_USER"] = visited.visitor.name  # without it http-backend takes no push
    return git_environment(shared.hub.hooks(), **words)


def _list_known(shared: HubState, visited: Visited, target: Path) -> None:
    """What the hook may find in pointers: LFS sends its objects before git sends the push."""
    objects = shared.hub.objects(visited.repository).all()
    target.write_text("".join(f"{oid}-{size}\n" for oid, size in objects), encoding="ascii")
