"""`outlast doctor` says what is there and how to get what is not."""

from __future__ import annotations

import os

import pytest

from outlast.inside import sandbox
from outlast.operations import doctor


def by_name(findings):
    return {finding.name: finding for finding in findings}


def test_everything_is_looked_at_and_nothing_is_left_behind(tmp_path):
    found = by_name(doctor.examine(tmp_path / "home"))
    assert {
        "python", "home folder", "home folder: disk", "home folder: reflinks", "store", "bubblewrap", "containers",
        "uv", "git", "cpus", "memory", "NVIDIA cards", "Ascend cards", "keyring",
    } <= set(found)  # fmt: skip
    assert found["home folder"].ok
    assert found["cpus"].value.startswith(str(len(os.sched_getaffinity(0))))
    assert list(tmp_path.iterdir()) == []


def test_what_is_missing_comes_with_a_way_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(doctor, "find_uv", lambda: None)
    found = by_name(doctor.examine(tmp_path))
    assert found["bubblewrap"].ok is False
    for name, words in (
        ("bubblewrap", "apt install bubblewrap"), ("uv", "pip install uv"), ("git", "apt install git"),
        ("containers", "podman"),
    ):  # fmt: skip
        assert words in found[name].advice


def test_an_installed_but_unusable_sandbox_is_explained(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "find_bwrap", lambda: "/usr/bin/bwrap")
    monkeypatch.setattr(sandbox, "usable", lambda _: (False, "bubblewrap is installed but …"))
    finding = by_name(doctor.examine(tmp_path))["bubblewrap"]
    assert finding.ok is False
    assert "user namespaces" in finding.advice


@pytest.mark.parametrize("place", ["home", "store"])
def test_a_folder_that_cannot_be_written_is_a_fault(tmp_path, place):
    # A file where a folder should be cannot be written into by anybody, root included.
    (tmp_path / "file").touch()
    broken = tmp_path / "file"
    home, store = (broken, "") if place == "home" else (tmp_path, broken.as_uri())
    found = by_name(doctor.examine(home, store))
    finding = found["home folder" if place == "home" else "store"]
    assert finding.ok is False
    assert finding.advice


def test_a_home_of_a_newer_version_is_a_fault(tmp_path):
    (tmp_path / "version.json").write_text('{"home_format": 99, "outlast": "7.3", "id": "x"}')
    finding = by_name(doctor.examine(tmp_path))["home folder"]
    assert finding.ok is False
    assert "7.3" in finding.value
    assert "upgrade" in finding.advice


def test_cards_are_counted(tmp_path, monkeypatch):
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'GPU 0: Tesla V100 (UUID: GPU-1)'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert by_name(doctor.examine(tmp_path))["NVIDIA cards"].value == "1 (number 0)"
    tool.write_text("#!/bin/sh\nexit 9\n")
    assert by_name(doctor.examine(tmp_path))["NVIDIA cards"].ok is False
