"""A real server on loopback for tests of accounts, and a real PostgreSQL where there is one."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import uvicorn

from outlast.server.accounts.book import Accounts
from outlast.server.accounts.people import Quota, Role
from outlast.server.app import create_app
from outlast.server.database import Database
from outlast.server.state import ServerState
from outlast.settings import Settings

PASSWORD = "correct horse battery"


@dataclass
class ServerLab:
    """A running server and the accounts behind it."""

    url: str
    state: ServerState

    @property
    def accounts(self) -> Accounts:
        return self.state.accounts

    def client(self, user: str | None = None, **words) -> httpx.Client:
        """A client with a token of `user`, or without any."""
        headers = {"Authorization": f"Bearer {self.token(user)}"} if user else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=150, trust_env=False, **words)

    def token(self, user: str) -> str:
        return self.accounts.keys.create("token", self.accounts.users.get(user).id)[0]


@contextlib.contextmanager
def serving(home: Path):
    state = ServerState.open(Settings.load({}, home=home))
    quiet = {"log_config": None, "access_log": False, "server_header": False}
    server = uvicorn.Server(uvicorn.Config(create_app(state), lifespan="on", **quiet))
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    deadline = time.monotonic() + 150
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    assert server.started
    try:
        yield ServerLab(f"http://127.0.0.1:{listening.getsockname()[1]}", state)
    finally:
        server.should_exit = True
        thread.join(150)
        listening.close()


@pytest.fixture
def empty_lab(tmp_path):
    """A server without users."""
    with serving(tmp_path / "home") as lab:
        yield lab


@pytest.fixture(scope="module")
def shared_empty_lab(tmp_path_factory):
    """The same for all tests of a file that add none."""
    with serving(tmp_path_factory.mktemp("empty") / "home") as lab:
        yield lab


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """A server with ada (admin), mia and max (members of vision), vic (viewer in vision) and zoe (member, alone)."""
    with serving(tmp_path_factory.mktemp("lab") / "home") as lab:
        people = {"ada": Role.ADMIN, "mia": Role.MEMBER, "max": Role.MEMBER, "vic": Role.VIEWER, "zoe": Role.MEMBER}
        for name, role in people.items():
            lab.accounts.users.add(name, role, PASSWORD if name in ("ada", "mia") else None)
        lab.accounts.groups.put("vision", Quota())
        for name in ("mia", "max", "vic"):
            lab.accounts.groups.join("vision", name)
        yield lab


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """An empty database of each kind."""
    if request.param == "sqlite":
        made = Database(f"sqlite:///{tmp_path / 'server.db'}")
    else:
        made = Database(request.getfixturevalue("empty_postgres"))
    yield made
    made.close()


@pytest.fixture
def accounts(database):
    return Accounts(database)
