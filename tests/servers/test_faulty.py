"""The proxy between tests and their servers: honest when nothing is asked of it, and exact in its faults."""

from __future__ import annotations

import http.client
import http.server
import socket
import threading

import pytest

from servers import faults
from servers.faults import ALWAYS, answer, corrupt, cut, drip, drop, server_error, slow_down, stall
from servers.faulty import Faulty

BODY = bytes(range(256)) * 1000


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers GET with BODY and echoes what is put; `/chunked`, `/moved` and `/endless` answer in their own ways."""

    protocol_version = "HTTP/1.1"
    puts: list[bytes]

    def do_GET(self):
        if self.path == "/moved":
            self._head(307, ("Location", "http://127.0.0.1:9/x"), ("Content-Length", "0"))
        elif self.path == "/chunked":
            self._head(200, ("Transfer-Encoding", "chunked"))
            for start in range(0, len(BODY), 50_000):
                piece = BODY[start : start + 50_000]
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        elif self.path == "/endless":
            self._head(200, ("Connection", "close"))
            self.wfile.write(BODY)
            self.close_connection = True
        else:
            self._head(200, ("Content-Length", str(len(BODY))))
            if self.command == "GET":
                self.wfile.write(BODY)

    do_HEAD = do_GET

    def do_PUT(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.puts.append(body)
        self._head(200, ("Content-Length", str(len(body))), ("X-Host", self.headers["Host"]))
        self.wfile.write(body)

    def _head(self, status, *headers):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """A connection that was cut is what these tests are about."""


@pytest.fixture
def server():
    made = Server(("127.0.0.1", 0), Handler)
    made.puts = []
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture
def proxy(server):
    with Faulty(f"http://127.0.0.1:{server.server_port}") as made:
        yield made


@pytest.fixture
def client(proxy):
    connection = http.client.HTTPConnection(proxy.authority, timeout=150)
    yield connection
    connection.close()


def ask(client, method="GET", path="/", body=None, **options):
    client.request(method, path, body, **options)
    response = client.getresponse()
    return response.status, response.read()


def test_many_requests_pass_unchanged_over_one_connection(proxy, client, server):
    assert ask(client) == (200, BODY)
    first = client.sock
    assert ask(client, "HEAD") == (200, b"")
    assert ask(client, path="/chunked") == (200, BODY)
    assert ask(client, "PUT", body=BODY) == (200, BODY)
    assert ask(client, "PUT", body=iter([BODY, b"more"]), encode_chunked=True) == (200, BODY + b"more")
    assert client.sock is first
    assert server.puts == [BODY, BODY + b"more"]
    assert [(seen.number, seen.method, seen.target, seen.fault) for seen in proxy.seen] == [
        (1, "GET", "/", ""), (2, "HEAD", "/", ""), (3, "GET", "/chunked", ""), (4, "PUT", "/", ""), (5, "PUT", "/", ""),
    ]  # fmt: skip


def test_the_server_sees_the_host_that_the_client_signed(proxy, client):
    client.request("PUT", "/", b"x", {"Host": "bucket.example:99"})
    response = client.getresponse()
    response.read()
    assert response.getheader("X-Host") == "bucket.example:99"


def test_an_answer_without_a_length_ends_with_its_connection(proxy, client):
    assert ask(client, path="/endless") == (200, BODY)
    assert ask(client) == (200, BODY), "a new connection works"


def test_a_client_that_expects_100_gets_it(proxy, server):
    with socket.create_connection(("127.0.0.1", int(proxy.authority.split(":")[1])), timeout=150) as raw:
        raw.sendall(b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        assert raw.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        raw.sendall(b"abc")
        assert raw.recv(100).startswith(b"HTTP/1.1 200")
    assert server.puts == [b"abc"]


@pytest.mark.parametrize("reset", [False, True])
def test_a_dropped_request_never_reaches_the_server(proxy, client, server, reset):
    proxy.add(drop(method="PUT", reset=reset))
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        ask(client, "PUT", body=b"x")
    assert server.puts == []
    client.close()
    assert ask(client, "PUT", body=b"x") == (200, b"x")


def test_a_request_dropped_afterwards_was_done(proxy, client, server):
    proxy.add(faults.drop_after())
    with pytest.raises(http.client.RemoteDisconnected):
        ask(client, "PUT", body=b"x")
    assert server.puts == [b"x"]


@pytest.mark.parametrize("path", ["/", "/chunked"])
def test_a_cut_answer_ends_early(proxy, client, path):
    proxy.add(cut(at=100_000))
    client.request("GET", path)
    response = client.getresponse()
    with pytest.raises(http.client.IncompleteRead) as caught:
        response.read()
    assert BODY.startswith(caught.value.partial) and len(caught.value.partial) <= 100_000


def test_a_truncated_answer_looks_whole(proxy, client):
    proxy.add(faults.truncate())
    assert ask(client) == (200, BODY[: len(BODY) // 2])
    assert ask(client) == (200, BODY)


def test_one_byte_is_changed_in_either_direction(proxy, client, server):
    proxy.add(corrupt(path="^/chunked"), faults.corrupt_request(method="PUT", at=3), corrupt(method="GET"))
    _, chunked = ask(client, path="/chunked")
    _, plain = ask(client)
    ask(client, "PUT", body=b"abcdef")
    assert [index for index, (a, b) in enumerate(zip(plain, BODY, strict=True)) if a != b] == [len(BODY) // 2]
    assert [index for index, (a, b) in enumerate(zip(chunked, BODY, strict=True)) if a != b] == [0]
    assert server.puts == [b"abcDef"]


def test_errors_come_in_the_words_of_s3_and_keep_the_connection(proxy, client, server):
    proxy.add(slow_down(retry_after_s=2), server_error(), faults.too_many(), answer(404, "NoSuchKey"))
    client.request("PUT", "/", BODY)
    response = client.getresponse()
    assert (response.status, response.getheader("Retry-After")) == (503, "2")
    assert b"<Code>SlowDown</Code>" in response.read()
    first = client.sock
    assert ask(client)[0] == 500
    assert ask(client, "HEAD") == (429, b"")
    assert ask(client)[0] == 404
    assert ask(client) == (200, BODY)
    assert client.sock is first and server.puts == []
    assert [seen.fault for seen in proxy.seen] == ["answer 503", "answer 500", "answer 429", "answer 404", ""]


def test_an_early_answer_leaves_the_body_unread(proxy):
    proxy.add(slow_down(early=True))
    with socket.create_connection(("127.0.0.1", int(proxy.authority.split(":")[1])), timeout=150) as raw:
        raw.sendall(b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        answer = raw.recv(10_000)
        assert answer.startswith(b"HTTP/1.1 503") and b"Connection: close" in answer
        assert raw.recv(100) == b""


def test_a_stall_lasts_until_it_is_released(proxy, client):
    fault = stall()
    proxy.add(fault)
    client.request("GET", "/")
    assert fault.reached.wait(150)
    fault.released.set()
    assert client.getresponse().read() == BODY


def test_an_answer_kept_back_is_of_a_request_that_was_done(proxy, client, server):
    fault = faults.stall_after()
    proxy.add(fault)
    client.request("PUT", "/", b"x")
    assert fault.reached.wait(150)
    assert server.puts == [b"x"]
    fault.released.set()
    assert client.getresponse().read() == b"x"


@pytest.mark.parametrize("path", ["/", "/chunked"])
def test_words_of_an_answer_can_be_others(proxy, client, path):
    proxy.add(faults.rephrase("ABC", "another length", path=f"^{path}$"))
    assert ask(client, path=path) == (200, BODY.replace(b"ABC", b"another length"))
    assert ask(client, path=path) == (200, BODY)


@pytest.mark.parametrize("fault", [stall(), faults.stall_in_body()], ids=["before", "in the body"])
def test_a_stall_ends_when_the_client_gives_up(proxy, fault):
    fault.left = 1
    proxy.add(fault)
    impatient = http.client.HTTPConnection(proxy.authority, timeout=0.2)
    with pytest.raises(TimeoutError):
        ask(impatient)
    impatient.close()
    assert fault.reached.is_set()
    assert ask(impatient) == (200, BODY), "the next connection is served"
    impatient.close()


def test_a_drip_is_slow_and_whole(proxy, client):
    proxy.add(drip(piece_bytes=32_000, pause_s=0.001))
    assert ask(client) == (200, BODY)


def test_clocks_can_be_wrong(proxy, client):
    proxy.add(faults.far_date(), faults.skewed("Thu, 01 Jan 2032 00:00:00 GMT"))
    client.request("GET", "/")
    response = client.getresponse()
    response.read()
    assert response.getheader("Date") == "Fri, 05 Feb 1971 00:00:00 GMT"
    client.request("GET", "/")
    response = client.getresponse()
    assert (response.status, response.getheader("Date")) == (403, "Thu, 01 Jan 2032 00:00:00 GMT")
    assert b"RequestTimeTooSkewed" in response.read()


def test_faults_find_their_request_by_number_pattern_and_count(proxy, client):
    proxy.add(server_error(number=2), server_error(path=r"\?part=3$", times=2), answer(400, path="/all", times=ALWAYS))
    paths = ["/", "/", "/x?part=3", "/x?part=30", "/x?part=3", "/x?part=3", "/all", "/all"]
    assert [ask(client, path=path)[0] for path in paths] == [200, 500, 500, 200, 500, 200, 400, 400]
    assert [fault.path for fault in proxy.waiting] == ["/all"]
    proxy.clear()
    assert ask(client, path="/all")[0] == 200
    assert len(proxy.seen) == 1


def test_a_fault_can_let_some_pass_first(proxy, client):
    proxy.add(server_error(skip=2))
    assert [ask(client)[0] for _ in range(4)] == [200, 200, 500, 200]


def test_redirects_can_be_led_through_another_proxy(server):
    with Faulty(f"http://127.0.0.1:{server.server_port}", relocate={"127.0.0.1:9": "127.0.0.1:7"}) as proxy:
        client = http.client.HTTPConnection(proxy.authority, timeout=150)
        client.request("GET", "/moved")
        response = client.getresponse()
        assert response.read() == b"" and response.getheader("Location") == "http://127.0.0.1:7/x"
        client.close()


def test_closing_ends_stalled_connections(server):
    fault = stall()
    with Faulty(f"http://127.0.0.1:{server.server_port}") as proxy:
        proxy.add(fault)
        client = http.client.HTTPConnection(proxy.authority, timeout=150)
        client.request("GET", "/")
        assert fault.reached.wait(150)
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        client.getresponse()
    client.close()
