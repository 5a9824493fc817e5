"""Aim's interface through the server. A small program stands for Aim: what it is told and what it can see is real."""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hub_lab import PATIENCE_S, HubLab
from training_lab import Trainer

from outlast.inside.sandbox import find_bwrap, usable
from outlast.server.aim import process
from outlast.server.hub.trainings.book import TrainingBook
from outlast.server.hub.trainings.wishes import read_wish

pytestmark = [
    pytest.mark.skipif(not usable(find_bwrap())[0], reason="needs bubblewrap"),
    pytest.mark.skipif(Path(sys.executable).with_name("aim").exists(), reason="Aim itself is installed here"),
]

STAND_IN = """#!{python}
import http.server, json, os, socket, socketserver, sys

given = dict(zip(sys.argv[2::2], sys.argv[3::2]))
base, repository = given["--base-path"], given["--repo"]
if os.path.exists(os.path.join(repository, "broken")):
    print("the repository is broken")
    sys.exit(3)

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "aim"

    def log_message(self, *words):
        pass

    def do_GET(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        try:
            socket.create_connection(("127.0.0.1", {port}), timeout=5).close()
            network = True
        except OSError:
            network = False
        told = {{"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body,
                "files": sorted(os.listdir(repository)), "home": os.path.exists({home!r}), "network": network,
                "environ": sorted(os.environ)}}
        data = json.dumps(told).encode()
        out = {{"/out": "/api/v1/runs", "/in": base + "/other?x=1"}}.get(self.path[len(base):])
        self.send_response(307 if out else 200)
        if out:
            self.send_header("Location", out)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Set-Cookie", "outlast_session=stolen")
        self.send_header("Content-Security-Policy", "default-src *")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_DELETE = do_GET

class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

Server(given["--uds"], Handler).serve_forever()
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aim")
    programs = folder / "env" / "bin"
    programs.mkdir(parents=True)
    made = HubLab(folder, PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")
    python = os.path.realpath(sys.executable)
    (programs / "python").symlink_to(python)
    program = programs / "aim"
    program.write_text(STAND_IN.format(python=python, port=made.port, home=str(made.settings.home)))
    program.chmod(0o755)
    yield made
    made.close()
    for each in Path(tempfile.gettempdir()).glob(f"outlast-aim-{made.process.pid}-*"):
        shutil.rmtree(each)  # the server was ended by a signal


def trained(lab, files, **words):
    """A project of ann's, and its training that is over and left these files."""
    ann = Trainer(lab)
    project = ann.project()
    run = lab.add_run("ann", files, aim="aim")
    book = TrainingBook(lab.hub.folder(project))
    wish = read_wish(ann.body(enable_aim=True, **words))
    made = book.add(wish, "ann", run, lab.hub.bare(project).commit(), lambda _: True)
    return project, f"/aim/{project.id}/{made.id}/"


def opened(lab, base):
    """The answer of Aim at its first address, once it is there."""
    deadline = time.monotonic() + PATIENCE_S
    while "is starting" in (answer := lab.call("ann", "GET", base)).text:
        assert answer.headers["refresh"] and time.monotonic() < deadline
        time.sleep(0.05)
    return answer


@pytest.fixture(scope="module")
def base(lab):
    base = trained(lab, {"aim/meta": b"1", "aim/deep/x": b"2", "output_path/w": b"3"})[1]
    assert opened(lab, base).status_code == 200
    return base


def test_aim_gets_its_repository_and_nothing_of_the_server(lab, base):
    told = opened(lab, base).json()
    assert told["path"] == base and told["files"] == ["deep", "meta"]
    assert told["home"] is False and told["network"] is False
    assert not [name for name in told["environ"] if "OUTLAST" in name or "TOKEN" in name]
    assert not {"authorization", "cookie", "host-secret"} & {name.lower() for name in told["headers"]}


def test_a_program_that_lies_above_the_home_does_not_bring_it_back(tmp_path):
    program, home = tmp_path / "bin" / "aim", tmp_path / "home"
    home.mkdir()
    assert str(tmp_path) not in process._programs(program, [home])
    assert str(tmp_path) in process._programs(program, [tmp_path.parent / "other"])


def test_requests_and_answers_pass_with_what_they_need_alone(lab, base):
    headers = {"Cookie": "x=1", "X-Timezone-Offset": "60", "X-Other": "1"}
    answer = lab.call("ann", "POST", f"{base}api/a%2Fb?q=1%20&p", content=b'{"k": 1}', headers=headers)
    told = answer.json()
    assert (told["method"], told["path"], told["body"]) == ("POST", f"{base}api/a%2Fb?q=1%20&p", '{"k": 1}')
    sent = {name.lower(): value for name, value in told["headers"].items()}
    assert sent["x-timezone-offset"] == "60" and not {"cookie", "authorization", "x-other"} & set(sent)
    assert "set-cookie" not in answer.headers and "access-control-allow-origin" not in answer.headers


def test_pages_load_nothing_but_what_lies_below_their_address(lab, base):
    policy = lab.call("ann", "GET", base).headers["content-security-policy"]
    rules = dict(each.strip().split(" ", 1) for each in policy.split(";"))
    own = f"{lab.url}{base}"
    assert rules["default-src"] == "'none'" and rules["connect-src"] == own
    allowed = {word for rule in rules.values() for word in rule.split() if not word.startswith(("'", "allow-"))}
    assert allowed == {own, "data:", "blob:"}
    assert "allow-popups" not in rules["sandbox"] and rules["frame-ancestors"] == "'none'"


def test_a_redirect_stays_below_the_address(lab, base):
    inner = lab.call("ann", "GET", f"{base}in")
    assert (inner.status_code, inner.headers["location"]) == (307, f"{base}other?x=1")
    outer = lab.call("ann", "GET", f"{base}out")
    assert outer.status_code == 503 and "location" not in outer.headers and outer.json()["ok"] is False


def test_others_and_other_sites_are_not_let_in(lab, base):
    for method in ("GET", "POST", "DELETE"):
        for path in (base, f"{base}api/runs"):
            for user in ("cas", "ben", "vic"):
                assert lab.call(user, method, path).status_code == 404, f"{user} {method} {path}"
            assert lab.call(None, method, path).status_code == 401, f"{method} {path}"
    foreign = {"Origin": "http://other.example"}
    assert lab.call("ann", "POST", f"{base}api", headers=foreign).status_code == 403
    assert lab.call("ann", "POST", f"{base}api", headers={"Origin": lab.url}).status_code == 200
    assert lab.call("ann", "GET", "/aim/nothing/there/").status_code == 404
    assert lab.call("ann", "GET", f"{base}../../../api/v1/runs").json().get("method") is None


def test_a_training_without_a_repository_says_so(lab):
    base = trained(lab, {"output_path/w": b"1"})[1]
    answer = opened(lab, base)
    assert answer.status_code == 404 and "has written nothing to its Aim repository" in answer.text


def test_aim_that_ends_is_told_and_tried_again(lab):
    project, base = trained(lab, {"aim/broken": b"1"})
    for _ in range(2):
        answer = opened(lab, base)
        assert answer.status_code == 503 and "exit code 3: the repository is broken" in answer.text
    shutil.rmtree(lab.hub.folder(project))
    assert lab.call("ann", "GET", base).status_code == 404


def test_the_longest_unused_one_makes_room(lab, base):
    others = [trained(lab, {f"aim/{number}": b"1"})[1] for number in range(4)]
    for each in others:
        assert opened(lab, each).status_code == 200
    assert opened(lab, base).json()["files"] == ["deep", "meta"], "it was ended, and is begun anew"
