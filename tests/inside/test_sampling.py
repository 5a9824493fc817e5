"""How busy a tree of processes is, and what the tools of the cards say."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from outlast.inside.accelerators import parse_npu, parse_nvidia, read_cards
from outlast.inside.sampling import Sampler

NVIDIA = """0, 87, 30211, 32768
1, [N/A], 3, 32768
"""

# A server with eight cards, cut to two: one chip each, memory in the last column.
NPU_910 = """
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.0                   Version: 24.1.0                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B                | OK            | 70.0        34                0    / 0             |
| 0                         | 0000:C1:00.0  | 93          1197 / 13553      1365 / 32768         |
+===========================+===============+====================================================+
| 5     910B                | Warning       | 66.9        34                15   / 15            |
| 0                         | 0000:81:00.0  | 0           2411 / 15665      4    / 32768         |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 0       0                 | 2651          | python                   | 1365                    |
+===========================+===============+====================================================+
| No running processes found in NPU 5                                                            |
+===========================+===============+====================================================+
"""

# One card with two chips; the device's number stands beside the chip's, and there is no HBM.
NPU_310 = """
+--------------------------------------------------------------------------------------------------------+
| npu-smi 23.0.0                                   Version: 23.0.0                                       |
+-------------------------------+-----------------+------------------------------------------------------+
| NPU     Name                  | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
| Chip    Device                | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
+===============================+=================+======================================================+
| 2       310P3                 | OK              | NA           50                0     / 0             |
| 0       0                     | 0000:84:00.0    | 0            1839 / 21525                            |
+-------------------------------+-----------------+------------------------------------------------------+
| 2       310P3                 | OK              | NA           51                0     / 0             |
| 1       1                     | 0000:84:00.0    | 7            1840 / 21525                            |
+===============================+=================+======================================================+
"""

MIB = 1 << 20


def card(kind, index, busy, used, total):
    return {
        "kind": kind, "index": index, "busy_percent": busy, "memory_used_bytes": used * MIB,
        "memory_total_bytes": total * MIB,
    }  # fmt: skip


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """Stand-ins for the vendors' tools, first on PATH; each call leaves a line in a file."""

    def install(name, text):
        (tmp_path / f"{name}.out").write_text(text)
        tool = tmp_path / name
        tool.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/{name}.calls\ncat {tmp_path}/{name}.out\n')
        tool.chmod(0o755)

    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    install.folder = tmp_path
    yield install
    # A thread that is still asking would look for the tools of the next test.
    for thread in threading.enumerate():
        if thread.name == "outlast-cards":
            thread.join(150)
            assert not thread.is_alive()


def test_nvidia_cards_are_read():
    first, second = parse_nvidia(NVIDIA)
    assert first == card("gpu", "0", 87.0, 30211, 32768)
    assert second["busy_percent"] is None
    assert parse_nvidia("No devices were found\n") == []
    assert parse_nvidia("") == []


def test_ascend_cards_are_read():
    assert parse_npu(NPU_910) == [card("npu", "0", 93.0, 1365, 32768), card("npu", "5", 0.0, 4, 32768)]
    assert parse_npu(NPU_310) == [card("npu", "0", 0.0, 1839, 21525), card("npu", "1", 7.0, 1840, 21525)]
    assert parse_npu("dcmi module initialize failed. ret is -8005\n") == []


def test_tools_are_asked_the_right_question(tools):
    tools("nvidia-smi", NVIDIA)
    tools("npu-smi", NPU_910)
    assert [(each["kind"], each["index"]) for each in read_cards()] == [
        ("gpu", "0"), ("gpu", "1"), ("npu", "0"), ("npu", "5"),
    ]  # fmt: skip
    calls = (tools.folder / "nvidia-smi.calls").read_text()
    assert calls == "--query-gpu=index,utilization.gpu,memory.used,memory.total --format=csv,noheader,nounits\n"
    assert (tools.folder / "npu-smi.calls").read_text() == "info\n"


