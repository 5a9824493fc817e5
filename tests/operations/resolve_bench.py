"""A project, and what becomes of a request made in it."""

from __future__ import annotations

import pytest

from outlast.errors import SpecError
from outlast.model.request import RunRequest
from outlast.operations.resolve import resolve
from outlast.settings import Settings


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project with a script and some data, seen from inside."""
    project = tmp_path / "project"
    (project / "mnist").mkdir(parents=True)
    (project / "train.py").write_text("print('training')\n")
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    return project


@pytest.fixture
def settings(tmp_path):
    return Settings.load({"USER": "ann"}, tmp_path / "home")


@pytest.fixture
def ask(folder, settings):
    def ask(target="train.py", **words):
        words.setdefault("cwd", folder)
        return resolve(RunRequest(target=target, **words), settings)

    return ask


@pytest.fixture
def refused(ask):
    def refused(target="train.py", **words):
        with pytest.raises(SpecError) as caught:
            ask(target, **words)
        assert caught.value.exit_code == 2
        return str(caught.value)

    return refused
