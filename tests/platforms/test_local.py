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
import time
from pathlib import Path

import pytest

from outlast.errors import SpecError
from outlast.inside import sandbox
from outlast.inside.place import Place
from outlast.inside.processes import is_same_process, start_ticks
from outlast.inside.records import Order
from outlast.model.spec import CodePack, Resources, RunSpec
from outlast.platforms.base import JobState, Launch
from outlast.platforms.local import launch as launching
from outlast.platforms.local.machine import Machine
from outlast.platforms.local.platform import LocalPlatform

# A runner that writes down what it was given, then behaves as its stint's number says.
STAND_IN = """
import json, os, signal, subprocess, sys, time
place = json.load(open(sys.argv[1]))
secrets = {name: value for name, value in os.environ.items() if name.startswith("OUTLAST_SECRET_")}
seen = {"pid": os.getpid(), "cwd": os.getcwd(), "secrets": secrets, "environ": sorted(os.environ), "place": place}
with open(os.path.join(place["shared"], "starts"), "a") as file:
    file.write(str(place["stint"]) + chr(10))
if place["stint"] >= 90:
    environ = {**os.environ, "OUTLAST_RUN": place["run"], "OUTLAST_STINT": str(place["stint"])}
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    child = subprocess.Popen(sleeper, env=environ, start_new_session=True)
    seen["child"] = child.pid
path = os.path.join(place["work"], "seen.json")
with open(path + ".tmp", "w") as file:
    json.dump(seen, file)
os.rename(path + ".tmp", path)
print("said by the runner", flush=True)
if place["stint"] == 7:
    sys.exit(3)
while not os.path.exists(os.path.join(place["work"], "leave")):
    time.sleep(0.005)
"""


@pytest.fixture
def make(tmp_path):
    runner = tmp_path / "runner.py"
    runner.write_text(STAND_IN)
    made = []

    def platform(**more):
        arguments = {"machine": Machine((0, 1), 8 << 30, ("0", "1"), ("4",)), **more}
        made.append(LocalPlatform(tmp_path / "home", runner=[sys.executable, str(runner)], **arguments))
        return made[-1]

    yield platform
    for job in (tmp_path / "home" / "local" / "jobs").glob("*"):
        made[0].cancel(job.name)
    for each in made:
        each.close()


def a_launch(stint=1, run="run", user="ann", secrets=None, sandbox="off", network=True, **resources):
    spec = RunSpec(
        id=run, name="n", user=user, created_at="", script="train.py", python="python3", sandbox=sandbox,
        network=network, code=CodePack(sha256="0" * 64, size_bytes=1, files=1), store="file:///s",
        resources=Resources(**resources),
    )  # fmt: skip
    order = Order(run=run, stint=stint, token="tok", platform="local")
    return Launch(spec, order, secrets or {})


def wait_for(condition, limit_s=150.0):
    deadline = time.monotonic() + limit_s
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)
    return found


def state(platform, name="run.0001"):
    return platform.poll([name])[name].state


def seen(home, stint=1, run="run"):
    path = home / "work" / run / f"{stint:04d}" / "seen.json"
    wait_for(path.exists)
    return json.loads(path.read_text())


def leave(home, stint=1, run="run"):
    (home / "work" / run / f"{stint:04d}" / "leave").touch()


def starts(home, run="run"):
    path = home / "work" / run / "shared" / "starts"
    return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


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
        from test_local import LocalPlatform, Machine, a_launch
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
        "from pathlib import Path; from test_local import LocalPlatform, Machine, a_launch\n"
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


def test_cards_are_given_out_one_to_each(make, home):
    platform = make()
    for stint in (1, 2, 3):
        platform.submit(a_launch(stint, run=f"r{stint}", gpus=1))
    assert [seen(home, stint, f"r{stint}")["place"]["gpus"] for stint in (1, 2)] == [["0"], ["1"]]
    assert platform.poll(["r3.0003"])["r3.0003"].detail == "waits for 1 cpu and 1 gpu"
    platform.cancel("r1.0001")
    wait_for(lambda: state(platform, "r3.0003") is JobState.RUNNING)
    assert seen(home, 3, "r3")["place"]["gpus"] == ["0"]


def test_secrets_reach_the_runner_and_no_file_or_command_line(make, home):
    platform = make()
    platform.submit(a_launch(secrets={"KEY": "very-hidden-value"}))
    told = seen(home)
    assert told["secrets"] == {"OUTLAST_SECRET_KEY": "very-hidden-value"}
    assert told["place"]["secret_names"] == ["KEY"]
    assert b"very-hidden-value" not in Path(f"/proc/{told['pid']}/cmdline").read_bytes()
    for path in (home / "local").rglob("*"):
        if path.is_file():
            assert b"very-hidden-value" not in path.read_bytes(), path
            assert path.stat().st_mode & 0o077 == 0 or path.name in ("lock", "runner.log", "reserved", "cancelled")
    assert "very-hidden-value" not in repr(a_launch(secrets={"KEY": "very-hidden-value"}))


