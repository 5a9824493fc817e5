"""HTTP on plain sockets: what servers may do, and what the client makes of it."""

from __future__ import annotations

import io
import os
import socket
import threading

import pytest

from outlast.inside.errors import RequestError
from outlast.inside.net.connection import CutOff, Stale, Unreachable
from outlast.inside.net.drive import Loop, Source, finish
from outlast.inside.net.http import FilePart, Http
from outlast.inside.net.retry import Again, Patience, Policy, retry_after_s, retrying


class Scripted:
    """A server that answers each request with the next of its scripted answers, raw bytes as they are."""

    def __init__(self, *answers):
        self._answers = list(answers)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.requests, self.connections = [], 0
        self._sockets = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while self._answers:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._sockets.append(connection)
            file = connection.makefile("rb")
            while self._answers:
                request = self._read(file)
                if request is None:
                    break
                self.requests.append(request)
                answer = self._answers.pop(0)
                if answer is None:
                    break
                connection.sendall(answer)
                ends = b"Connection: close" in answer or b"Content-Length" not in answer
                if ends and b"chunked" not in answer and b" 204" not in answer:
                    break
            file.close()
            connection.close()

    @staticmethod
    def _read(file):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = file.readline()
            if not line:
                return None
            head += line
        body = b""
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                body = file.read(int(line.split(b":")[1]))
            if line.lower() == b"transfer-encoding: chunked":
                while True:
                    size = int(file.readline(), 16)
                    body += file.read(size)
                    file.readline()
                    if not size:
                        break
        return head, body

    def close(self):
        for sock in [self._listener, *self._sockets]:
            sock.close()


@pytest.fixture
def served():
    servers = []

    def start(*answers):
        servers.append(Scripted(*answers))
        http = Http(servers[-1].url, timeout_s=5)
        servers.append(http)
        return http, servers[-2]

    yield start
    for server in servers:
        server.close()


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Many: a\r\n\r\nok"


def test_connections_are_kept(served):
    http, server = served(OK, OK, OK)
    for _ in range(3):
        with http.request("GET", "/x") as response:
            assert (response.status, response.header("x-many"), response.read()) == (200, "a", b"ok")
    assert server.connections == 1


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=1\r\nde\r\n0\r\nTrailer: x\r\n\r\n",
            b"abcde",
        ),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", b"until the end"),
        (b"HTTP/1.0 200 Fine\r\nContent-Length: 3\r\n\r\nold", b"old"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n!", b"!"),
        (b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", b""),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
    ],
)
def test_every_way_to_end_a_body(served, raw, expected):
    http, _ = served(raw, OK)
    with http.request("GET", "/") as response:
        assert response.read() == expected
    with http.request("GET", "/") as response:
        assert response.read() == b"ok"


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nfive!",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nA\r\nfive!",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nnonsense\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\nConnection: close\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: half a head",
    ],
)
def test_an_answer_that_is_cut_or_broken_is_never_taken_for_whole(served, raw):
    http, _ = served(raw)
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1"), http.request("GET", "/") as response:
        response.read()


def test_bodies_of_every_kind_arrive(served, tmp_path):
    (tmp_path / "f").write_bytes(b"skip" + b"z" * 3_000_000)
    http, server = served(*[OK] * 5)
    http.request("PUT", "/", body=b"bytes").read()
    http.request("PUT", "/", body=b"b" * 2_000_000).read()
    with (tmp_path / "f").open("rb") as file:
        file.seek(4)
        http.request("PUT", "/", body=(file, 3_000_000)).read()
        http.request("PUT", "/", body=FilePart(file.fileno(), 0, 4)).read()
    http.request("POST", "/", body=iter([b"one", b"", b"two"])).read()
    sizes = [len(body) for _, body in server.requests]
    assert sizes == [5, 2_000_000, 3_000_000, 4, 6]
    assert server.requests[3][1] == b"skip" and server.requests[4][1] == b"onetwo"


