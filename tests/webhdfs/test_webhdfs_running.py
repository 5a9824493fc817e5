"""Servers on demand: one for each port, as long as somebody needs it, whoever dies in between."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from webhdfs_served import ask

import outlast
from outlast.errors import PlatformError, UsageError
from outlast.webhdfs.running import ensure, keep_only, release, require_port, running, start
from servers.ports import free_ports


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    yield tmp_path / "home"
    keep_only(tmp_path / "home", ())
    assert running(tmp_path / "home") == []


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a folder" / "f").write_bytes(b"here")
    return tmp_path / "a folder"


@pytest.fixture
def address():
    return f"hdfs://127.0.0.1:{free_ports(1)[0]}"


def content(server, path="/f"):
    return ask(server.url.partition("//")[2], "GET", path, "op=OPEN")[-1].body


def test_a_server_runs_while_somebody_needs_it(home, folder, address):
    first = ensure(home, address, folder, "run one")
    second = ensure(home, address, folder, "run/two")
    assert first == second and address.endswith(f":{first.port}") and content(first) == b"here"
    release(home, "run one")
    assert content(first) == b"here" and running(home) == [first]
    release(home, "run/two")
    assert not first.is_alive() and running(home) == []
    again = ensure(home, address, folder, "run one")
    assert again.pid != first.pid and content(again) == b"here"


def test_a_server_that_died_is_started_again_with_what_it_knew(home, folder, address):
    first = ensure(home, address, folder, "run")
    authority = first.url.partition("//")[2]
    ask(authority, "PUT", "/f", "op=SETOWNER&owner=bob")
    before = ask(authority, "GET", "/f", "op=GETFILESTATUS")[0].document()
    os.kill(first.pid, signal.SIGKILL)
    first.stop()
    second = ensure(home, address, folder, "run")
    assert second.pid != first.pid and second.url == first.url
    assert ask(authority, "GET", "/f", "op=GETFILESTATUS")[0].document() == before
    assert before["FileStatus"]["owner"] == "bob"


def test_needs_of_the_dead_are_dropped(home, folder, address):
    server = ensure(home, address, folder, "gone")
    ensure(home, address, folder, "here")
    keep_only(home, ["here", "other"])
    assert server.is_alive()
    release(home, "here")
    assert not server.is_alive()


def test_asking_for_a_port_writes_nothing(home, folder, address):
    require_port(home, address, folder)
    assert list(home.iterdir()) == []
    ensure(home, address, folder, "run")
    require_port(home, address, folder)  # it plays that folder already


def test_one_port_plays_one_folder(home, folder, address, tmp_path):
    ensure(home, address, folder, "one")
    (tmp_path / "other").mkdir()
    with pytest.raises(UsageError, match=r"serves .*a folder.* not .*other.*another port"):
        ensure(home, address, tmp_path / "other", "two")


def test_why_it_cannot_start_is_said(home, folder, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        for attempt in (ensure, lambda *given: require_port(*given[:3])):
            with pytest.raises(UsageError, match=rf"127\.0\.0\.1:{port} \(address already in use\).* map another one"):
                attempt(home, f"hdfs://127.0.0.1:{port}", folder, "run")
    with pytest.raises(PlatformError, match=r"no folder .*none to serve; make it with: mkdir -p"):
        start(tmp_path / "none")
    with pytest.raises(PlatformError, match=r"no folder .*f to serve"):
        start(folder / "f")
    assert running(home) == []


@pytest.mark.parametrize("address", ["hdfs://", "http://x:1", "hdfs://x:99999", "50070"])
def test_a_bad_address_is_named(home, folder, address):
    with pytest.raises(UsageError, match=r"bad address .*hdfs://127\.0\.0\.1:50070"):
        ensure(home, address, folder, "run")


def test_the_command_serves_until_it_is_interrupted(folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "outlast.webhdfs", "--root", str(folder), "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        line = process.stdout.readline()
        assert "is served as WebHDFS at http://127.0.0.1:" in line
        url = line.rpartition(" at ")[2].partition(";")[0]
        assert ask(url.partition("//")[2], "GET", "/f", "op=OPEN")[-1].body == b"here"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=150) == 0 and process.stderr.read() == ""


def test_the_server_needs_only_the_standard_library():
    script = "import sys; sys.path.insert(0, sys.argv[1]); import outlast.webhdfs.__main__"
    command = [sys.executable, "-I", "-S", "-c", script, str(Path(outlast.__file__).parents[1])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150)
    assert (done.returncode, done.stderr) == (0, "")