def test_a_sampler_reports_its_own_cards_and_asks_rarely(tools):
    tools("nvidia-smi", NVIDIA)
    sampler = Sampler(lambda: [os.getpid()], 1, gpus=["1"])
    deadline = time.monotonic() + 150
    while not (cards := sampler.sample()["accelerators"]):
        assert time.monotonic() < deadline
        time.sleep(0.002)
    assert [each["index"] for each in cards] == ["1"]
    for _ in range(20):
        sampler.sample()
    assert (tools.folder / "nvidia-smi.calls").read_text().count("\n") == 1


def test_a_tool_that_hangs_does_not_hold_up_a_sample(tools):
    tools("nvidia-smi", "")
    gate = tools.folder / "gate"
    os.mkfifo(gate)
    (tools.folder / "nvidia-smi").write_text(f"#!/bin/sh\nexec cat {gate}\n")
    sampler = Sampler(lambda: [os.getpid()], 1, gpus=["0"])
    with os.fdopen(os.open(gate, os.O_RDWR)):  # the tool reads from here until this is closed
        assert [sampler.sample()["accelerators"] for _ in range(3)] == [[]] * 3
        assert any(thread.name == "outlast-cards" for thread in threading.enumerate()), "it must still be asking"
        gate.unlink()  # or a tool that comes to it later would wait for its time limit


def test_a_stint_without_cards_starts_no_tool(tools):
    tools("nvidia-smi", NVIDIA)
    assert Sampler(lambda: [os.getpid()], 1).sample()["accelerators"] == []
    assert not (tools.folder / "nvidia-smi.calls").exists()


def test_a_busy_process_is_seen_to_be_busy():
    child = subprocess.Popen(
        [sys.executable, "-c", "print('go', flush=True)\nwhile True: pass"], stdout=subprocess.PIPE
    )
    child.stdout.readline()
    try:
        sampler = Sampler(lambda: [child.pid], 1)
        assert sampler.sample()["cpu_percent"] is None
        deadline = time.monotonic() + 150
        while True:
            time.sleep(0.1)
            sample = sampler.sample()
            if sample["cpu_percent"] > 20:
                break
            assert time.monotonic() < deadline
        # A tick of the kernel's clock is 10 ms, so a short interval may look a little fuller than it was.
        assert sample["cpu_percent"] < 150
        assert sample["memory_bytes"] > MIB
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def test_a_tree_that_is_gone_is_nothing():
    child = subprocess.Popen(["true"])
    child.wait()
    sample = Sampler(lambda: [child.pid], 1, 1).sample()
    assert sample["memory_bytes"] == 0
    assert sample["read_bytes"] == 0


def test_too_much_memory_is_told_in_words():
    hold = "x = bytearray(80 << 20); print('go', flush=True); import time; time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE)
    child.stdout.readline()
    try:
        over = Sampler(lambda: [child.pid], 1, 50 * MIB)
        assert over.over_memory() is None  # nothing was sampled yet
        over.sample()
        assert "its limit is 50 MB" in over.over_memory()
        within = Sampler(lambda: [child.pid], 1, 500 * MIB)
        within.sample()
        assert within.over_memory() is None
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def test_memory_that_is_shared_counts_once():
    share = """
import os, sys, time
x = bytearray(60 << 20)
children = []
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        time.sleep(600)
    children.append(pid)
print(*children, flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", share], stdout=subprocess.PIPE, text=True)
    pids = [parent.pid, *(int(word) for word in parent.stdout.readline().split())]
    try:
        sampler = Sampler(lambda: pids, 1, 120 * MIB)
        assert sampler.sample()["memory_bytes"] > 200 * MIB
        assert sampler.over_memory() is None
    finally:
        for pid in pids:
            os.kill(pid, 9)
        parent.wait()
        parent.stdout.close()
