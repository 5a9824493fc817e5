"""What goes wrong between a client and a server: each in one sentence, with the exit code of its kind."""

import contextlib
import http.server
import json
import socket
import threading
import time

import pytest

from outlast import Client
from outlast.errors import CredentialError, HomeError, NotFoundError, PlatformError, SpecError, UsageError
from outlast.remote.refusals import refused
from outlast.server.accounts.book import Accounts
from outlast.server.database import Database
from outlast.settings import Settings, read_server


@contextlib.contextmanager
def answering(status, body):
    """Something on a free port that always answers the same, and what it was asked."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, dict(self.headers)))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


def test_a_server_that_is_not_there_is_named(there):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, not listening
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        said = there.type(f"--server {url} ps")
    assert said.code == 12 and f"no outlast server answers at {url}" in said.err and "Traceback" not in said.err


def test_another_web_server_is_not_mistaken_for_ours(there):
    for status, body in ((404, b"<html>not here</html>"), (200, b"<html>hello</html>")):
        with answering(status, body) as (url, _):
            said = there.type(f"ps --server={url}")
        assert said.code == 2 and "no outlast server" in said.err


def test_an_older_server_is_told_from_a_missing_run(there):
    body = json.dumps({"ok": False, "code": "not_found", "message": "no such address", "hint": ""}).encode()
    with answering(404, body) as (url, _):
        said = there.type(f"ps --server {url}")
    assert said.code == 12 and "older than this outlast" in said.err


def test_a_token_goes_into_a_header_and_nowhere_else(there):
    body = json.dumps({"runs": [], "left_out": 0}).encode()
    with answering(200, body) as (url, asked):
        said = there.type(f"ps --server {url}", OUTLAST_TOKEN="outlast_hush")
    assert said.code == 0
    (path, headers), *_ = asked
    assert headers["Authorization"] == "Bearer outlast_hush"
    assert "hush" not in path + said.out + said.err
    settings = Settings.load({"OUTLAST_TOKEN": "outlast_hush", "OUTLAST_HOME": "/nowhere"})
    assert "hush" not in repr(settings) and not any("hush" in value for _, value, _ in settings.shown())


def test_a_wrong_an_expired_and_a_missing_token(served, there):
    with contextlib.closing(Database(served.settings.database)) as database:
        accounts = Accounts(database)
        expired, _ = accounts.keys.create("token", accounts.users.get("ann").id, lasts_s=1e-6)
    time.sleep(0.001)
    for token in ("outlast_wrong", expired):
        said = there.type("ps", OUTLAST_TOKEN=token)
        assert said.code == 11 and "does not accept this token" in said.err and token not in said.err
    said = there.type("ps", OUTLAST_TOKEN="")
    assert said.code == 11 and "outlast login server" in said.err


@pytest.mark.parametrize(
    "url", ["lab", "ftp://lab", "http://", "http://ann:hush@lab", "http://lab:x", "http://lab?t=hush"]
)
def test_what_is_no_address_of_a_server_is_refused_without_repeating_it(there, url):
    said = there.type(["--server", url, "ps"])
    assert said.code == 2 and "not the address of a server" in said.err and "hush" not in said.err
    with pytest.raises(HomeError):
        Client(server=url)


def test_server_needs_a_value_and_belongs_to_outlast_not_to_the_script(there, here):
    assert there.type("ps --server").code == 2
    assert here.type("run nothing.py -- --server http://x").code == 2
    assert "no such script" in here.type("run nothing.py -- --server http://x").err
    assert there.type("ps --server local").code == 0
    assert read_server("local") == "" and read_server("http://lab:80/") == "http://lab:80"


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "usage", UsageError), (400, "bad_spec", SpecError), (404, "not_found", NotFoundError),
        (401, "not_signed_in", CredentialError), (403, "not_allowed", CredentialError), (409, "conflict", UsageError),
        (422, "invalid", UsageError), (429, "quota_exceeded", UsageError), (500, "bug", PlatformError),
        (502, "store_credentials", CredentialError), (503, "store", PlatformError), (418, "new_code", UsageError),
    ],
)  # fmt: skip
def test_every_refusal_becomes_the_error_of_its_kind(status, code, kind):
    body = json.dumps({"ok": False, "code": code, "message": "m", "hint": "h"}).encode()
    error = refused("http://lab", status, body, with_token=True)
    assert isinstance(error, kind) and error.exit_code == kind.exit_code


def test_logging_in_keeps_a_token_that_works_and_only_that(served, tmp_path):
    from terminal import Terminal

    url = f"http://127.0.0.1:{served.port}"
    terminal = Terminal(tmp_path / "home")
    wrong = terminal.type(f"login server {url} --secret-stdin", stdin="outlast_wrong\n")
    assert wrong.code == 11 and "no access" in terminal.type("whoami").out
    token = served.tokens["ben"]
    done = terminal.type(f"login server {url} --secret-stdin --in-file", stdin=f"{token}\n")
    assert done.code == 0 and "as ben (member)" in done.out and token not in done.out + done.err
    file = tmp_path / "home" / "accesses.json"
    assert token in file.read_text() and file.stat().st_mode & 0o777 == 0o600
    assert terminal.type(f"--server {url} ps").code == 0
    known = terminal.type("whoami --check")
    assert known.code == 0 and "ben is member there" in known.out and token not in known.out
    assert terminal.type("logout server").code == 0
    assert terminal.type(f"--server {url} ps").code == 11
    assert terminal.type("login server", stdin="").code == 2


def test_the_server_of_a_server_is_itself(tmp_path):
    from outlast.server.state import ServerState

    settings = Settings.load({"OUTLAST_SERVER": "http://elsewhere:1", "OUTLAST_TOKEN": "x"}, home=tmp_path)
    state = ServerState.open(settings)
    try:
        assert (state.settings.server, state.settings.token, state.client.settings.server) == ("", "", "")
    finally:
        state.close()
