"""Process trees: found, told apart, and ended to the last one."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from outlast.inside import processes

# Starts a child in a session of its own, which starts a grandchild; prints both pids.
SLEEPER = "import time; time.sleep(600)"
MIDDLE = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]])
print(child.pid, flush=True)
time.sleep(600)
"""
FAMILY = """
import subprocess, sys, time
command = [sys.executable, "-c", *sys.argv[1:]]
child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
print(child.pid, child.stdout.readline().strip(), flush=True)
time.sleep(600)
"""

# Forks on and on, each child in a session of its own: the tree never stands still while it is read.
FORKER = """
import os, time
print("go", flush=True)
for _ in range(500):
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
        os._exit(0)
    time.sleep(0.005)
time.sleep(60)
"""


@pytest.fixture
def family():
    parent = subprocess.Popen([sys.executable, "-c", FAMILY, MIDDLE, SLEEPER], stdout=subprocess.PIPE, text=True)
    pids = [int(word) for word in parent.stdout.readline().split()]
    yield parent, pids
    for pid in [parent.pid, *pids]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()


def test_descendants_are_found_across_sessions(family):
    parent, pids = family
    assert sorted(processes.descendants(parent.pid)) == sorted(pids)
    everybody = processes.every_process()
    assert sorted(processes._descendants_among(everybody, {parent.pid})) == sorted(pids)


def test_kill_tree_leaves_nobody(family):
    parent, pids = family
    ticks = {pid: processes.start_ticks(pid) for pid in pids}
    assert processes.kill_tree(parent.pid) == []
    assert parent.wait() == -signal.SIGKILL
    assert not any(processes.is_same_process(pid, start) for pid, start in ticks.items())


def test_kill_tree_outruns_a_tree_that_keeps_forking():
    environ = {**os.environ, "OUTLAST_TEST_FORKER": str(os.getpid())}
    parent = subprocess.Popen([sys.executable, "-c", FORKER], stdout=subprocess.PIPE, env=environ)
    parent.stdout.readline()
    deadline = time.monotonic() + 150
    while len(processes.descendants(parent.pid)) < 4 and time.monotonic() < deadline:
        time.sleep(0.002)
    assert processes.kill_tree(parent.pid) == []
    parent.wait()
    parent.stdout.close()
    assert processes.with_environment({"OUTLAST_TEST_FORKER": str(os.getpid())}) == []


def test_kill_tree_of_nobody_is_quiet():
    child = subprocess.Popen(["true"])
    child.wait()
    assert processes.kill_tree(child.pid) == []


def test_a_zombie_and_a_reused_pid_are_not_the_same_process():
    child = subprocess.Popen(["sleep", "600"])
    ticks = processes.start_ticks(child.pid)
    assert processes.is_same_process(child.pid, ticks)
    assert not processes.is_same_process(child.pid, ticks + 1)
    child.kill()
    deadline = time.monotonic() + 150
    while processes.read_stat(child.pid).state != "Z" and time.monotonic() < deadline:
        time.sleep(0.002)
    assert not processes.is_same_process(child.pid, ticks)
    child.wait()
    assert processes.start_ticks(child.pid) is None


def test_a_name_with_brackets_and_spaces_does_not_confuse(tmp_path):
    program = tmp_path / "a) R (b c"
    program.symlink_to("/bin/sleep")
    child = subprocess.Popen([str(program), "600"])
    try:
        stat = processes.read_stat(child.pid)
        assert stat.parent == os.getpid()
        assert stat.state in "RSD"
    finally:
        child.kill()
        child.wait()


def test_a_child_dies_with_its_parent():
    middle = (
        "import subprocess, sys, time; from outlast.inside.processes import preexec\n"
        "p = subprocess.Popen(['sleep', '600'], preexec_fn=preexec([], None)); print(p.pid, flush=True)\n"
        "time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", middle], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    ticks = processes.start_ticks(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 150
    while processes.is_same_process(pid, ticks):
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_limits_reach_the_child_and_not_us():
    before = os.sched_getaffinity(0)
    cpu = min(before)
    report = "import os, resource; print(sorted(os.sched_getaffinity(0)), resource.getrlimit(resource.RLIMIT_DATA)[0])"
    done = subprocess.run(
        [sys.executable, "-c", report], preexec_fn=processes.preexec([cpu], 300 << 20), capture_output=True, text=True
    )
    assert done.stdout.split() == [f"[{cpu}]", str(300 << 20)]
    assert os.sched_getaffinity(0) == before
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] != 300 << 20


def test_memory_beyond_the_limit_is_refused():
    done = subprocess.run(
        [sys.executable, "-c", "bytearray(400 << 20)"], preexec_fn=processes.preexec([], 200 << 20), capture_output=True
    )
    assert done.returncode == 1
    assert b"MemoryError" in done.stderr


def test_a_processor_that_is_gone_does_not_stop_the_child():
    done = subprocess.run(["true"], preexec_fn=processes.preexec([4095], None))
    assert done.returncode == 0


def test_holders_of_a_file_are_found(tmp_path):
    path = tmp_path / "held"
    path.touch()
    with path.open() as held:
        child = subprocess.Popen(["sleep", "600"], pass_fds=[held.fileno()])
    try:
        assert processes.with_file_open(str(path)) == [child.pid]
        assert processes.with_file_open(str(tmp_path / "absent")) == []
    finally:
        child.kill()
        child.wait()


def test_numeric_libraries_are_told_how_many_threads():
    assert set(processes.thread_environment(3).values()) == {"3"}
    assert "OMP_NUM_THREADS" in processes.thread_environment(3)
