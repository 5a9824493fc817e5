"""Stints on this machine: detached, one at a time by name, ended to the last process."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from local_bench import a_launch, leave, seen, starts, state, wait_for

from outlast.inside.processes import is_same_process, start_ticks
from outlast.platforms.base import JobState
from outlast.platforms.local import launch as launching
from outlast.platforms.local.jobs import JobFolder


def test_a_stint_runs_and_ends(make, home):
    platform = make()
    assert state(platform) is JobState.ABSENT
    platform.submit(a_launch(cpus=2))
    assert state(platform) is JobState.RUNNING
    told = seen(home)
    assert told["cwd"] == told["place"]["work"] == str(home / "work" / "run" / "0001")
    assert told["place"]["cpu_list"] == [0, 1]
    assert told["place"]["token"] == "tok"
    leave(home)
    wait_for(lambda: state(platform) is JobState.ENDED)
    assert platform.poll(["run.0001"])["run.0001"].exit_code == 0
    assert platform.logs("run.0001") == "said by the runner\n"
    assert platform.logs("absent") == ""


def test_an_exit_code_and_a_signal_are_told(make, home):
    platform = make()
    platform.submit(a_launch(7))
    wait_for(lambda: state(platform, "run.0007") is JobState.ENDED)
    assert platform.poll(["run.0007"])["run.0007"].detail == "exit code 3"
    platform.submit(a_launch(1))
    os.kill(seen(home)["pid"], signal.SIGKILL)
    wait_for(lambda: state(platform) is JobState.ENDED)
    job = platform.poll(["run.0001"])["run.0001"]
    assert (job.detail, job.exit_code) == ("killed by signal 9", -9)


def test_submitting_twice_starts_once(make, home):
    first, second = make(), make()
    for platform in (first, second, first):
        platform.submit(a_launch())
    seen(home)
    assert starts(home) == ["1"]
    leave(home)
    wait_for(lambda: state(first) is JobState.ENDED)
    second.submit(a_launch())
    assert state(second) is JobState.ENDED
    assert starts(home) == ["1"]


def test_many_processes_submitting_the_same_stint_start_one_runner(make, home, tmp_path):
    make()
    script = tmp_path / "submit.py"
    script.write_text(
        textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from pathlib import Path
        from local_bench import LocalPlatform, Machine, a_launch
        runner = [sys.executable, {str(tmp_path / "runner.py")!r}]
        platform = LocalPlatform(Path({str(home)!r}), runner=runner, machine=Machine((0, 1), 8 << 30))
        platform.submit(a_launch())
        """)
    )
    processes = [subprocess.Popen([sys.executable, str(script)]) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    seen(home)
    assert starts(home) == ["1"]


def test_a_stint_outlives_the_process_that_started_it(make, home, tmp_path):
    platform = make()
    script = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from pathlib import Path; from local_bench import LocalPlatform, Machine, a_launch\n"
        f"p = LocalPlatform(Path({str(home)!r}), runner=[sys.executable, {str(tmp_path / 'runner.py')!r}], "
        "machine=Machine((0, 1), 8 << 30))\n"
        "p.submit(a_launch()); print('started', flush=True); import time; time.sleep(600)"
    )
    starter = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    starter.stdout.readline()
    told = seen(home)
    os.killpg(starter.pid, signal.SIGKILL)
    starter.wait()
    starter.stdout.close()
    assert state(platform) is JobState.RUNNING
    assert start_ticks(told["pid"]) is not None
    assert len(platform.wake_fds()) == 1
    leave(home)
    wait_for(lambda: state(platform) is JobState.ENDED)
    # Nobody who could have seen the exit code is left.
    assert platform.poll(["run.0001"])["run.0001"].exit_code is None


@pytest.mark.parametrize("moment", ["before the process", "after the process"])
def test_a_launcher_killed_midway_never_leads_to_a_second_runner(make, home, monkeypatch, moment):
    """The same files as a kill -9 at that point would leave, by an exception that nothing handles."""
    platform = make()

    class Killed(BaseException):
        pass

    def killed(*_, **__):
        raise Killed

    with monkeypatch.context() as patched, contextlib.suppress(Killed):
        if moment == "before the process":
            patched.setattr(launching.subprocess, "Popen", killed)
        else:
            patched.setattr(launching.JobFolder, "note_pid", killed)
        platform.submit(a_launch())
    again = make()
    again.submit(a_launch())
    if moment == "before the process":
        assert state(again) is JobState.ENDED
        assert starts(home) == []
    else:
        seen(home)
        assert state(again) is JobState.RUNNING
        assert starts(home) == ["1"]
        # The pid was never noted: the runner is found by the lock that it holds.
        again.cancel("run.0001")
        assert state(again) is JobState.ENDED


