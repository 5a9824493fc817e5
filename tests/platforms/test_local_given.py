"""What a stint of this machine is given, and what is kept from it: cards, secrets, variables, the sandbox, room."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from local_bench import a_launch, seen, state, wait_for

from outlast.errors import SpecError
from outlast.inside import sandbox
from outlast.inside.place import Place
from outlast.platforms.base import JobState
from outlast.platforms.local.platform import LocalPlatform


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
