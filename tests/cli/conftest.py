"""A simulated client in place of the real one, a quiet environment, and a way to run a verb in-process."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for `import simulated`, also used by drive.py in its own process

import simulated  # noqa: E402


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch, tmp_path):
    for name in ("NO_COLOR", "FORCE_COLOR", "LC_ALL", "LC_MESSAGES", "OUTLAST_DEBUG", "_OUTLAST_COMPLETE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("OUTLAST_HOME", str(tmp_path / "home"))


@pytest.fixture
def client(monkeypatch):
    """A run that has succeeded."""
    made = simulated.Client(speed=1e6)
    use(monkeypatch, made)
    return made


def use(monkeypatch, client):
    from outlast.cli import reader

    monkeypatch.setitem(sys.modules, "outlast.client", SimpleNamespace(Client=lambda *a, **k: client))
    monkeypatch.setattr(
        reader, "open_tails", lambda *_: (simulated.OutputTail(client.runs), simulated.PointsTail(client.runs))
    )


@pytest.fixture
def use_client(monkeypatch):
    return lambda client: use(monkeypatch, client)


@pytest.fixture
def outlast(capfdbinary):
    """Run one command line in this process: (exit code, standard output, standard error)."""
    from outlast.cli.entry import main

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        sys.stdout.flush()
        sys.stderr.flush()
        written = capfdbinary.readouterr()
        return code, written.out.decode(), written.err.decode()

    return call
