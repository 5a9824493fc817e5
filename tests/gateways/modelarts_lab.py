"""A real server with a bucket that a folder plays, users with access keys, and the official client."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import uuid

import httpx
import pytest
from huaweicloudsdkcore.auth.credentials import BasicCredentials
from huaweicloudsdkcore.region.region import Region
from huaweicloudsdkcore.sdk_request import SdkRequest
from huaweicloudsdkcore.signer.signer import Signer

from outlast.keeper.home import Home
from outlast.keeper.wake import end_keeper
from outlast.operations.maps import map_store
from outlast.server.accounts.pairs import Pairs
from outlast.server.accounts.people import Quota, Role
from outlast.server.state import ServerState
from outlast.settings import Settings, write_setting
from servers.ports import free_ports

PASSWORD = "correct horse battery"
PATIENCE_S = 120.0
FINAL = ("Completed", "Failed", "Terminated", "Abnormal")
#: Exists only as an image, so that nothing is installed.
ENGINE = "mindspore_1.6.0-cann_5.0.3.6-py_3.7-euler_2.8.3-aarch64"

TRAIN = """
import argparse, os, sys, time
parser = argparse.ArgumentParser()
for name in ("data_url", "train_url", "epochs", "wait"):
    parser.add_argument("--" + name)
given, _ = parser.parse_known_args()
print("data", sorted(os.listdir(given.data_url)) if given.data_url else "none", flush=True)
for epoch in range(int(given.epochs or 3)):
    print("epoch %d loss %.3f" % (epoch, 1 / (epoch + 1)), flush=True)
if given.train_url:
    with open(os.path.join(given.train_url, "model.txt"), "w") as file:
        file.write("weights of " + given.epochs)
print("token", os.environ.get("HF_TOKEN"), flush=True)
while given.wait:
    time.sleep(0.05)
