"""A real server of our own and the real git and git-lfs: each user's commands in a folder and a home of their own."""

import contextlib
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import httpx
import pytest

from outlast.inside import layout
from outlast.inside.blobs import Blobs
from outlast.inside.records import Control, Manifest, now_text, to_bytes
from outlast.keeper.home import Home
from outlast.keeper.index import Index, RunRow
from outlast.keeper.wake import end_keeper
from outlast.model.first_view import first_view
from outlast.model.ids import new_run_id
from outlast.model.spec import CodePack, RunSpec
from outlast.operations.hubs import open_hub
from outlast.server.accounts.book import Accounts
from outlast.server.accounts.people import Quota, Role
from outlast.server.database import Database
from outlast.settings import Settings
from servers.ports import free_ports

PATIENCE_S = 240.0

#: As `outlast serve` does it, without the pages.
_SERVER = """
import sys, uvicorn
from outlast.server.app import app_of_environment
from outlast.server.intake import IntakeProtocol

uvicorn.run(app_of_environment, factory=True, port=int(sys.argv[1]), http=IntakeProtocol, log_level="warning",
            timeout_graceful_shutdown=2)
"""

#: As `git lfs install` would leave it, without starting git for each line.
_CONFIG = """
[user]
    name = Somebody
    email = somebody@example.org
[init]
    defaultBranch = main
[gc]
    auto = 0
[lfs]
    locksverify = true
[filter "lfs"]
    clean = git-lfs clean -- %f
    smudge = git-lfs smudge -- %f
    process = git-lfs filter-process
    required = true
"""


class HubLab:
    """ann and ben are members, both in the group vision; cas is a member alone, vic a viewer in vision, root is admin.

    tim is in the group tiny, which may store 100 KB.
    """

    def __init__(self, folder: Path, prepare=None, **environ: str) -> None:
        """`prepare` is given the settings before anything is opened; `environ` are further variables of the server."""
        self.folder = folder
        self.environ = {name: value for name, value in os.environ.items() if not name.startswith(("OUTLAST_", "GIT_"))}
        self.environ.update(OUTLAST_HOME=str(folder / "home"), OUTLAST_KEEPER_IDLE_S="2", **environ)
        self.settings = Settings.load(self.environ)
        Home(self.settings.home)
        if prepare is not None:
            prepare(self.settings)
        with contextlib.closing(Database(self.settings.database)) as database:
            self.tokens = self._people(Accounts(database))
        self.hub = open_hub(self.settings)
        self.port = free_ports(1)[0]
        self._serve()
        self._http = httpx.Client(timeout=PATIENCE_S, trust_env=False)

    def _people(self, accounts):
        roles = {"ann": Role.MEMBER, "ben": Role.MEMBER, "cas": Role.MEMBER, "tim": Role.MEMBER, "vic": Role.VIEWER,
                 "root": Role.ADMIN}  # fmt: skip
        users = {name: accounts.users.add(name, role) for name, role in roles.items()}
        accounts.groups.put("vision", Quota())
        accounts.groups.put("tiny", Quota(stored_bytes=100 * 1024))
        accounts.groups.join("tiny", "tim")
        for name in ("ann", "ben", "vic"):
            accounts.groups.join("vision", name)
        tokens = {name: accounts.keys.create("token", user.id)[0] for name, user in users.items()}
        tokens["late"] = accounts.keys.create("token", users["ann"].id, lasts_s=1e-6)[0]
        return tokens

    def _serve(self):
        command = [sys.executable, "-c", _SERVER, str(self.port)]
        self.log = self.folder / "server.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, env=self.environ, stdout=log, stderr=log)
        deadline = time.monotonic() + PATIENCE_S
        while True:
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"{self.url}/api/v1/health", trust_env=False)
                return
            assert self.process.poll() is None and time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def close(self):
        self._http.close()
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        end_keeper(Home(self.settings.home))

    def call(self, user, method, path, **options):
        """HTTP as one of the users; with None as nobody."""
        headers = {**options.pop("headers", {})}
        if user is not None:
            headers["Authorization"] = f"Bearer {self.tokens[user]}"
        return self._http.request(method, self.url + path, headers=headers, **options)

    def make(self, user, kind="model", owner=None, **words):
        """A new repository; its path."""
        name = f"{kind}-{uuid.uuid4().hex[:8]}"
        body = {"name": name, "kind": kind, "owner": owner or user, **words}
        made = self.call(user, "POST", "/api/v1/repositories", json=body)
        assert made.status_code == 201, made.text
        return made.json()["path"]

    def add_run(self, user, files, **fields):
        """A run that is over, with these outputs; nobody has trained it."""
        words = {
            "id": new_run_id(), "name": "lenet", "user": user, "created_at": now_text(), "script": "train.py",
            "code": CodePack(sha256="0" * 64, size_bytes=0, files=1), "python": "python3", "store": self.settings.store,
        }  # fmt: skip
        spec = RunSpec(**{**words, **fields})
        store, blobs = self.hub.store, Blobs(self.hub.store)
        store.put(layout.control_key(spec.id), Control(at=now_text(), by="another home").to_bytes())
        store.put(layout.spec_key(spec.id), to_bytes(spec.to_json()))
        entries = {
            path: {"sha256": blobs.put_bytes(data), "size": len(data), "mode": 0o644} for path, data in files.items()
        }
        manifest = Manifest(run=spec.id, stint=1, number=1, files=entries, created_at=now_text())
        if files:
            store.put(layout.outputs_key(spec.id), manifest.to_bytes())
        body = first_view(spec.to_json()).to_json()
        row = RunRow(
            spec.id, spec.name, user, body["state"], "local", spec.created_at, spec.store, open=False, view=body
        )
        with contextlib.closing(Index(Home(self.settings.home).index)) as index:
            index.put(row)
        return spec.id

    def address(self, user, path):
        """Where `user` clones and pushes; None: without a word about who."""
        who = "" if user is None else f"{user}:{self.tokens[user]}@"
        return f"http://{who}127.0.0.1:{self.port}/{path}.git"


