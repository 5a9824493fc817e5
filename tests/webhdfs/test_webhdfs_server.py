"""HTTP as clients speak it, well and badly; large files; a server that is killed."""

import contextlib
import fcntl
import http.client
import os
import resource
import signal
import socket
import time
from pathlib import Path

import pytest
from webhdfs_served import USER, Served, ask, put

from outlast.webhdfs.ground import UNFINISHED
from outlast.webhdfs.running import start

SECOND_STEP = f"user.name={USER}&namenoderpcaddress=here:1"


@contextlib.contextmanager
def raw(server):
    host, _, port = server.authority.partition(":")
    with socket.create_connection((host, int(port)), timeout=150) as connection, connection.makefile("rb") as answers:
        yield connection, answers


def head(answers):
    """One answer's status line and headers."""
    lines = []
    while (line := answers.readline()) not in (b"\r\n", b""):
        lines.append(line.decode().strip())
    return lines


@pytest.fixture
def process(tmp_path):
    (tmp_path / "root").mkdir()
    server = start(tmp_path / "root", log=tmp_path / "log")
    server = _Process(server, tmp_path / "root")
    yield server
    server.stop()


class _Process:
    """A server in a process of its own, asked like `served`."""

    def __init__(self, server, folder):
        self.server, self.folder = server, folder
        self.authority = server.url.partition("//")[2]
        self.stop = server.stop

    def peak_bytes(self):
        status = Path(f"/proc/{self.server.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def test_one_connection_serves_many_requests(served):
    with contextlib.closing(http.client.HTTPConnection(served.authority, timeout=150)) as connection:
        for number in range(20):
            connection.request("PUT", f"/webhdfs/v1/d{number}?op=MKDIRS")
            assert connection.getresponse().read() == b'{"boolean": true}'
            if number == 0:
                first = connection.sock
            assert connection.sock is first is not None
        connection.request("HEAD", "/webhdfs/v1/d1?op=GETFILESTATUS")
        answer = connection.getresponse()
        assert answer.status == 200 and answer.read() == b"" and connection.sock is first


def test_small_answers_do_not_wait_for_acknowledgements(served):
    with contextlib.closing(http.client.HTTPConnection(served.authority, timeout=150)) as connection:
        took = []
        for _ in range(30):
            begin = time.monotonic()
            connection.request("GET", "/webhdfs/v1/?op=GETFILESTATUS")
            connection.getresponse().read()
            took.append(time.monotonic() - begin)
    assert sorted(took)[10] < 0.03, took  # Linux delays an acknowledgement by 40 ms


def test_chunks_of_any_size_and_with_trailers(served):
    with raw(served) as (connection, answers):
        connection.sendall(
            f"PUT /webhdfs/v1/f?op=CREATE&{SECOND_STEP} HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n".encode()
        )
        connection.sendall(b"Host: x\r\n\r\n3;name=value\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n")
        assert head(answers)[0] == "HTTP/1.1 201 Created"
        connection.sendall(b"GET /webhdfs/v1/f?op=OPEN&namenoderpcaddress=x:1 HTTP/1.1\r\nHost: x\r\n\r\n")
        lines = head(answers)
        assert lines[0] == "HTTP/1.1 200 OK" and answers.read(13) == b"abc0123456789"


def test_leave_to_send_is_given_only_when_the_bytes_are_wanted(served):
    request = "PUT /webhdfs/v1/f?op=CREATE&{} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
    with raw(served) as (connection, answers):
        connection.sendall(request.format("user.name=me").encode())
        lines = head(answers)
        assert lines[0].startswith("HTTP/1.1 307") and "Connection: close" in lines and answers.read() == b""
    with raw(served) as (connection, answers):
        connection.sendall(request.format(SECOND_STEP).encode())
        assert head(answers) == ["HTTP/1.1 100 Continue"]
        connection.sendall(b"12345")
        assert head(answers)[0] == "HTTP/1.1 201 Created"
    with raw(served) as (connection, answers):
        connection.sendall(request.format(SECOND_STEP).encode())
        lines = head(answers)
        assert lines[0] == "HTTP/1.1 403 Forbidden" and "Connection: close" in lines


def test_the_way_on_leads_to_the_host_that_was_asked(served):
    for host, expected in (
        ("pai-master:50070", "http://pai-master:50070/"),
        ("[::1]:50070", "http://[::1]:50070/"),
        ("evil/..\r", f"{served.url}/"),
        ("a b", f"{served.url}/"),
        ("", f"{served.url}/"),
    ):
        with raw(served) as (connection, answers):
            connection.sendall(f"PUT /webhdfs/v1/f?op=CREATE HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            (location,) = [line for line in head(answers) if line.startswith("Location: ")]
            assert location.startswith("Location: " + expected), host


@pytest.mark.parametrize(
    "target",
    [
        "/webhdfs/v1/../../../etc/passwd?op=OPEN",
        "/webhdfs/v1/%2e%2e/%2e%2e/etc/passwd?op=OPEN",
        "/webhdfs/v1/..%2f..%2fetc/passwd?op=OPEN",
        "/webhdfs/v1//etc/passwd?op=OPEN",
        "/webhdfs/v1/x%00/../../etc/passwd?op=OPEN",
        f"/webhdfs/v1/{UNFINISHED}?op=LISTSTATUS",
        "/webhdfs/v1/.reserved/.inodes/1/../../etc/passwd?op=OPEN",
        "/webhdfs/v1/" + "a/" * 3000 + "?op=GETFILESTATUS",
        "/webhdfs/v1/" + "x" * 300 + "?op=GETFILESTATUS",
        "/etc/passwd",
        "http://elsewhere/webhdfs/v1/x?op=OPEN",
        "@[::/webhdfs/v1/x?op=OPEN",
    ],
)
def test_no_address_leads_out_of_the_folder(served, target):
    with raw(served) as (connection, answers):
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        status, body = head(answers)[0], answers.read()
    assert status.split()[1] in ("400", "404") and b"root:" not in body


def test_pages_in_browsers_are_refused(served):
    put(served, "/f", b"kept")
    for method, query in (("POST", "op=TRUNCATE&newlength=0"), ("GET", "op=LISTSTATUS")):
        (answer,) = ask(served.authority, method, "/f", query, headers={"Origin": "http://page"})
        assert answer.refusal()[0] == "AccessControlException"
    assert (served.folder / "f").read_bytes() == b"kept"


@pytest.mark.parametrize(
    "headers",
    [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: -5",
        "Content-Length: 5, 5",
        "Transfer-Encoding: gzip, chunked",
    ],
)
def test_bodies_that_have_no_clear_end_are_refused(served, headers):
    with raw(served) as (connection, answers):
        connection.sendall(
            f"PUT /webhdfs/v1/f?op=CREATE&{SECOND_STEP} HTTP/1.1\r\nHost: x\r\n{headers}\r\n\r\n".encode()
        )
        assert head(answers)[0].startswith("HTTP/1.1 400")
    assert not (served.folder / "f").exists()


@pytest.mark.parametrize(
    "body", [b"5\r\n123", b"zz\r\n", b"5\r\n1234567\r\n0\r\n\r\n", b"-1\r\n", b"5\r\n12345\r\n", b"5" * 5000]
)
@pytest.mark.parametrize("operation", ["PUT /webhdfs/v1/new?op=CREATE", "POST /webhdfs/v1/old?op=APPEND"])
def test_a_body_that_breaks_off_changes_nothing(served, body, operation):
    put(served, "/old", b"kept")
    with raw(served) as (connection, answers):
        connection.sendall(
            f"{operation}&{SECOND_STEP} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        )
        connection.sendall(body)
        connection.shutdown(socket.SHUT_WR)
        assert answers.read() == b""
    served.stop()
    assert [path.name for path in served.folder.iterdir()] == ["old"]
    assert (served.folder / "old").read_bytes() == b"kept"


def test_stopping_gives_up_what_is_under_way_and_cleans_up(tmp_path):
    with Served(tmp_path / "root") as served, raw(served) as (connection, _answers):
        connection.sendall(
            f"PUT /webhdfs/v1/f?op=CREATE&{SECOND_STEP} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf".encode()
        )
        wait_for(lambda: list(served.folder.glob(f"{UNFINISHED}/*")))
    assert list((tmp_path / "root").iterdir()) == []


def test_large_files_pass_through_a_server_that_stays_small(process):
    size = 160 << 20
    piece = bytes(1 << 20)
    put(process, "/warm", piece * 4)
    ask(process.authority, "GET", "/warm", "op=OPEN")
    before = process.peak_bytes()
    for headers in ({"Content-Length": str(size)}, {"Transfer-Encoding": "chunked"}):
        (asked,) = ask(process.authority, "PUT", "/big", "op=CREATE&overwrite=true", follow=False)
        target = asked.headers["location"].partition(process.authority)[2]
        with contextlib.closing(http.client.HTTPConnection(process.authority, timeout=150)) as connection:
            chunked = "Transfer-Encoding" in headers
            connection.request("PUT", target, (piece for _ in range(size >> 20)), headers, encode_chunked=chunked)
            assert connection.getresponse().status == 201
    assert (process.folder / "big").stat().st_size == size
    os.truncate(process.folder / "big", 1 << 33)  # sparse: reading it costs no disk
    with contextlib.closing(http.client.HTTPConnection(process.authority, timeout=150)) as connection:
        connection.request("GET", f"/webhdfs/v1/big?op=OPEN&offset=10&length={size}&{SECOND_STEP}")
        answer = connection.getresponse()
        assert answer.headers["Content-Length"] == str(size)
        assert sum(len(piece) for piece in iter(lambda: answer.read(1 << 20), b"")) == size
    *_, last = ask(process.authority, "GET", "/big", f"op=OPEN&offset={(1 << 33) - 3}")
    assert last.body == bytes(3)
    assert process.peak_bytes() - before < 8 << 20


def test_killed_in_the_middle_nothing_has_the_final_name_and_the_next_server_cleans_up(process, tmp_path):
    put(process, "/old", b"old")
    sent = f"HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{'x' * 500}"
    with contextlib.ExitStack() as held:
        for name in ("new", "old"):
            connection, _ = held.enter_context(raw(process))
            connection.sendall(f"PUT /webhdfs/v1/{name}?op=CREATE&overwrite=true&{SECOND_STEP} {sent}".encode())
        wait_for(lambda: sum(path.stat().st_size for path in process.folder.glob(f"{UNFINISHED}/*")) == 1000)
        os.kill(process.server.pid, signal.SIGKILL)
        process.stop()
    wait_for(lambda: all(is_free(path) for path in process.folder.glob(f"{UNFINISHED}/*")))
    assert sorted(path.name for path in process.folder.iterdir()) == [UNFINISHED, "old"]
    with Served(process.folder) as again:
        assert [path.name for path in process.folder.iterdir()] == ["old"]
        *_, last = ask(again.authority, "GET", "/old", "op=OPEN")
        assert last.body == b"old"


def test_a_full_disk_is_said_and_leaves_everything_as_it_was(process):
    put(process, "/f", b"kept")
    # Files that may not grow are what a full disk is to their writer.
    resource.prlimit(process.server.pid, resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    for method, path, operation in (("PUT", "/new", "CREATE"), ("POST", "/f", "APPEND")):
        *_, last = ask(process.authority, method, path, f"op={operation}", bytes(3 << 20))
        assert (last.status, last.refusal()[0]) == (403, "DiskOutOfSpaceException")
    assert (process.folder / "f").read_bytes() == b"kept" and not (process.folder / "new").exists()
    assert list(process.folder.glob(f"{UNFINISHED}/*")) == []


def test_a_failure_of_ours_is_told_without_its_insides(served, monkeypatch):
    monkeypatch.setattr(served.files, "as_user", lambda user: 1 / 0)
    (answer,) = ask(served.authority, "GET", "/", "op=LISTSTATUS")
    assert answer.status == 500 and answer.refusal()[0] == "RuntimeException" and b"zero" not in answer.body


def is_free(path):
    """Whether nobody holds a lock on a file; the kernel takes those of a killed process back a little later."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def wait_for(condition):
    deadline = time.monotonic() + 150
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
