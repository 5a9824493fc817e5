"""What the machine has."""

from __future__ import annotations

import os

import pytest

from outlast.platforms.local import machine
from outlast.platforms.local.machine import Machine

LISTED = "GPU 0: Tesla V100-SXM2-32GB (UUID: GPU-1)\nGPU 1: Tesla V100-SXM2-32GB (UUID: GPU-2)\n"


@pytest.fixture
def two_cards(tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    folder.mkdir()
    tool = folder / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\necho called >> {tmp_path}/calls\nprintf '{LISTED}'\n".replace("\\n", "\n"))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return tmp_path


def test_processors_and_memory_are_what_we_may_use():
    found = Machine.look()
    assert found.cpu_list == tuple(sorted(os.sched_getaffinity(0)))
    assert 0 < found.memory_bytes <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_cards_are_looked_up_once_per_boot(two_cards, monkeypatch):
    remembered = two_cards / "machine.json"
    for _ in range(3):
        assert Machine.look(remembered).gpus == ("0", "1")
    assert (two_cards / "calls").read_text() == "called\n"
    monkeypatch.setattr(machine, "boot_id", lambda: "another boot")
    Machine.look(remembered)
    assert (two_cards / "calls").read_text() == "called\ncalled\n"
    remembered.write_text("torn")
    assert Machine.look(remembered).gpus == ("0", "1")


def test_a_shell_that_sees_fewer_cards_gives_fewer(two_cards, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert Machine.look().gpus == ("1",)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert Machine.look().gpus == ()


def test_a_broken_tool_means_no_cards(two_cards):
    (two_cards / "bin" / "nvidia-smi").write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed'; exit 9\n")
    assert Machine.look().gpus == ()