def test_a_kept_connection_that_the_server_closed_is_replaced_for_reading_only(served):
    http, server = served(OK, None, OK, OK, None, OK)
    http.request("GET", "/1").read()
    assert http.request("GET", "/2").read() == b"ok"
    http.request("GET", "/3").read()
    with pytest.raises(Stale):
        http.request("PUT", "/4", body=b"once")
    assert http.request("PUT", "/4", body=b"once").read() == b"ok"
    assert len(server.requests) == 6


def test_a_fresh_connection_without_an_answer_is_an_error(served):
    http, _ = served(None)
    with pytest.raises(CutOff, match="without an answer"):
        http.request("GET", "/")


def test_nobody_there_is_said_with_the_address():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, not listening
        port = held.getsockname()[1]
        with pytest.raises(Unreachable, match=f"cannot connect to 127.0.0.1:{port}: Connection refused"):
            Http(f"http://127.0.0.1:{port}").request("GET", "/")
    with pytest.raises(Unreachable, match=r"no address is known for no-such-host\.invalid"):
        Http("http://no-such-host.invalid").request("GET", "/")


def test_silence_ends_with_the_timeout():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        http = Http(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.05)
        with pytest.raises(Unreachable, match=r"did not answer for 0\.05 s"):
            http.request("GET", "/")


@pytest.mark.parametrize("url", ["ftp://host", "host", "http://", "http://host:port", "http://host:99999"])
def test_bad_endpoints_are_named(url):
    with pytest.raises(RequestError, match="endpoint"):
        Http(url)


def test_a_line_break_cannot_smuggle_a_header():
    with pytest.raises(RequestError, match="line break"):
        Http("http://127.0.0.1:1").request("GET", "/x\r\nEvil: 1")
    with pytest.raises(RequestError, match="line break"):
        Http("http://127.0.0.1:1").request("GET", "/", [("a", "b\nEvil: 1")])


def test_a_plain_server_behind_an_https_address_is_said():
    with socket.create_server(("127.0.0.1", 0)) as plain:

        def answer():
            connection, _ = plain.accept()
            with connection:
                connection.recv(10_000)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\nthis is plain HTTP")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(Unreachable, match="no secure connection"):
            Http(f"https://127.0.0.1:{plain.getsockname()[1]}").request("GET", "/")
        thread.join()


def test_a_loop_runs_all_steps_and_its_pauses_side_by_side():
    ended = []

    def steps(number):
        yield 0.001 * (number % 3)
        ended.append(number)

    class Numbers(Source):
        def __init__(self):
            self.left = list(range(50))

        def take(self):
            return steps(self.left.pop(0)) if self.left else None

        def finished(self):
            return not self.left

    Loop(8).run(Numbers())
    assert sorted(ended) == list(range(50))


def test_patience_grows_listens_and_ends():
    clock = [0.0]
    patience = Patience(Policy(tries=5, first_s=1.0, longest_s=3.0, total_s=100.0), clock=lambda: clock[0])
    error = Unreachable("gone")
    waits = [patience.pause_s(Again(error)) for _ in range(3)]
    assert all(limit / 2 <= wait <= limit for wait, limit in zip(waits, (1.0, 2.0, 3.0), strict=True))
    assert patience.pause_s(Again(error, after_s=9.0)) == 9.0
    with pytest.raises(Unreachable, match="gone"):
        patience.pause_s(Again(error))
    clock[0] = 0.0
    patience = Patience(Policy(total_s=5.0), clock=lambda: clock[0])
    clock[0] = 5.0
    with pytest.raises(Unreachable):
        patience.pause_s(Again(error))


def test_retrying_calls_again_until_it_works():
    calls, slept = [], []

    def call():
        calls.append(1)
        if len(calls) < 3:
            raise Again(Unreachable("not yet"))
        return "done"

    assert retrying(Policy(), call, slept.append) == "done"
    assert len(calls) == 3 and len(slept) == 2


@pytest.mark.parametrize(("text", "expected"), [("3", 3.0), ("0.5", 0.5), ("-1", 0.0), ("soon", None), ("", None)])
def test_retry_after(text, expected):
    assert retry_after_s(text) == expected


def test_finish_returns_what_the_steps_return():
    def steps():
        yield 0.0
        return io.SEEK_END, os.sep

    assert finish(steps()) == (io.SEEK_END, os.sep)
