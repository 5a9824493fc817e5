"""Bodies past the parser: whatever their size and whoever goes away, each request sees its own bytes and no others."""

import contextlib
import hashlib
import http.client
import os
import socket
import threading
import time

import pytest
import uvicorn
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from outlast.server import intake
from outlast.server.intake import PIECE_BYTES, IntakeProtocol, pieces

PATIENCE_S = 120


class App:
    """Answers with the digest of a body, or before its end, or never having looked."""

    def __init__(self):
        self.asked, self.torn, self.direct = [], threading.Event(), []

    async def __call__(self, scope, receive, send):
        self.asked.append(scope["path"])
        digest, kinds = hashlib.sha256(), set()
        try:
            async with contextlib.aclosing(pieces(scope, receive)) as body:
                while scope["path"] != "/none" and (piece := await anext(body, None)) is not None:
                    kinds.add(type(piece))
                    await run_in_threadpool(digest.update, piece)
                    if scope["path"] == "/some":
                        break
        except ClientDisconnect:
            self.torn.set()
            return
        self.direct.append(memoryview in kinds)
        answer = digest.hexdigest().encode()
        headers = [(b"content-length", b"%d" % len(answer))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


class Server:
    def __init__(self, **options):
        self.app = App()
        config = uvicorn.Config(self.app, lifespan="off", log_config=None, access_log=False, **options)
        self._server = uvicorn.Server(config)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._server.run, args=([self._listening],), daemon=True)

    def __enter__(self):
        self._thread.start()
        wait_until(lambda: self._server.started)
        return self

    def __exit__(self, *_):
        self._server.should_exit = True
        self._thread.join(PATIENCE_S)
        self._listening.close()

    def connect(self):
        return contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S))

    def plug(self):
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)


def wait_until(holds):
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def put(connection, path, body, **headers):
    connection.request("PUT", path, body, headers)
    answer = connection.getresponse()
    assert answer.status == 200
    return answer.read().decode()


def digest_of(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture(scope="module", params=["uvloop", "asyncio"])
def server(request):
    with Server(http=IntakeProtocol, loop=request.param) as server:
        yield server


SIZES = [0, 1, 1 << 16, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES, 5 * PIECE_BYTES + 77]


def test_bodies_of_all_sizes_arrive_whole_over_one_connection(server):
    with server.connect() as connection:
        for size in [*SIZES, *reversed(SIZES)]:
            data = os.urandom(size)
            assert put(connection, "/all", data) == digest_of(data), size
    assert server.app.direct[-1] is False and True in server.app.direct


def test_a_body_in_chunks_and_one_that_waits_for_leave_arrive_whole(server):
    data = os.urandom(4 * PIECE_BYTES + 5)
    with server.connect() as connection:
        parts = (data[at : at + 100_000] for at in range(0, len(data), 100_000))
        connection.request("PUT", "/all", parts, {"Transfer-Encoding": "chunked"}, encode_chunked=True)
        assert connection.getresponse().read().decode() == digest_of(data)
    with server.plug() as plug:
        plug.sendall(b"PUT /all HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(data))
        assert plug.recv(4096).startswith(b"HTTP/1.1 100")
        plug.sendall(data)
        assert read_answers(plug, 1) == [digest_of(data)]


def test_requests_that_follow_a_body_at_once_are_read_as_requests(server):
    first, second = os.urandom(3 * PIECE_BYTES + 1), os.urandom(2 * PIECE_BYTES)
    head = b"PUT /all HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
    with server.plug() as plug:
        sending = threading.Thread(
            target=plug.sendall, args=(head % len(first) + first + head % len(second) + second + head % 2 + b"hi",)
        )
        sending.start()
        assert read_answers(plug, 3) == [digest_of(each) for each in (first, second, b"hi")]
        sending.join(PATIENCE_S)


@pytest.mark.parametrize("path", ["/some", "/none"])
def test_what_was_not_read_of_a_body_is_never_taken_for_a_request(server, path):
    hidden = b"PUT /hidden HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
    data = hidden * (6 * PIECE_BYTES // len(hidden))
    with server.connect() as connection:
        for _ in range(3):
            put(connection, path, data)
            assert put(connection, "/all", b"next") == digest_of(b"next")
    assert "/hidden" not in server.app.asked


def test_a_client_that_goes_away_ends_its_request_alone(server):
    server.app.torn.clear()
    with server.connect() as other:
        with server.plug() as plug:
            plug.sendall(b"PUT /all HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (1 << 30))
            plug.sendall(os.urandom(2 * PIECE_BYTES + 1))
            assert put(other, "/all", b"meanwhile") == digest_of(b"meanwhile")
        assert server.app.torn.wait(PATIENCE_S)
        assert put(other, "/all", b"afterwards") == digest_of(b"afterwards")


def test_many_at_once_get_their_own_bytes(server):
    bodies = [os.urandom(2 * PIECE_BYTES + number) for number in range(8)]
    found = {}

    def send(number):
        with server.connect() as connection:
            found[number] = [put(connection, "/all", bodies[number]) for _ in range(3)]

    threads = [threading.Thread(target=send, args=(number,)) for number in range(len(bodies))]
    for each in threads:
        each.start()
    for each in threads:
        each.join(PATIENCE_S)
    assert found == {number: [digest_of(body)] * 3 for number, body in enumerate(bodies)}


def test_other_protocols_of_the_server_give_the_same_bytes():
    with Server(http="h11") as server, server.connect() as connection:
        for size in SIZES:
            data = os.urandom(size)
            assert put(connection, "/all", data) == digest_of(data), size
        assert True not in server.app.direct


def read_answers(plug, count):
    """The bodies of so many answers, each a digest of 64 letters."""
    text = b""
    while text.count(b"\r\n\r\n") < count or len(text.rpartition(b"\r\n\r\n")[2]) < 64:
        piece = plug.recv(65536)
        assert piece, text
        text += piece
    return [part[:64].decode() for part in text.split(b"\r\n\r\n")[1:]]


@pytest.mark.parametrize(
    "said", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET"]
)
def test_a_client_that_does_not_say_what_it_wants_is_given_up(monkeypatch, said):
    monkeypatch.setattr(intake, "HEAD_LIMIT_S", 0.2)
    with Server(http=IntakeProtocol, timeout_keep_alive=PATIENCE_S) as server, server.plug() as slow:
        slow.sendall(said)
        heard = slow.makefile("rb").read()  # until the server closes
    assert heard.count(b"HTTP/1.1 200") == said.count(b"\r\n\r\n")


def test_a_client_that_takes_its_time_with_a_body_is_not(monkeypatch):
    monkeypatch.setattr(intake, "HEAD_LIMIT_S", 0.2)
    with Server(http=IntakeProtocol, timeout_keep_alive=PATIENCE_S) as server, server.plug() as slow:
        slow.sendall(b"PUT /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc")
        wait_until(lambda: "/slow" in server.app.asked)
        with server.plug() as silent:
            assert silent.recv(1) == b""  # given up, and it came later
        slow.sendall(b"def")
        assert hashlib.sha256(b"abcdef").hexdigest().encode() in slow.recv(1000)
