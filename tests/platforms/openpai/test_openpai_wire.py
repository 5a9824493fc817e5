"""Request bodies of both generations, golden, and the commands that a container runs, in a real bash."""

import functools
import hashlib
import http.server
import json
import re
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml

from outlast.openpai.jobv1 import check_v1
from outlast.openpai.protocolv2 import read_v2
from outlast.platforms.openpai import starter, wire

GOLDEN = Path(__file__).parents[2] / "golden" / "openpai-platform"
OLD_PYTHON = Path("~/.pyenv/versions/3.7.16/bin/python3.7").expanduser()
BOOT = b"import json, sys; told = json.load(open(sys.argv[1])); print('stint with', told['OUTLAST_SECRET_KEY'])\n"
DIGEST = "5a" * 32
#: How releases join the commands of a job, and what they set before.
JOINED = {"k8s since v0.17": ("set -o errexit -o nounset -o pipefail\n", "\n"), "before": ("", " && ")}


def wanted(**changes):
    given = {
        "name": "1116-calm-otter-abc_0003", "image": "python:3.11", "virtual_cluster": "vision", "cpus": 4,
        "memory_mb": 8192, "gpus": 1, "commands": starter.commands_k8s(DIGEST),
        "secrets": {"outlast": "cGFyY2Vs"}, **changes,
    }  # fmt: skip
    return wire.Wanted(**given)


def test_a_kubernetes_job_is_the_golden_one():
    text = wire.yaml_text(wire.job_v2(wanted(sku="K80")))
    assert text == (GOLDEN / "job-v2.yaml").read_text()


def test_a_yarn_job_is_the_golden_one():
    commands = starter.commands_yarn(DIGEST, "http://nn:50070/webhdfs/v1/o/parcel.json?op=OPEN&user.name=ann")
    body = wire.job_v1(wanted(commands=commands, secrets={}, sku="K80"))
    assert json.dumps(body, indent=1) + "\n" == (GOLDEN / "job-v1.json").read_text()


def test_servers_of_both_generations_accept_the_jobs():
    document = read_v2(wire.yaml_text(wire.job_v2(wanted())))
    assert document["jobRetryCount"] == 0 and document["taskRoles"]["main"]["taskRetryCount"] == 0
    checked = check_v1(wire.job_v1(wanted(memory_mb=100)))
    assert checked["retryCount"] == 0 and checked["taskRoles"][0]["shmMB"] <= checked["taskRoles"][0]["memoryMB"]


def test_the_text_is_yaml_and_secrets_are_a_block_of_their_own():
    document = wire.job_v2(wanted())
    text = wire.yaml_text(document)
    assert yaml.safe_load(text) == document
    lines = text.splitlines()
    at = lines.index("secrets:")
    assert lines[at + 1].startswith("  outlast: ") and not lines[at + 2].startswith(" ")
    assert sum("cGFyY2Vs" in line for line in lines) == 1


def test_a_cluster_that_blanks_the_block_in_the_text_blanks_all_of_it():
    """Releases replace everything from `secrets:` to the next line that begins with a word."""
    shown = re.sub(r"^(secrets:).*?(?=^\w)", "\\1 hidden\n", wire.yaml_text(wire.job_v2(wanted())), flags=re.M | re.S)
    assert "cGFyY2Vs" not in shown and yaml.safe_load(shown)["secrets"] == "hidden"


def test_what_is_wanted_is_shown_without_its_secrets():
    assert "cGFyY2Vs" not in repr(wanted())


@pytest.mark.parametrize("name", ["1116-calm-otter-abc.0001", "1116-calm-otter-abc.12345"])
def test_names_are_allowed_everywhere_and_lead_back_to_their_run(name):
    made = wire.pai_name(name)
    assert made.replace("_", "").replace("-", "").isalnum()
    assert wire.run_of(made) == name.partition(".")[0]


# ---- the commands, in bash