class Work:
    """A folder in which git runs as somebody who never used this machine before."""

    def __init__(self, lab, folder):
        self.lab = lab
        self.folder = folder
        home = folder / ".home"
        home.mkdir()
        self.environ = {
            "PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_ASKPASS": "/bin/false",
        }  # fmt: skip
        (home / ".gitconfig").write_text(_CONFIG)

    def run(self, *words, cwd=None, **environ):
        return subprocess.run(
            words, cwd=self.folder / cwd if cwd else self.folder, env={**self.environ, **environ}, text=True,
            capture_output=True, timeout=PATIENCE_S * 3, check=False,
        )  # fmt: skip

    def git(self, *words, cwd=None, **environ):
        done = self.run("git", *words, cwd=cwd, **environ)
        assert done.returncode == 0, f"git {words}\n{done.stdout}\n{done.stderr}\n{self.lab.log.read_text()[-3000:]}"
        return done.stdout

    def refused(self, *words, cwd=None, **environ):
        """What git says when it fails, as it must."""
        done = self.run("git", *words, cwd=cwd, **environ)
        assert done.returncode != 0, done.stdout
        return done.stderr

    def clone(self, user, path, into, *options):
        self.git("clone", "--quiet", *options, self.lab.address(user, path), into)
        return self.folder / into

    def begin(self, user, path, into="repo", files=None):
        """A new local repository whose origin is the hub's."""
        self.git("init", "--quiet", into)
        self.git("remote", "add", "origin", self.lab.address(user, path), cwd=into)
        if files:
            self.commit(files, into)
        return self.folder / into

    def commit(self, files, cwd="repo", message="a step"):
        for name, data in files.items():
            target = self.folder / cwd / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data if isinstance(data, bytes) else data.encode())
        self.git("add", "--all", cwd=cwd)
        self.git("commit", "--quiet", "-m", message, cwd=cwd)

    def push(self, cwd="repo", *options):
        self.git("push", "--quiet", *options, "origin", "main", cwd=cwd)


@pytest.fixture(scope="session")
def hub_lab(tmp_path_factory):
    lab = HubLab(tmp_path_factory.mktemp("hub"))
    yield lab
    lab.close()


@pytest.fixture
def work(hub_lab, tmp_path):
    return Work(hub_lab, tmp_path)