def test_a_pid_of_somebody_else_is_not_our_runner(make, home):
    platform = make()
    platform.submit(a_launch())
    pid = seen(home)["pid"]
    leave(home)
    wait_for(lambda: state(platform) is JobState.ENDED)
    noted = home / "local" / "jobs" / "run.0001" / "pid.json"
    body = json.loads(noted.read_text())
    assert body["pid"] == pid
    noted.write_text(json.dumps({**body, "pid": os.getpid()}))
    assert state(platform) is JobState.ENDED
    platform.cancel("run.0001")
    noted.write_text(json.dumps({"pid": os.getpid(), "ticks": start_ticks(os.getpid()), "boot": "another"}))
    assert state(platform) is JobState.ENDED


def test_the_keeper_is_woken_when_a_runner_ends(make, home):
    platform = make()
    platform.submit(a_launch())
    seen(home)
    fds = platform.wake_fds()
    assert len(fds) == 1
    assert select.select(fds, [], [], 0)[0] == []
    leave(home)
    assert select.select(fds, [], [], 20)[0] == fds
    assert state(platform) is JobState.ENDED
    assert platform.wake_fds() == []


def test_an_end_that_nobody_can_deal_with_wakes_the_keeper_once(make, home):
    """While the queue cannot be read, a descriptor that stays readable would keep the keeper from ever sleeping."""
    platform = make()
    platform.submit(a_launch())
    seen(home)
    fds = platform.wake_fds()
    leave(home)
    assert select.select(fds, [], [], 20)[0] == fds
    assert platform.wake_fds() == fds
    assert platform.wake_fds() == []
    assert state(platform) is JobState.ENDED


def test_cancel_ends_everything_of_a_stint(make, home):
    platform = make()
    platform.submit(a_launch(90))
    told = seen(home, 90)
    pids = {pid: start_ticks(pid) for pid in (told["pid"], told["child"])}
    platform.cancel("run.0090")
    assert not any(is_same_process(pid, ticks) for pid, ticks in pids.items())
    assert state(platform, "run.0090") is JobState.ENDED
    platform.cancel("run.0090")
    platform.cancel("absent.0001")


def test_what_a_killed_runner_leaves_behind_is_swept_away(make, home):
    platform = make()
    platform.submit(a_launch(91))
    told = seen(home, 91)
    ticks = start_ticks(told["child"])
    os.kill(told["pid"], signal.SIGKILL)
    wait_for(lambda: state(platform, "run.0091") is JobState.ENDED)
    assert not is_same_process(told["child"], ticks)


def test_a_runner_that_dies_while_the_queue_is_looked_at_is_swept_up_too(make, home, monkeypatch):
    platform = make()
    platform.submit(a_launch(92))
    told = seen(home, 92)
    ticks = start_ticks(told["child"])
    look = JobFolder.state

    def look_and_kill(folder: JobFolder) -> JobState:
        found = look(folder)
        os.kill(told["pid"], signal.SIGKILL)
        wait_for(lambda: launching.reap() or look(folder) is JobState.ENDED)
        monkeypatch.undo()
        return found

    monkeypatch.setattr(JobFolder, "state", look_and_kill)
    assert state(platform, "run.0092") is JobState.RUNNING
    wait_for(lambda: state(platform, "run.0092") is JobState.ENDED)
    assert not is_same_process(told["child"], ticks)


def test_a_full_machine_makes_stints_wait_their_turn(make, home):
    platform = make()
    for stint, cpus in ((1, 1), (2, 1), (3, 2), (4, 1)):
        platform.submit(a_launch(stint, cpus=cpus))
    assert seen(home, 1)["place"]["cpu_list"] != seen(home, 2)["place"]["cpu_list"]
    jobs = platform.poll(["run.0003", "run.0004"])
    assert [job.state for job in jobs.values()] == [JobState.QUEUED] * 2
    assert jobs["run.0003"].detail == "waits for 2 cpus"
    leave(home, 1)
    wait_for(lambda: state(platform, "run.0001") is JobState.ENDED)
    # One processor is free, but it is kept for the job that came first.
    assert state(platform, "run.0004") is JobState.QUEUED
    leave(home, 2)
    wait_for(lambda: state(platform, "run.0003") is JobState.RUNNING)
    leave(home, 3)
    wait_for(lambda: state(platform, "run.0004") is JobState.RUNNING)
    assert starts(home)[2:] in (["3"], ["3", "4"])


def test_a_waiting_stint_can_be_cancelled_and_never_starts(make, home):
    platform = make()
    platform.submit(a_launch(1, cpus=2))
    platform.submit(a_launch(2, secrets={"KEY": "hidden"}))
    folder = home / "local" / "jobs" / "run.0002"
    assert stat.S_IMODE((folder / "secrets.json").stat().st_mode) == 0o600
    platform.cancel("run.0002")
    assert not (folder / "secrets.json").exists()
    job = platform.poll(["run.0002"])["run.0002"]
    assert (job.state, job.detail) == (JobState.ENDED, "cancelled before it started")
    seen(home)
    leave(home)
    wait_for(lambda: state(platform) is JobState.ENDED)
    platform.submit(a_launch(2))
    assert state(platform, "run.0002") is JobState.ENDED
    assert starts(home) == ["1"]
