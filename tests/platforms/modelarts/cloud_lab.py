"""ModelArts on loopback: `outlast serve` plays it, SeaweedFS plays OBS, a proxy between spoils what it is told to."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time

import httpx
import pytest

from outlast.inside.records import Order
from outlast.keeper.home import Home
from outlast.keeper.wake import end_keeper
from outlast.model.spec import CodePack, RunSpec
from outlast.platforms.accounts import Account
from outlast.platforms.base import Launch
from outlast.platforms.modelarts.account import open_session
from outlast.platforms.modelarts.platform import ModelArts
from outlast.server.accounts.pairs import Pairs
from outlast.server.accounts.people import Role
from outlast.server.state import ServerState
from outlast.settings import Settings, write_setting
from outlast.store.profiles import Profiles
from servers.faults import Fault
from servers.faulty import Faulty
from servers.ports import free_ports

PATIENCE_S = 150.0
PASSWORD = "correct horse battery"
#: Exists only as an image, so that nothing is installed for it.
ENGINE = "mindspore_1.6.0-cann_5.0.3.6-py_3.7-euler_2.8.3-aarch64"
FREE, CPU = "modelarts.p3.large.public.free", "modelarts.vm.cpu.2u"


class Cloud:
    """One region: a server with one user, a bucket, and the proxy that everything goes through."""

    def __init__(self, folder, seaweed, free_limit_s=300):
        self.folder = folder
        self.access = seaweed.access._replace(kind="obs", signature="v2")
        self.bucket, self.boto = seaweed.bucket("cloud"), seaweed.boto
        self.home = self.make_home("server")
        for name, value in {"keeper_idle_s": "2", "free_limit_s": str(free_limit_s), "grace_s": "1"}.items():
            write_setting(self.home, name, value)
        self.state = ServerState.open(Settings.load({}, home=self.home))
        users = self.state.accounts.users
        users.add("ann", Role.MEMBER, PASSWORD)
        self.key = self.state.accounts.keys.create("access", users.get("ann").id)[0]
        pairs = Pairs(self.home)
        self.secret, self.project = pairs.secret_of(self.key), pairs.project_id
        self._serve()
        self.proxy = Faulty(self.url)

    def make_home(self, name, access=None):
        """A home that knows the keys of the bucket."""
        home = Home(self.folder / name)
        Profiles(home.path).save("obs", access or self.access, in_file=True)
        boot, shared = home.path / "cache" / "boot", self.folder / "boot"
        if not boot.is_symlink():  # the boot file takes seconds to make, and is the same for all
            shared.mkdir(exist_ok=True)
            boot.parent.mkdir(exist_ok=True)
            boot.symlink_to(shared)
        return home.path

    def _serve(self):
        port = free_ports(1)[0]
        self.url = f"http://127.0.0.1:{port}"
        environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
        command = [sys.executable, "-m", "uvicorn", "--factory", "outlast.server.app:app_of_environment"]
        command += ["--port", str(port), "--log-level", "warning", "--timeout-graceful-shutdown", "2"]
        self.log = self.folder / "server.log"
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command, env={**environ, "OUTLAST_HOME": str(self.home)}, stdout=log, stderr=log
            )
        wait_for(self._answers)

    def _answers(self):
        assert self._process.poll() is None, self.log.read_text()
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/api/v1/health", trust_env=False).status_code == 200

    def close(self):
        self.proxy.close()
        self._process.terminate()
        self._process.wait(PATIENCE_S)
        end_keeper(Home(self.home))
        self.state.close()

    # ---- the client's side

    def account(self, name="cloud", **values):
        """An account that goes through the proxy."""
        usual = {"region": "cn-north-4", "endpoint": self.proxy.url, "store": f"obs://{self.bucket}/lab",
                 "flavor": CPU, "engine": ENGINE, "key": self.key, "secret": self.secret}  # fmt: skip
        given = {**usual, **values}
        secrets = {field: given.pop(field) for field in ("secret", "password", "token") if field in given}
        return Account(name, "modelarts", given, secrets)

    def platform(self, name="client", *, clock=time.time, access=None, **values):
        """The platform as a keeper has it; pauses between tries are left out."""
        account = self.account(**values)
        session = open_session(account, clock=clock, sleep=lambda _: None)
        return ModelArts(account, self.make_home(name, access), session)

    def launch(self, run, stint=1, secrets=None, **order):
        """A stint of a run that nobody wrote down: its runner finds nothing and fails."""
        spec = RunSpec(
            id=run, name="job", user="ann", created_at="", script="train.py", python=sys.executable,
            code=CodePack(sha256="0" * 64, size_bytes=1, files=1), platforms=("cloud",), store="file:///nowhere",
        )  # fmt: skip
        words = {"store": f"obs://{self.bucket}/lab", "grace_s": 1.0, **order}
        return Launch(spec, Order(run, stint, "t" * 16, "cloud", **words), secrets or {})

    def keys(self, prefix, store="lab"):
        found = self.boto.list_objects_v2(Bucket=self.bucket, Prefix=f"{store}/{prefix}").get("Contents", [])
        return [each["Key"] for each in found]

    def jobs(self, run):
        """Names of the jobs that the server really has for a run."""
        return [each.name for page in self.platform("counting")._api().pages(f"outlast-{run}_") for each in page]


def wait_for(look, limit_s=PATIENCE_S):
    deadline = time.monotonic() + limit_s
    while not (found := look()):
        assert time.monotonic() < deadline, "this takes too long"
        time.sleep(0.1)
    return found


def says(status, code="", words="as told", headers=(), body=None, raw="", **matching):
    """The proxy answers in place of the service, in the service's shape; `raw` is no JSON."""
    text = raw or json.dumps({"error_code": code, "error_msg": words} if body is None else body)
    return Fault("answer", status=status, headers=tuple(headers), body=text, **matching)


@pytest.fixture(scope="session")
def region(tmp_path_factory, seaweed):
    cloud = Cloud(tmp_path_factory.mktemp("cloud"), seaweed)
    with contextlib.closing(cloud):
        yield cloud


@pytest.fixture
def cloud(region):
    """The region with nothing spoiled."""
    region.proxy.clear()
    yield region
    region.proxy.clear()
