"""`outlast import modelarts`: the files that are written, word for word, and that they can be read again."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.errors import SpecError
from outlast.operations.environments import Environments, find_version
from outlast.operations.import_modelarts import import_modelarts
from outlast.operations.tomlfile import read_toml
from outlast.operations.tomltext import TomlText
from outlast.platforms.local.machine import Machine
from outlast.settings import Settings
from outlast.store.maps import save_map

JOBS = Path(__file__).parents[1] / "modelarts" / "jobs"
NAMES = sorted(path.name for path in JOBS.iterdir() if path.suffix in (".json", ".txt"))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Settings of a machine with four cores, no cards and no other Python, whatever this one has."""
    monkeypatch.setattr(Machine, "look", classmethod(lambda cls: Machine((0, 1, 2, 3), 1 << 34)))
    monkeypatch.setenv("PATH", "/nowhere")
    find_version.cache_clear()
    yield Settings.load({}, home=tmp_path / "home")
    find_version.cache_clear()


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def brought(name, folder):
    return shutil.copy(JOBS / name, folder / name)


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_the_expected_one_and_can_be_read(name, home, workspace):
    made = import_modelarts(home, brought(name, workspace))
    expected = JOBS / f"{Path(name).stem}-{Path(name).suffix[1:]}.toml"
    assert made.path == workspace / "outlast.toml" and made.path.read_text() == made.text
    assert made.text == expected.read_text(), f"if this is right, write it to {expected.name}:\n{made.text}"
    body = read_toml(made.path)
    assert body.values["run", "script"] == made.script
    assert "hunter2" not in made.text and "verysecret" not in made.text


def test_the_steps_fit_what_is_there(home, workspace):
    job = brought("v1-free-train.json", workspace)
    steps = import_modelarts(home, job).steps
    assert [step.split()[1] for step in steps] == ["store", "cp", "run"]
    assert steps[0].startswith(f"outlast store map obs://lab-bucket {workspace.parent / 'lab-bucket'} ")
    assert steps[1].startswith(f"outlast cp obs://lab-bucket/free_train/code/ {workspace} ")
    (workspace / "train.py").write_text("")
    home.home.mkdir()
    save_map(home.home, "obs://lab-bucket", workspace)
    assert [step.split()[1] for step in import_modelarts(home, job, force=True).steps] == ["run"]


def test_it_goes_beside_the_code(home, workspace):
    (workspace / "mnist").mkdir()
    (workspace / "mnist" / "train.py").write_text("")
    made = import_modelarts(home, brought("toolkit.json", workspace))
    assert made.path == workspace / "mnist" / "outlast.toml"
    (workspace / "code").mkdir()
    (workspace / "code" / "train.py").write_text("")
    made = import_modelarts(home, brought("v1-free-train.json", workspace))
    assert made.path == workspace / "code" / "outlast.toml"
    elsewhere = import_modelarts(home, brought("v1-free-train.json", workspace), workspace / "other.toml")
    assert elsewhere.path == workspace / "other.toml"


def test_an_engine_that_pip_can_install_is_pinned(home, workspace, tmp_path, monkeypatch):
    door = tmp_path / "bin" / "python3.7"
    door.parent.mkdir()
    door.write_text("#!/bin/sh\nexit 0\n")
    door.chmod(0o755)
    monkeypatch.setenv("PATH", str(door.parent))
    find_version.cache_clear()
    made = import_modelarts(home, brought("v2-free.json", workspace))
    pinned = "pytorch_1.8.0-cuda_10.2-py_3.7-ubuntu_18.04-x86_64"
    assert tomllib.loads(made.text)["run"]["environment"] == pinned


def test_an_environment_of_ones_own_serves_an_engine_of_that_name(home, workspace, tmp_path):
    (tmp_path / "r.txt").write_text("numpy\n")
    Environments(home).add("lab-engine", requirements=tmp_path / "r.txt")
    job = json.loads((JOBS / "v2-free.json").read_text())
    job["algorithm"]["engine"] = {"engine_id": "lab-engine"}
    (workspace / "job.json").write_text(json.dumps(job))
    assert tomllib.loads(import_modelarts(home, workspace / "job.json").text)["run"]["environment"] == "lab-engine"


def test_a_file_that_exists_stays_unless_forced(home, workspace):
    job = brought("v2-free.json", workspace)
    (workspace / "outlast.toml").write_text("# mine\n")
    with pytest.raises(SpecError, match="exists already"):
        import_modelarts(home, job)
    assert (workspace / "outlast.toml").read_text() == "# mine\n"
    import_modelarts(home, job, force=True)


def test_files_that_are_no_jobs_are_refused(home, workspace):
    with pytest.raises(SpecError, match="no such job file"):
        import_modelarts(home, workspace / "nope.json")
    (workspace / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match="UTF-8"):
        import_modelarts(home, workspace / "binary.json")
    (workspace / "large.json").write_bytes(b" " * (1 << 20) + b"{}")
    with pytest.raises(SpecError, match="larger than 1 MiB"):
        import_modelarts(home, workspace / "large.json")
    with pytest.raises(SpecError, match="cannot write"):
        import_modelarts(home, brought("v2-free.json", workspace), workspace / "none" / "outlast.toml")
    assert sorted(path.name for path in workspace.glob("*.toml")) == []


VALUES = st.text(max_size=12) | st.integers() | st.booleans() | st.lists(st.text(max_size=5), max_size=3)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=5), st.text(max_size=200))
def test_whatever_is_written_reads_back_and_a_note_stays_a_note(values, words):
    toml = TomlText()
    toml.note(words)
    toml.table("params", words)
    for name, value in values.items():
        toml.key(name, value, words)
        toml.key(name, value, off=True)
    assert tomllib.loads(str(toml)) == {"params": values}


def test_an_imported_job_is_a_value(home, workspace):
    made = import_modelarts(home, brought("v2-image.json", workspace))
    assert dataclasses.replace(made, text="").script == "tools/train.py"
    assert any("lab/pytorch:2.4 is not used" in notice for notice in made.notices)
