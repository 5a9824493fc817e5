"""Aim's interface at `/aim/<project>/<training>/`: what a browser asks for goes to its process, and comes back fenced.

The pages are Aim's, with whatever a training wrote into them. So they may load nothing from elsewhere, and nothing of
this server but what lies below their own address: a script in them can do nothing in the name of who looks at them.
"""

from __future__ import annotations

import html
from collections.abc import AsyncIterator
from typing import Final
from urllib.parse import urlsplit

import httpx
from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, Response, StreamingResponse

from outlast.errors import NotFoundError, PlatformError
from outlast.server.aim.process import require_aim
from outlast.server.aim.viewers import Viewer, Viewers
from outlast.server.hub.trainings.access import find_desk
from outlast.server.hub.trainings.envelope import Refusal
from outlast.server.refusals import NotAllowed
from outlast.server.state import state_of

router = APIRouter(prefix="/aim/{pid}/{tid}", include_in_schema=False)

_METHODS: Final = ["GET", "HEAD", "POST", "PUT", "DELETE"]
_SAFE: Final = ("GET", "HEAD")
_SENT: Final = ("accept", "accept-encoding", "content-type", "if-none-match", "range", "x-timezone-offset")
_KEPT: Final = ("content-type", "content-length", "content-encoding", "content-range", "etag", "last-modified")
_POLICY: Final = (
    "default-src 'none'; script-src {0} 'unsafe-inline' 'unsafe-eval'; style-src {0} 'unsafe-inline'; "
    "font-src {0} data:; img-src {0} data: blob:; media-src {0} data: blob:; connect-src {0}; "
    "worker-src {0} blob:; manifest-src {0}; form-action 'none'; frame-src 'none'; frame-ancestors 'none'; "
    "base-uri 'none'; sandbox allow-scripts allow-same-origin allow-downloads"
)
_PAGE: Final = '<!doctype html><meta charset="utf-8"><title>Aim</title><p>{0}</p>'


@router.api_route("/{rest:path}", methods=_METHODS)
async def view(request: Request, pid: str, tid: str, rest: str) -> Response:
    """Something of Aim's interface for a training of a project that is the visitor's; it is started when need be."""
    _refuse_other_sites(request)
    run = await _find_run(request, pid, tid)
    require_aim()
    base = f"/aim/{pid}/{tid}"
    viewer = _viewers(request).find(run, base)
    if viewer.is_open:
        return await _pass_on(request, viewer)
    is_page = not rest and request.method == "GET"
    if viewer.failure is not None:
        if not is_page:
            raise viewer.failure
        return _page(str(viewer.failure), viewer.failure.http_status)
    if not is_page:
        raise PlatformError("Aim is starting", hint="try again in some seconds", retryable=True)
    return _page("Aim is starting …", Refresh="1")


async def _find_run(request: Request, pid: str, tid: str) -> str:
    """The run of a training that keeps an Aim repository; everything else does not exist."""
    # As a request that changes nothing: Aim does not know our header against other sites, which are refused before.
    desk = await find_desk(Request({**request.scope, "method": "GET"}))
    try:
        seen = await run_in_threadpool(lambda: desk.get(desk.project(pid), tid))
    except Refusal as error:
        raise NotFoundError(error.message) from None
    if seen.found is None or not seen.training.body["enable_aim"]:
        raise NotFoundError("this training keeps no Aim repository", hint="train it with enable_aim")
    return seen.training.run


def _refuse_other_sites(request: Request) -> None:
    """A page of another site could send a visitor's cookie along; browsers say where a request comes from."""
    if request.method in _SAFE:
        return
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise NotAllowed("this comes from another site")


def _viewers(request: Request) -> Viewers:
    state = request.app.state
    if not hasattr(state, "aim_viewers"):
        state.aim_viewers = Viewers(state_of(request).settings)
    found: Viewers = state.aim_viewers
    return found


async def _pass_on(request: Request, viewer: Viewer) -> Response:
    """The answer of Aim. Nothing that tells who asks goes there; what it says about other sites is dropped."""
    headers = {name: request.headers[name] for name in _SENT if name in request.headers}
    query = request.scope["query_string"]
    path = request.scope["raw_path"] + (b"?" + query if query else b"")
    answer = await viewer.ask(request.method, path, headers, await request.body())
    kept = {name: answer.headers[name] for name in _KEPT if name in answer.headers}
    kept["Content-Security-Policy"] = _POLICY.format(f"{str(request.base_url).rstrip('/')}{viewer.base}/")
    if "location" in answer.headers:
        kept["Location"] = _inner(answer.headers["location"], viewer.base)
    return StreamingResponse(_body(answer), answer.status_code, kept)


def _inner(location: str, base: str) -> str:
    """Where Aim sends a browser, which must be its own address: rules for what a page may load forget redirects."""
    path = urlsplit(location).path
    if not path.startswith(f"{base}/") or ".." in path.split("/"):
        raise PlatformError("Aim leads out of its own pages", retryable=False)
    query = urlsplit(location).query
    return f"{path}?{query}" if query else path


async def _body(answer: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for piece in answer.aiter_raw():
            yield piece
    finally:
        await answer.aclose()


def _page(sentence: str, status: int = 200, **headers: str) -> Response:
    return HTMLResponse(_PAGE.format(html.escape(sentence)), status, headers)