def test_the_users_other_variables_stay_here(make, home, monkeypatch):
    monkeypatch.setenv("SOME_CLOUD_KEY", "private")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    monkeypatch.setenv("CUDA_HOME", "/cuda")
    make().submit(a_launch())
    environ = seen(home)["environ"]
    assert "SOME_CLOUD_KEY" not in environ
    assert "CUDA_VISIBLE_DEVICES" not in environ
    assert "CUDA_HOME" in environ
    assert "PATH" in environ


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        ({"cpus": 3}, r"--cpus 3 is more than this machine has \(2 cpus\)"),
        ({"gpus": 3}, r"--gpus 3 .* \(2 NVIDIA cards\)"),
        ({"npus": 2}, r"--npus 2 .* \(1 Ascend cards\)"),
        ({"memory_bytes": 9 << 30}, r"--memory 9\.0 GB is more than this machine has \(8\.0 GB\)"),
    ],
)
def test_more_than_the_machine_has_is_refused_with_both_numbers(make, resources, words):
    with pytest.raises(SpecError, match=words):
        make().check(a_launch(**resources).spec)
    make().check(a_launch(cpus=2, gpus=2, npus=1, memory_bytes=8 << 30).spec)


def test_without_a_sandbox_the_user_is_told_or_refused(make, monkeypatch, tmp_path):
    monkeypatch.setattr(sandbox, "find_bwrap", lambda: None)
    platform = make()
    notice = platform.plan(a_launch(sandbox="auto")).notices[0]
    assert "bubblewrap is not installed" in notice
    assert "apt install bubblewrap" in notice
    assert "can write wherever you can" in notice
    for launch in (a_launch(sandbox="on"), a_launch(sandbox="auto", network=False)):
        with pytest.raises(SpecError, match="bubblewrap is not installed"):
            platform.check(launch.spec)
    assert platform.plan(a_launch(sandbox="off")).notices == ()
    platform.submit(a_launch(sandbox="auto"))
    place = seen(tmp_path / "home")["place"]
    assert place["sandbox"] is False
    assert place["notices"] == [notice]


def test_with_a_sandbox_both_homes_are_hidden(make, home, monkeypatch):
    monkeypatch.setattr(sandbox, "usable", lambda _: (True, ""))
    platform = make()
    assert platform.plan(a_launch(sandbox="on")).notices == ()
    platform.submit(a_launch(sandbox="auto"))
    place = Place.read(str(home / "local" / "jobs" / "run.0001" / "place.json"))
    assert place.sandbox
    assert str(home) in place.hide
    assert str(Path.home().resolve()) in place.hide


def test_planning_touches_nothing(tmp_path):
    platform = LocalPlatform(tmp_path / "home")
    plan = platform.plan(a_launch())
    assert plan.command[0] == sys.executable
    assert plan.command[-1].endswith("run.0001/place.json")
    assert not (tmp_path / "home").exists()
    assert platform.poll(["run.0001"])["run.0001"].state is JobState.ABSENT
    assert not (tmp_path / "home").exists()


def test_old_work_folders_go_and_those_in_use_or_kept_stay(make, home):
    platform = make()
    for stint in (7, 1):
        platform.submit(a_launch(stint))
        seen(home, stint)
    wait_for(lambda: state(platform, "run.0007") is JobState.ENDED)
    locked = home / "work" / "run" / "0003" / "locked"
    locked.mkdir(parents=True)
    (locked / "file").touch()
    locked.chmod(0)
    (home / "work" / "run" / "0004").mkdir()
    assert platform.clean_work("run", keep=[4]) == 2
    left = sorted(path.name for path in (home / "work" / "run").iterdir())
    assert left == ["0001", "0004", "shared"]
    assert platform.clean_work("never heard of") == 0
    platform.forget("run")
    assert not (home / "work" / "run").exists()
    assert state(platform) is JobState.ABSENT


def test_leftovers_of_a_killed_submit_do_not_confuse_the_queue(make, home):
    platform = make()
    platform.submit(a_launch())
    (home / "local" / "open" / "000000099.ghost.0001").touch()
    (home / "local" / "jobs" / "ghost.0001").mkdir()
    assert state(platform, "ghost.0001") is JobState.ABSENT
    assert not (home / "local" / "open" / "000000099.ghost.0001").exists()
    platform.submit(a_launch(run="ghost"))
    assert state(platform, "ghost.0001") is JobState.RUNNING


def test_polling_a_running_stint_is_cheap(make, home):
    platform = make()
    platform.submit(a_launch())
    seen(home)
    started = time.thread_time()
    for _ in range(50):
        platform.poll(["run.0001"])
    assert (time.thread_time() - started) / 50 < 0.02
