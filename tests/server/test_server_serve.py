"""`outlast serve` as a process: what it refuses, how it starts and how it stops."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import httpx
import pytest

from outlast.cli.entry import main
from outlast.server.accounts.book import Accounts
from outlast.server.accounts.people import Role
from outlast.server.database import Database


@contextlib.contextmanager
def served(home, *arguments, **environ):
    """A server of the command line; gives the process and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "outlast.cli.entry", "serve", "--port", "0", *arguments],
        env={**os.environ, "OUTLAST_HOME": str(home), "OUTLAST_KEEPER_IDLE_S": "1", **environ},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        first = process.stdout.readline()
        found = re.search(r" on (https?://[^ ]+) ", first)
        assert found, first + process.stdout.read()
        yield process, found[1]
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(150)
        process.stdout.close()


def wait_for(what, seconds=150.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx.TransportError):
            if found := what():
                return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


def get(url, **words):
    return httpx.get(url, timeout=150, trust_env=False, **words)


@pytest.fixture
def refusal(tmp_path, monkeypatch, capsys):
    """What the command line says when it does not start."""
    monkeypatch.setenv("OUTLAST_HOME", str(tmp_path / "home"))

    def call(*arguments):
        assert main(["serve", *arguments]) == 2
        return capsys.readouterr().err

    return call


def test_listening_to_others_without_users_is_refused_with_a_hint(refusal):
    assert "outlast user add NAME --role admin" in refusal("--host", "0.0.0.0", "--port", "0")


def test_a_port_in_use_is_named(refusal):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert f"port {port}: address already in use" in refusal("--port", port)


def test_the_first_start_prints_a_link_and_a_stop_lets_requests_end(tmp_path):
    with served(tmp_path / "home") as (process, url):
        lines = process.stdout.readline() + process.stdout.readline()
        link = re.search(rf"{url}/welcome\?code=\S+", lines)[0]
        page = wait_for(lambda: get(link))
        assert page.status_code == 200 and "Make the first account" in page.text
        process.send_signal(signal.SIGTERM)
        assert process.wait(150) == 0
        assert "stopped; runs go on" in process.stdout.read()


def test_several_processes_share_postgresql_and_leave_with_their_parent(tmp_path, postgres, empty_postgres):
    environ = {"OUTLAST_DATABASE": postgres}
    database = Database(empty_postgres)
    accounts = Accounts(database)
    name = f"admin{os.getpid()}"
    token, _ = accounts.keys.create("token", accounts.users.add(name, Role.ADMIN).id)
    with served(tmp_path / "home", "--processes", "2", **environ) as (process, url):
        headers = {"Authorization": f"Bearer {token}"}
        wait_for(lambda: get(f"{url}/api/v1/me", headers=headers).status_code == 200)
        codes = []

        def work():
            with httpx.Client(headers=headers, trust_env=False, timeout=150) as client:
                codes.extend(client.get(f"{url}/api/v1/me").status_code for _ in range(20))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert codes == [200] * 80
        process.kill()  # the hard way: nobody is left to tell the children
        process.wait(150)

        def is_gone():
            try:
                get(f"{url}/api/v1/health")
            except httpx.ConnectError:
                return True
            return False

        wait_for(is_gone)
    database.close()


def test_over_tls_cookies_are_for_tls_only(tmp_path, refusal):
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "k.pem", "-out", "c.pem", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
        cwd=tmp_path, capture_output=True,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("openssl is not installed")
    files = ["--cert", str(tmp_path / "c.pem"), "--key", str(tmp_path / "k.pem")]
    with served(tmp_path / "home", *files) as (process, url):
        import ssl

        trust = ssl.create_default_context(cafile=tmp_path / "c.pem")
        page = wait_for(lambda: get(f"{url}/sign-in", verify=trust))
        assert url.startswith("https://") and "; secure" in page.headers["set-cookie"].lower()
        assert "max-age=" in page.headers["strict-transport-security"]
        process.send_signal(signal.SIGINT)
        assert process.wait(150) == 0
    assert "belong together" in refusal(*files[:2])
