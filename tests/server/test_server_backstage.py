"""Requests passed from one process to another: nothing is lost or changed on the way, and whoever leaves is missed."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import marshal
import socket

import httpx
import pytest
from fastapi import FastAPI, Request, WebSocket
from starlette.responses import StreamingResponse
from starlette.websockets import WebSocketDisconnect

from outlast.server.backstage import frames
from outlast.server.backstage.company import back_door
from outlast.server.backstage.front import PassedOn
from outlast.server.backstage.stage import Stage

PATIENCE_S = 150


@contextlib.asynccontextmanager
async def passed_on(app):
    """The application that stands for `app`, which answers behind a real socket."""
    stage = Stage(app)
    with back_door() as (listening, address):
        server = await asyncio.start_unix_server(stage.answer, sock=listening)
        try:
            yield PassedOn(address)
        finally:
            server.close()
            await stage.clear()


def talk(app, play):
    """Run `play` with a browser whose requests are passed on to `app`."""

    async def whole():
        async with passed_on(app) as front:
            transport = httpx.ASGITransport(front, client=("192.0.2.7", 4711))
            async with httpx.AsyncClient(transport=transport, base_url="https://lab.example:8443") as browser:
                return await play(browser)

    return asyncio.run(asyncio.wait_for(whole(), PATIENCE_S))


def socket_scope(path):
    return {"type": "websocket", "path": path, "headers": [], "query_string": b"", "scheme": "ws", "subprotocols": []}


def test_large_bodies_come_through_in_both_directions():
    app = FastAPI()

    @app.post("/digest")
    async def digest(request: Request) -> StreamingResponse:
        data = await request.body()
        pieces = (data[at : at + 70_001] for at in range(0, len(data), 70_001))
        return StreamingResponse(pieces, headers={"X-Digest": hashlib.sha256(data).hexdigest()})

    sent = bytes(range(256)) * 20_000

    async def play(browser):
        answer = await browser.post("/digest", content=sent)
        assert answer.content == sent and answer.headers["x-digest"] == hashlib.sha256(sent).hexdigest()

    talk(app, play)


def test_who_asks_from_where_and_by_which_name_is_known_behind():
    app = FastAPI()

    @app.get("/{rest:path}")
    async def tell(request: Request, rest: str) -> dict[str, object]:
        return {"url": str(request.url), "client": request.client.host, "twice": request.headers.getlist("x-twice")}

    async def play(browser):
        answer = await browser.get("/a%2Fb/ü?q=1&q=%20", headers=[("X-Twice", "one"), ("X-Twice", "two")])
        told = answer.json()
        assert told["client"] == "192.0.2.7" and told["twice"] == ["one", "two"]
        assert told["url"].startswith("https://lab.example:8443/") and told["url"].endswith("?q=1&q=%20")

    talk(app, play)


def test_an_answer_is_whole_when_words_arrive_that_nobody_reads():
    later: list[socket.socket] = []

    async def app(scope, receive, send):
        later[0].sendall(b"words that this side has not read when it is done")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"whole"})

    def ask(address):
        with socket.socket(socket.AF_UNIX) as asking:
            later.append(asking)
            asking.settimeout(PATIENCE_S)
            asking.connect(address)
            scope = marshal.dumps({"type": "http", "method": "GET", "path": "/", "headers": []})
            asking.sendall(len(scope).to_bytes(4, "big") + scope)
            answer = b""
            while piece := asking.recv(4096):  # a reset connection raises here, and takes what was not read along
                answer += piece
            return answer

    async def play():
        with back_door() as (listening, address):
            server = await asyncio.start_unix_server(Stage(app).answer, sock=listening)
            answer = await asyncio.to_thread(ask, address)
            server.close()
            return answer

    assert b"whole" in asyncio.run(asyncio.wait_for(play(), PATIENCE_S))


def test_where_nobody_makes_pages_the_reader_is_told_so(tmp_path):
    async def play():
        transport = httpx.ASGITransport(PassedOn(str(tmp_path / "nobody")))
        async with httpx.AsyncClient(transport=transport, base_url="http://lab.example") as browser:
            return await browser.get("/")

    answer = asyncio.run(play())
    assert answer.status_code == 503 and answer.json()["message"] == "the console is starting anew"


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_a_process_that_dies_before_it_answers_is_owned_up_to(kind):
    async def die(reader, writer):
        await frames.read(reader)
        writer.close()

    async def play():
        said = []

        async def receive():
            if not said:
                return {"type": f"{kind}.connect" if kind == "websocket" else "http.request"}
            return await asyncio.Event().wait()

        async def send(message):
            said.append(message)

        with back_door() as (listening, address):
            server = await asyncio.start_unix_server(die, sock=listening)
            scope = {**socket_scope("/"), "type": kind, "method": "GET"}
            await PassedOn(address)(scope, receive, send)
            server.close()
        return said

    said = asyncio.run(asyncio.wait_for(play(), PATIENCE_S))
    if kind == "http":
        assert said[0]["status"] == 503
    else:
        assert said == [{"type": "websocket.close", "code": 1012}]


def test_a_live_connection_speaks_both_ways_and_its_end_is_noticed_behind():
    app, ended = FastAPI(), asyncio.Event()

    @app.websocket("/live")
    async def live(socket: WebSocket) -> None:
        await socket.accept()
        try:
            while True:
                await socket.send_text((await socket.receive_text()).upper())
        except WebSocketDisconnect as left:
            assert left.code == 1001
            ended.set()

    async def play():
        asked: asyncio.Queue = asyncio.Queue()
        said: asyncio.Queue = asyncio.Queue()
        async with passed_on(app) as front:
            call = asyncio.create_task(front(socket_scope("/live"), asked.get, said.put))
            await asked.put({"type": "websocket.connect"})
            assert (await said.get())["type"] == "websocket.accept"
            for word in ("one", "zwei"):
                await asked.put({"type": "websocket.receive", "text": word})
                assert (await said.get())["text"] == word.upper()
            await asked.put({"type": "websocket.disconnect", "code": 1001})
            await ended.wait()
            await call
        assert said.empty()  # nothing is said to one who left

    asyncio.run(asyncio.wait_for(play(), PATIENCE_S))


def test_stopping_ends_live_connections_and_lets_answers_end():
    app, begun, go_on = FastAPI(), asyncio.Event(), asyncio.Event()

    @app.get("/slow")
    async def slow() -> dict[str, bool]:
        begun.set()
        await go_on.wait()
        return {"done": True}

    @app.websocket("/live")
    async def live(socket: WebSocket) -> None:
        await socket.accept()
        await socket.receive_text()

    async def play():
        stage = Stage(app, grace_s=PATIENCE_S)
        with back_door() as (listening, address):
            server = await asyncio.start_unix_server(stage.answer, sock=listening)
            front = PassedOn(address)
            asked, said = asyncio.Queue(), asyncio.Queue()
            await asked.put({"type": "websocket.connect"})
            page = asyncio.create_task(front(socket_scope("/live"), asked.get, said.put))
            assert (await said.get())["type"] == "websocket.accept"
            async with httpx.AsyncClient(transport=httpx.ASGITransport(front), base_url="http://lab") as browser:
                answer = asyncio.create_task(browser.get("/slow"))
                await begun.wait()
                clearing = asyncio.create_task(stage.clear())
                assert await said.get() == {"type": "websocket.close", "code": 1012}
                go_on.set()
                assert (await answer).json() == {"done": True}
            await clearing
            await page
            server.close()

    asyncio.run(asyncio.wait_for(play(), PATIENCE_S))