"""

FIRST = """
import argparse
import moxing as mox
parser = argparse.ArgumentParser()
parser.add_argument("--data_url")
parser.add_argument("--train_url")
given, _ = parser.parse_known_args()
print("given", given.data_url, given.train_url, flush=True)
mox.file.copy_parallel(given.data_url, "data")
print("copied", mox.file.read("data/a.txt"), flush=True)
mox.file.write(given.train_url + "done.txt", "weights")
"""


class ModelArtsLab:
    """ann and ben are members, vic is a viewer in ann's group, root is admin; tim's group may run nothing."""

    def __init__(self, folder):
        self.home = folder / "home"
        home = Home(self.home)
        write_setting(self.home, "keeper_idle_s", "2")
        write_setting(self.home, "free_limit_s", "3")
        write_setting(self.home, "grace_s", "1")
        self.bucket = folder / "bucket"
        for path, text in {
            "code/sub/train.py": TRAIN,
            "code/first.py": FIRST,
            "code/.gitignore": "*.py",
            "data/a.txt": "1",
        }.items():
            (self.bucket / path).parent.mkdir(parents=True, exist_ok=True)
            (self.bucket / path).write_text(text)
        self.settings = Settings.load({}, home=home.path)
        map_store(self.settings, "obs://lab", self.bucket)
        self.state = ServerState.open(self.settings)
        self._people()
        self.pairs = Pairs(self.home)
        self.project = self.pairs.project_id
        self._serve()

    def _people(self):
        accounts = self.state.accounts
        roles = {"ann": Role.MEMBER, "ben": Role.MEMBER, "vic": Role.VIEWER, "tim": Role.MEMBER, "root": Role.ADMIN}
        for name, role in roles.items():
            accounts.users.add(name, role, PASSWORD if name == "ann" else None)
        accounts.groups.put("lab", Quota())
        accounts.groups.put("tiny", Quota(stints=0))
        for group, name in (("lab", "ann"), ("lab", "vic"), ("tiny", "tim")):
            accounts.groups.join(group, name)
        self.access = {name: self.make_key(name) for name in roles}

    def make_key(self, name):
        return self.state.accounts.keys.create("access", self.state.accounts.users.get(name).id)[0]

    def _serve(self):
        self.host = f"127.0.0.1:{free_ports(1)[0]}"
        self.url = f"http://{self.host}"
        environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
        command = [sys.executable, "-m", "uvicorn", "--factory", "outlast.server.app:app_of_environment"]
        command += ["--port", self.host.partition(":")[2], "--log-level", "warning", "--timeout-graceful-shutdown", "2"]
        self.log = self.home.parent / "server.log"
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command, env={**environ, "OUTLAST_HOME": str(self.home)}, stdout=log, stderr=log
            )
        self.http = httpx.Client(base_url=self.url, timeout=PATIENCE_S, trust_env=False)
        self.wait(self._answers)

    def _answers(self):
        assert self._process.poll() is None, self.log.read_text()
        with contextlib.suppress(httpx.TransportError):
            return self.http.get("/api/v1/health").status_code == 200

    def close(self):
        self.http.close()
        self._process.terminate()
        self._process.wait(PATIENCE_S)
        end_keeper(Home(self.home))
        self.state.close()

    # ---- asking

    def signed(self, user, method, path, body=None, *, headers=None, query=(), secret=None):
        """(path with query, headers, body) of a request that the official signer signed."""
        # Two equal requests of one second would have one signature, and that works once.
        nonce = {"X-Nonce": uuid.uuid4().hex}
        given = {"Content-Type": "application/json", "X-Project-Id": self.project, **nonce, **(headers or {})}
        text = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = SdkRequest(
            method=method, schema="http", host=self.host, resource_path=path, query_params=list(query),
            header_params=given, body=text,
        )  # fmt: skip
        access = self.access.get(user, user)
        done = Signer(BasicCredentials(access, secret or self.pairs.secret_of(access))).sign(request)
        return done.uri, done.header_params, text

    def call(self, user, method, path, body=None, **options):
        """One request of a user, signed; with None as nobody."""
        path = self.path(path)
        if user is None:
            return self.http.request(method, path, json=body)
        uri, headers, text = self.signed(user, method, path, body, **options)
        return self.http.request(method, uri, headers=headers, content=text)

    def path(self, path):
        """`/training-jobs` and `/v1/training-jobs` with generation and project; others as they are."""
        if path.startswith(("/v3/", "/modelarts/")) or self.project in path:
            return path
        generation, rest = ("v1", path[3:]) if path.startswith("/v1/") else ("v2", path)
        return f"/{generation}/{self.project}{rest}"

    def sdk(self, user):
        """The official client of a user; it asks for the project by itself."""
        from huaweicloudsdkmodelarts.v1 import ModelArtsClient  # takes seconds: thousands of models

        access = self.access[user]
        credentials = BasicCredentials(access, self.pairs.secret_of(access)).with_iam_endpoint(self.url)
        builder = ModelArtsClient.new_builder().with_credentials(credentials)
        return builder.with_region(Region("cn-north-4", self.url)).build()

    # ---- jobs

    def follow(self, user, job):
        """Wait until a job of the second generation is over; its body."""
        return self.wait(lambda: self._over(self.call(user, "GET", f"/training-jobs/{job}").json()))

    def _over(self, body):
        return body if body["status"]["phase"] in FINAL else None

    def wait(self, look):
        deadline = time.monotonic() + PATIENCE_S
        while not (found := look()):
            assert time.monotonic() < deadline, "this takes too long"
            time.sleep(0.1)
        return found

    def create(self, user, name, **words):
        response = self.call(user, "POST", "/training-jobs", job_body(name, **words))
        assert response.status_code == 201, response.text
        return response.json()["metadata"]["id"]


def job_body(name, *, flavor="modelarts.vm.cpu.2u", wait=False, env=None, **algorithm):
    """A request of the second generation."""
    parameters = [{"name": "epochs", "value": "3"}, *([{"name": "wait", "value": "yes"}] if wait else [])]
    return {
        "kind": "job",
        "metadata": {"name": name, "description": "a small training", "workspace_id": "0"},
        "algorithm": {
            "code_dir": "/lab/code/", "boot_file": "/lab/code/sub/train.py", "engine": {"engine_id": ENGINE},
            "parameters": parameters, "environments": env or {},
            "inputs": [{"name": "data_url", "remote": {"obs": {"obs_url": "/lab/data/"}}}],
            "outputs": [{"name": "train_url", "remote": {"obs": {"obs_url": f"obs://lab/out/{name}/"}}}],
            **algorithm,
        },
        "spec": {"resource": {"flavor_id": flavor, "node_count": 1}},
    }  # fmt: skip


def first_body(name, **config):
    """A request of the first generation."""
    return {
        "job_name": name, "job_desc": "the old way",
        "config": {
            "worker_server_num": 1, "app_url": "/lab/code/", "boot_file_url": "/lab/code/first.py",
            "data_url": "/lab/data/", "train_url": f"/lab/out/{name}/", "log_url": "/lab/log/", "engine_id": 130,
            "spec_id": 1, "parameter": [{"label": "epochs", "value": "2"}], **config,
        },
    }  # fmt: skip


@pytest.fixture(scope="session")
def door(tmp_path_factory):
    lab = ModelArtsLab(tmp_path_factory.mktemp("modelarts"))
    with contextlib.closing(lab):
        yield lab


@pytest.fixture(scope="session")
def done(door):
    """A job of ann that has ended."""
    job = door.create("ann", "private-words")
    assert door.follow("ann", job)["status"]["phase"] == "Completed"
    return job
