"""A real server on a free loopback port, with accounts, and runs that exist without having been trained."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from outlast.inside import layout
from outlast.inside.records import Control, End, Manifest, Order, now_text, to_bytes
from outlast.keeper.home import Home
from outlast.keeper.index import Index, RunRow
from outlast.keeper.wake import end_keeper
from outlast.model.first_view import first_view
from outlast.model.ids import new_run_id
from outlast.model.spec import CodePack, RunSpec
from outlast.server.accounts.book import Accounts
from outlast.server.accounts.people import Quota, Role
from outlast.server.database import Database
from outlast.settings import Settings
from outlast.store.registry import open_store
from servers.ports import free_ports

PATIENCE_S = 150.0


class ApiLab:
    """The server's home and its users.

    ann and ben are members, vic is a viewer in ann's group, tim is in a group whose quota is ten bytes, root is admin.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
        self.environ.update(OUTLAST_HOME=str(folder / "home"), OUTLAST_KEEPER_IDLE_S="2")
        self.settings = Settings.load(self.environ)
        self.home = Home(self.settings.home)
        self.store = open_store(self.settings.store)
        database = Database(self.settings.database)
        with contextlib.closing(database):
            self.tokens = self._people(Accounts(database))
        self.port = free_ports(1)[0]
        self._serve()

    def _people(self, accounts):
        roles = {"ann": Role.MEMBER, "ben": Role.MEMBER, "vic": Role.VIEWER, "tim": Role.MEMBER, "root": Role.ADMIN}
        users = {name: accounts.users.add(name, role) for name, role in roles.items()}
        accounts.groups.put("lab", Quota())
        accounts.groups.put("tiny", Quota(stored_bytes=10))
        accounts.groups.join("tiny", "tim")
        for name in ("ann", "vic"):
            accounts.groups.join("lab", name)
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
                httpx.get(f"http://127.0.0.1:{self.port}/api/v1/runs")
                break
            assert self.process.poll() is None and time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)
        self._clients = {user: self.client(user) for user in (None, *self.tokens)}

    def kill(self):
        """As a power cut would end the server; a new one is there when this returns."""
        self.process.kill()
        self.process.wait(PATIENCE_S)
        self._close_clients()
        self._serve()

    def close(self):
        self._close_clients()
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        end_keeper(self.home)

    def _close_clients(self):
        for client in self._clients.values():
            client.close()

    def client(self, user, **options):
        """HTTP as one of the users; with None as nobody."""
        headers = {} if user is None else {"Authorization": f"Bearer {self.tokens[user]}"}
        return httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}/api/v1", headers=headers, timeout=150, verify=False, **options
        )

    def call(self, user, method, path, **options):
        return self._clients[user].request(method, path, **options)

    def add_run(self, user="ann", *, view=None, is_open=False, **fields):
        """A run of a user that no keeper looks after; `view` are fields of its row."""
        words = {
            "id": new_run_id(), "name": "train", "user": user, "created_at": now_text(), "script": "train.py",
            "code": CodePack(sha256="0" * 64, size_bytes=0, files=1), "python": "python3", "store": self.settings.store,
        }  # fmt: skip
        spec = RunSpec(**{**words, **fields})
        self.store.put(layout.control_key(spec.id), Control(at=now_text(), by="another home").to_bytes())
        self.store.put(layout.spec_key(spec.id), to_bytes(spec.to_json()))
        body = {**first_view(spec.to_json()).to_json(), **(view or {})}
        row = RunRow(
            spec.id, spec.name, spec.user, body["state"], "local", spec.created_at, spec.store, open=is_open, view=body
        )
        with contextlib.closing(Index(self.home.index)) as index:
            index.put(row)
        return spec.id

    def order(self, run, stint):
        self.store.put(
            layout.order_key(run, stint),
            Order(run=run, stint=stint, token="", platform="local", limit_s=None, grace_s=1.0).to_bytes(),
        )

    def say(self, run, stint, number, data):
        self.store.put(layout.log_key(run, stint, number), data)

    def end(self, run, stint, reason="finished"):
        self.store.put(layout.end_key(run, stint), End(reason=reason, at=now_text()).to_bytes())

    def keep(self, run, files, key=None):
        """Files as the outputs of a run, or as the checkpoint of that id."""
        from outlast.inside.blobs import Blobs

        blobs = Blobs(self.store)
        entries = {
            path: {"sha256": blobs.put_bytes(data), "size": len(data), "mode": 0o644} for path, data in files.items()
        }
        manifest = Manifest(run=run, stint=1, number=1, files=entries, created_at=now_text())
        where = layout.outputs_key(run) if key is None else layout.checkpoint_key(run, key)
        self.store.put(where, manifest.to_bytes())


@pytest.fixture(scope="session")
def api(tmp_path_factory):
    lab = ApiLab(tmp_path_factory.mktemp("api"))
    yield lab
    lab.close()


class Events:
    """What a stream of server-sent events says, one event after the other."""

    def __init__(self, response):
        self.cursor = ""
        self._lines = response.iter_lines()

    def __iter__(self):
        kind, data = "message", ""
        for line in self._lines:
            if line.startswith("id: "):
                self.cursor = line[4:]
            elif line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: "):
                data = line[6:]
            elif not line and data:
                yield kind, json.loads(data)
                kind, data = "message", ""
