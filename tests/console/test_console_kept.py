"""Files that pages load: compressed once, the same for everybody, and never more of them than there are."""

from __future__ import annotations

import asyncio
import gzip

import httpx
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from outlast.server.console.kept import STATIC, Kept

BODY = b"/* a rule */\n" * 1000


def play(*asked):
    """Ask one after the other; the answers, and the paths that came through."""
    seen: list[str] = []

    def tell(request: Request) -> Response:
        seen.append(request.url.path)
        return Response(BODY, 404 if "missing" in request.url.path else 200, media_type="text/css")

    app = Starlette(routes=[Route("/{rest:path}", tell)])
    app.add_middleware(GZipMiddleware)

    async def whole():
        transport = httpx.ASGITransport(Kept(app))
        async with httpx.AsyncClient(transport=transport, base_url="http://lab.example") as browser:
            return [await browser.get(path, headers=headers) for path, headers in asked]

    return asyncio.run(whole()), seen


def test_a_file_is_compressed_once_and_comes_whole():
    address = f"{STATIC}/quasar.css"
    answers, seen = play((address, {}), (address, {}), (f"{address}?another", {}))
    assert seen == [address]
    assert {answer.headers["content-encoding"] for answer in answers} == {"gzip"}
    assert [answer.content for answer in answers] == [BODY] * 3
    assert int(answers[0].headers["content-length"]) < len(gzip.compress(BODY)) + 100


def test_pages_ranges_conditions_and_plain_readers_pass():
    address = f"{STATIC}/quasar.css"
    asked = [("/", {}), ("/", {}), (address, {"Range": "bytes=0-1"}), (address, {"If-None-Match": '"x"'}),
             (address, {"Accept-Encoding": "identity"})]  # fmt: skip
    answers, seen = play(*asked)
    assert len(seen) == len(asked)
    assert "content-encoding" not in answers[-1].headers


def test_what_is_not_there_and_odd_names_of_what_is_there_are_not_kept():
    missing, odd = f"{STATIC}/missing.css", f"{STATIC}//quasar.css"
    _, seen = play((missing, {}), (missing, {}), (odd, {}), (odd, {}))
    assert seen == [missing, missing, odd, odd]
