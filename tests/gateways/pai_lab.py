"""A server with the OpenPAI and WebHDFS doors, in a process of its own, and the people who use it."""

import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
import uvicorn

from outlast.keeper.home import Home
from outlast.keeper.wake import end_keeper
from outlast.server.accounts.book import Accounts
from outlast.server.accounts.people import Quota, Role
from outlast.server.app import create_app
from outlast.server.database import Database
from outlast.server.state import ServerState
from outlast.settings import Settings
from servers.ports import free_ports

PATIENCE_S = 150.0
PASSWORD = "correct horse battery"


class PaiLab:
    """ann and ben are members, cat is in ann's group `lab`, vic is a viewer there, tim may have no stint, root is
    admin."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
        self.environ.update(OUTLAST_HOME=str(folder / "home"), OUTLAST_KEEPER_IDLE_S="2")
        self.settings = Settings.load(self.environ)
        self.home = Home(self.settings.home)
        with contextlib.closing(Database(self.settings.database)) as database:
            self.tokens = self._people(Accounts(database))
        self.port = free_ports(1)[0]
        self.authority = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.authority}"
        self._serve()
        self._clients = {user: self.client(user) for user in (None, *self.tokens)}

    def _people(self, accounts):
        roles = dict.fromkeys(("ann", "ben", "cat", "tim"), Role.MEMBER) | {"vic": Role.VIEWER, "root": Role.ADMIN}
        users = {
            name: accounts.users.add(name, role, PASSWORD if name == "ann" else None) for name, role in roles.items()
        }
        accounts.queues.put("fast", 2.0)
        accounts.groups.put("lab", Quota(), "fast")
        accounts.groups.put("none", Quota(stints=0))
        for group, name in (("lab", "ann"), ("lab", "cat"), ("lab", "vic"), ("none", "tim")):
            accounts.groups.join(group, name)
        return {name: accounts.keys.create("token", user.id)[0] for name, user in users.items()}

    def _serve(self):
        command = [sys.executable, "-m", "uvicorn", "--factory", "outlast.server.app:app_of_environment"]
        command += ["--port", str(self.port), "--log-level", "warning", "--timeout-graceful-shutdown", "2"]
        self.log = self.folder / "server.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, env=self.environ, stdout=log, stderr=log)
        deadline = time.monotonic() + PATIENCE_S
        while True:
            with contextlib.suppress(httpx.TransportError):
                assert httpx.get(f"{self.url}/healthz", trust_env=False).text == "Pylon ready."
                break
            assert self.process.poll() is None and time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)

    def close(self):
        for client in self._clients.values():
            client.close()
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        end_keeper(self.home)

    def client(self, user=None):
        headers = {} if user is None else {"Authorization": f"Bearer {self.tokens[user]}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE_S, trust_env=False)

    def call(self, user, method, path, **options):
        return self._clients[user].request(method, path, **options)

    def pai(self, user, method, path, **options):
        """A call of OpenPAI's API: `v1/jobs`."""
        return self.call(user, method, f"/rest-server/api/{path}", **options)

    def hdfs(self, user, method, path, op, body=None, **query):
        """A call of WebHDFS, both steps when there are two; bytes go with the second."""
        answer = self.call(user, method, f"/webhdfs/v1{path}", params={"op": op, **query})
        if answer.status_code == 307:
            answer = self.call(user, method, answer.headers["location"], content=body)
        return answer

    def put(self, user, path, body=b"x", **query):
        answer = self.hdfs(user, "PUT", path, "CREATE", body, **{"overwrite": "true", **query})
        assert answer.status_code == 201, answer.text

    def until(self, condition):
        deadline = time.monotonic() + PATIENCE_S
        while not (found := condition()):
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.1)
        return found

    def wait(self, user, framework):
        """The detail of a job that has ended."""

        def ended():
            found = self.pai(user, "GET", f"v2/jobs/{framework}").json()
            return found if found["jobStatus"]["state"] in ("SUCCEEDED", "FAILED", "STOPPED") else None

        return self.until(ended)

    def peak_bytes(self):
        """The most memory that the server has had since `forget_peak`."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", text)[1]) * 1024

    def forget_peak(self):
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")


@contextlib.contextmanager
def serving_alone(home):
    """A server without accounts, in this process: what it believes in can be changed here."""
    state = ServerState.open(Settings.load({}, home=home))
    server = uvicorn.Server(uvicorn.Config(create_app(state), lifespan="on", log_config=None, access_log=False))
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    deadline = time.monotonic() + PATIENCE_S
    while not server.started:
        assert thread.is_alive() and time.monotonic() < deadline
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
        listening.close()


def refusal(answer):
    """(status, exception) of a refused call of WebHDFS."""
    return answer.status_code, answer.json()["RemoteException"]["exception"]


@pytest.fixture(scope="session")
def pai(tmp_path_factory):
    lab = PaiLab(tmp_path_factory.mktemp("pai"))
    yield lab
    lab.close()