class _Store(http.server.BaseHTTPRequestHandler):
    """Answers as WebHDFS does for whole files: GET reads, DELETE removes; some first answers are failures."""

    def __init__(self, files, asked, failures, *arguments):
        self.files, self.asked, self.failures = files, asked, failures
        super().__init__(*arguments)

    def do_GET(self):
        self.asked.append(f"GET {self.path}")
        if self.failures:
            return self._answer(self.failures.pop(), b"")
        return self._answer(200, self.files[self.path.partition("?")[0]])

    def do_DELETE(self):
        self.asked.append(f"DELETE {self.path}")
        del self.files[self.path.partition("?")[0]]
        self._answer(200, b'{"boolean": true}')

    def _answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments):
        pass


@pytest.fixture
def store():
    """(address, files, requests seen, failures to come)."""
    files, asked, failures = {"/boot.py": BOOT}, [], []
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Store, files, asked, failures)
    )  # fmt: skip
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", files, asked, failures
    server.shutdown()
    server.server_close()


@pytest.fixture
def path(tmp_path):
    """A PATH with the oldest Python that an image may have, what else it needs, and a `sleep` that takes no time."""
    python = OLD_PYTHON if OLD_PYTHON.exists() else Path(sys.executable)
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in {"python": f'exec {python} "$@"', "sleep": "exit 0"}.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    for tool in ("mktemp", "bash"):
        (folder / tool).symlink_to(shutil.which(tool))
    return str(folder)


def digest():
    return hashlib.sha256(BOOT).hexdigest()


def bash(commands, release, path, tmp_path):
    head, joint = JOINED[release]
    environ = {"PATH": path, "TMPDIR": str(tmp_path)}
    return subprocess.run(
        ["bash", "-c", head + joint.join(commands)], env=environ, capture_output=True, text=True, timeout=150
    )


def filled(commands, secret):
    return [each.replace("<% $secrets.outlast %>", secret) for each in commands]


@pytest.mark.parametrize("release", JOINED)
def test_a_kubernetes_container_starts_its_stint(release, store, path, tmp_path):
    address, _, _, failures = store
    failures += [503, 500]
    secret = starter.as_secret(starter.parcel(f"{address}/boot.py?x=1", {"OUTLAST_SECRET_KEY": 'it\'s "$HOME" \u00e9'}))
    done = bash(filled(starter.commands_k8s(digest()), secret), release, path, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == 'stint with it\'s "$HOME" \u00e9\n'
    (variables,) = tmp_path.glob("*/variables.json")
    assert stat.S_IMODE(variables.stat().st_mode) == 0o600


def test_a_yarn_container_starts_its_stint_and_removes_the_parcel(store, path, tmp_path):
    address, files, asked, failures = store
    files["/parcel.json"] = starter.parcel(f"{address}/boot.py", {"OUTLAST_SECRET_KEY": "open sesame"})
    failures.append(500)
    url = f"{address}/parcel.json?op=OPEN&user.name=ann"
    done = bash(starter.commands_yarn(digest(), url), "before", path, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "stint with open sesame\n"
    assert "/parcel.json" not in files and asked[-1] == "DELETE /parcel.json?op=DELETE&user.name=ann"


def test_a_boot_file_that_was_changed_is_not_started(store, path, tmp_path):
    address, files, _, _ = store
    files["/boot.py"] = b"print('somebody else')\n"
    secret = starter.as_secret(starter.parcel(f"{address}/boot.py", {"OUTLAST_SECRET_KEY": "x"}))
    done = bash(filled(starter.commands_k8s(digest()), secret), "k8s since v0.17", path, tmp_path)
    assert done.returncode == 1 and not done.stdout
    assert "not the one that was sent" in done.stderr


def test_a_parcel_that_is_gone_ends_the_job(store, path, tmp_path):
    address, _, _, failures = store
    url = f"{address}/parcel.json?op=OPEN"
    failures += [404] * 5
    done = bash(starter.commands_yarn(digest(), url), "before", path, tmp_path)
    assert done.returncode == 1 and not done.stdout
    assert not failures, "five tries"


def test_an_image_without_python_says_so(tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("mktemp", "bash"):
        (folder / tool).symlink_to(shutil.which(tool))
    done = bash(starter.commands_k8s(digest()), "k8s since v0.17", str(folder), tmp_path)
    assert done.returncode == 127 and "this image has no python" in done.stderr
