"""A real server on a free port, and a terminal that works with it or with a home of its own."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "server"))  # for `import api_lab`

from api_lab import ApiLab
from terminal import Terminal, write_project

from outlast.keeper.home import Home
from outlast.keeper.wake import end_keeper


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """A server with the users of `ApiLab`."""
    lab = ApiLab(tmp_path_factory.mktemp("served"))
    yield lab
    lab.close()


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """A folder with a training and its data."""
    return write_project(tmp_path_factory.mktemp("work") / "digits")


@pytest.fixture(scope="session")
def there(served, tmp_path_factory):
    """ann at a terminal that works with the server."""
    home = tmp_path_factory.mktemp("there") / "home"
    yield Terminal(home, OUTLAST_SERVER=f"http://127.0.0.1:{served.port}", OUTLAST_TOKEN=served.tokens["ann"])


@pytest.fixture(scope="session")
def here(tmp_path_factory):
    """ann at a terminal that works with a home of its own."""
    home = tmp_path_factory.mktemp("here") / "home"
    yield Terminal(home, OUTLAST_USER="ann", OUTLAST_KEEPER_IDLE_S="2")
    end_keeper(Home(home))


@pytest.fixture(autouse=True)
def no_settings_of_ours(monkeypatch):
    """What the developer has set must not decide a test."""
    for name in list(os.environ):
        if name.startswith("OUTLAST_"):
            monkeypatch.delenv(name)
