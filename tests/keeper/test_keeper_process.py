"""The keeper's process: one per home, leaves when idle, misses nothing while leaving, survives kill -9."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from outlast.inside import layout
from outlast.inside.records import Control, Order
from outlast.inside.stores import open_store
from outlast.keeper.__main__ import KeeperProcess, main
from outlast.keeper.home import Home
from outlast.keeper.inbox import drop_marker
from outlast.keeper.index import Index
from outlast.keeper.keeper import Keeper
from outlast.keeper.wake import end_keeper, ensure_keeper, keeper_is_there, take_lock, wake
from outlast.model.spec import RunSpec
from outlast.platforms.base import Launch, job_name
from outlast.testing.fake_platform import FakePlatform, FakeStint
from outlast.testing.runs import fake_settings, write_run

#: A platform in files, announced as another package would announce it, so that a real keeper process can use it.
PLATFORM = """
import os
from outlast.platforms.base import Job, JobState, Plan, Platform

FOLDER = os.environ["FILED_JOBS"]

class FiledPlatform(Platform):
    name = "fake"
    def check(self, spec): pass
    def plan(self, launch): return Plan(())
    def submit(self, launch):
        try:
            with open(os.path.join(FOLDER, launch.job_name), "x") as job: job.write("running")
        except FileExistsError:
            return
        with open(os.path.join(FOLDER, "submits"), "a") as log: log.write(launch.job_name + "\\n")
    def poll(self, names): return {name: Job(self._state(name)) for name in names}
    def _state(self, name):
        try:
            with open(os.path.join(FOLDER, name)) as job: return JobState(job.read())
        except FileNotFoundError:
            return JobState.ABSENT
    def logs(self, name): return ""
    def cancel(self, name):
        with open(os.path.join(FOLDER, name), "w") as job: job.write("ended")
"""


class Place:
    """A home whose keeper is a real process on a platform in files."""

    def __init__(self, folder: Path, idle_s: str = "60") -> None:
        site, self.jobs = folder / "site", folder / "jobs"
        (site / "filed_platform-1.dist-info").mkdir(parents=True)
        self.jobs.mkdir()
        (site / "filed_platform.py").write_text(PLATFORM)
        (site / "filed_platform-1.dist-info" / "METADATA").write_text("Name: filed-platform\nVersion: 1\n")
        (site / "filed_platform-1.dist-info" / "entry_points.txt").write_text(
            "[outlast.platforms]\nfake = filed_platform:FiledPlatform\n"
        )
        self.settings = fake_settings(folder / "home")
        self.home = Home(self.settings.home)
        self.store = open_store(self.settings.store)
        path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")]))
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")},
            "PYTHONPATH": path, "FILED_JOBS": str(self.jobs), "OUTLAST_BACKOFF_S": "0",
            "OUTLAST_KEEPER_IDLE_S": idle_s,
        }  # fmt: skip
        self.children: list[subprocess.Popen] = []

    def start(self) -> subprocess.Popen:
        command = [sys.executable, "-m", "outlast.keeper", "--home", str(self.home.path)]
        child = subprocess.Popen(command, env=self.environ, stdout=subprocess.DEVNULL)
        self.children.append(child)
        return child

    def until(self, condition, timeout_s: float = 150):
        deadline = time.monotonic() + timeout_s
        while not (found := condition()):
            assert time.monotonic() < deadline, self.home.log.read_text()
            time.sleep(0.01)
        return found

    def passes(self, seconds: float) -> None:
        """Wait until the keeper has left, but no longer than this."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and keeper_is_there(self.home):
            time.sleep(0.005)

    def ordered(self, run: str, stint: int) -> Order | None:
        if self.store.head(layout.order_key(run, stint)) is None:
            return None
        return Order.from_bytes(self.store.get(layout.order_key(run, stint)))

    def runner(self, spec: RunSpec, stint: int) -> FakeStint:
        order = self.until(lambda: self.ordered(spec.id, stint))
        self.until((self.jobs / job_name(spec.id, stint)).exists)
        return FakeStint(FakePlatform(), self.store, Launch(spec, order))

    def end(self, runner: FakeStint, reason: str) -> None:
        runner.end(reason, leave=False)
        (self.jobs / runner.launch.job_name).write_text("ended")
        wake(self.home)

    def submits(self) -> list[str]:
        path = self.jobs / "submits"
        return path.read_text().split() if path.exists() else []

    def state(self, run: str) -> str:
        index = Index(self.home.index)
        try:
            row = index.get(run)
            return row.state if row else ""
        finally:
            index.close()


@pytest.fixture
def place(tmp_path):
    place = Place(tmp_path)
    yield place
    for child in place.children:
        child.kill()
        child.wait()


def test_second_keeper_leaves_quietly(place):
    first = place.start()
    place.until(lambda: keeper_is_there(place.home))
    second = place.start()
    assert second.wait(150) == 0
    assert first.poll() is None


def test_keeper_killed_with_kill_9_is_replaced_and_adopts(place):
    spec = write_run(place.store, place.settings)
    first = place.start()
    runner = place.runner(spec, 1)
    runner.beat()
    place.until(lambda: place.state(spec.id) == "running")
    first.send_signal(signal.SIGKILL)
    first.wait()
    last = runner.checkpoint()
    place.end(runner, "hand-over")
    place.start()
    second = place.runner(spec, 2)
    assert second.launch.order.resume_from == last
    place.end(second, "finished")
    place.until(lambda: place.state(spec.id) == "succeeded")
    assert place.submits() == [job_name(spec.id, 1), job_name(spec.id, 2)]


def test_keeper_killed_at_random_moments_starts_each_stint_once(place):
    seed = int(os.environ.get("OUTLAST_TEST_SEED", "7"))
    print("seed", seed)
    rng = random.Random(seed)
    spec = write_run(place.store, place.settings)
    for number in range(1, 5):
        child = place.start()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(rng.uniform(0.3, 0.9))  # imports, the lock, the order and the job all happen in this time
        child.send_signal(signal.SIGKILL)
        child.wait()
        again = place.start()
        runner = place.runner(spec, number)
        runner.checkpoint()
        runner.end("finished" if number == 4 else "hand-over", leave=False)
        (place.jobs / runner.launch.job_name).write_text("ended")
        if number < 4:
            again.send_signal(signal.SIGKILL)
            again.wait()
    place.until(lambda: place.state(spec.id) == "succeeded")
    assert place.submits() == [job_name(spec.id, number) for number in range(1, 5)]


def test_terminated_keeper_leaves_at_once_and_runs_go_on(place):
    spec = write_run(place.store, place.settings)
    keeper = place.start()
    place.runner(spec, 1).beat()
    place.until(lambda: place.state(spec.id) == "running")
    keeper.send_signal(signal.SIGTERM)
    assert keeper.wait(150) == 0
    assert (place.jobs / job_name(spec.id, 1)).read_text() == "running"
    assert place.store.head(layout.end_key(spec.id, 1)) is None
    assert not keeper_is_there(place.home)


def test_wake_is_answered_long_before_the_next_look(place):
    place.start()
    place.until(lambda: keeper_is_there(place.home))
    place.until(place.home.index.exists)
    spec = write_run(place.store, place.settings)
    started = time.monotonic()
    place.until(lambda: wake(place.home) and place.ordered(spec.id, 1))
    assert time.monotonic() - started < 30.0


def test_idle_keeper_leaves_and_the_next_command_starts_another(tmp_path):
    place = Place(tmp_path, idle_s="0.2")
    try:
        assert place.start().wait(150) == 0
        for number in range(4):
            spec = write_run(place.store, place.settings, marker=False)
            # About when the keeper of the round before is leaving.
            place.passes((0.0, 0.2, 0.3, 0.4)[number])
            drop_marker(place.home, spec.id, spec.store)
            ensure_keeper(place.home, place.environ)
            runner = place.runner(spec, 1)
            place.store.put(layout.control_key(spec.id), Control(want="stop").to_bytes())
            place.end(runner, "stopped")
            place.until(lambda run=spec.id: place.state(run) == "stopped")
        place.until(lambda: not keeper_is_there(place.home))
    finally:
        place.until(lambda: not keeper_is_there(place.home))


def test_run_that_arrives_between_the_last_look_and_the_lock_is_not_missed(tmp_path, monkeypatch):
    """A command that sees the lock held relies on the leaving keeper to look once more."""
    settings = fake_settings(tmp_path / "home", OUTLAST_KEEPER_IDLE_S="0s")
    store, platform, specs = open_store(settings.store), FakePlatform(), []
    monkeypatch.setattr("outlast.keeper.keeper._create_platform", lambda name, settings: platform)

    class Leaving(KeeperProcess):
        def _keep(self, keeper: Keeper) -> None:
            super()._keep(keeper)
            if not specs:
                specs.append(write_run(store, settings))
                assert ensure_keeper(Home(settings.home)) is False, "the lock is still held"
            else:
                keeper.turn()
                platform.start(store).end("finished")
                keeper.turn()

    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    try:
        assert Leaving(settings).run() == 0
    finally:
        for number, handler in zip((signal.SIGTERM, signal.SIGINT), handlers, strict=True):
            signal.signal(number, handler)
    assert platform.submits == {job_name(specs[0].id, 1): 1}


def test_those_who_wait_for_a_keeper_start_one(place):
    assert [ensure_keeper(place.home, place.environ) for _ in range(30)] == [True, *[False] * 29]
    place.until(lambda: keeper_is_there(place.home))
    end_keeper(place.home, 150)


def test_a_keeper_that_died_while_starting_is_followed_by_another(place):
    place.environ["PYTHONHOME"] = str(place.home.path)  # a Python that cannot start
    assert ensure_keeper(place.home, place.environ)
    del place.environ["PYTHONHOME"]
    place.until(lambda: ensure_keeper(place.home, place.environ))
    place.until(lambda: keeper_is_there(place.home))
    end_keeper(place.home, 150)


def test_who_saw_a_keeper_starting_is_not_forgotten(tmp_path, monkeypatch):
    """The keeper that was there leaves after the one that starts has given up waiting for its lock."""
    settings = fake_settings(tmp_path / "home", OUTLAST_KEEPER_IDLE_S="0s")
    home = Home(settings.home)
    held, starting = take_lock(home), os.open(home.start_lock, os.O_RDWR | os.O_CREAT)
    fcntl.flock(starting, fcntl.LOCK_EX)
    asked = []

    def give_up(at: Home, patience_s: float = 0.0) -> int | None:
        if asked:
            return take_lock(at, patience_s)
        os.close(held)
        asked.append(ensure_keeper(home))
        return None

    kept = []
    monkeypatch.setattr("outlast.keeper.__main__.take_lock", give_up)
    monkeypatch.setattr(KeeperProcess, "_keep", lambda self, keeper: kept.append(keeper))
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    try:
        assert KeeperProcess(settings, starting).run() == 0
    finally:
        for number, handler in zip((signal.SIGTERM, signal.SIGINT), handlers, strict=True):
            signal.signal(number, handler)
    assert asked == [False] and len(kept) == 1


def test_keeper_that_starts_too_late_does_not_bring_a_removed_home_back(tmp_path):
    assert main(["--home", str(tmp_path / "removed")]) == 0
    assert not (tmp_path / "removed").exists()


def test_keeper_whose_home_is_gone_leaves_although_its_run_is_open(place):
    place.environ["OUTLAST_KEEPER_IDLE_S"] = "9d"
    spec = write_run(place.store, place.settings)
    process = place.start()
    place.runner(spec, 1)
    place.home.path.rename(place.home.path.with_name("elsewhere"))
    assert process.wait(150) == 0


def test_testing_the_lock_does_not_turn_a_starting_keeper_away(tmp_path):
    home = Home(tmp_path)
    held = take_lock(home)
    assert held is not None
    import threading

    threading.Timer(0.1, os.close, [held]).start()
    lock = take_lock(home, patience_s=5.0)
    assert lock is not None
    os.close(lock)


def test_waking_nobody_is_not_an_error(tmp_path):
    assert wake(Home(tmp_path)) is False


def test_keeper_of_an_unusable_home_says_why(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["--home", str(tmp_path / "file")]) == 2
    assert "is not a folder" in capsys.readouterr().err


def test_starting_a_keeper_imports_next_to_nothing():
    code = (
        "import sys, outlast.keeper.wake\n"
        "print([m for m in ('pydantic', 'sqlalchemy', 'tomllib', 'logging') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")})  # fmt: skip
    assert done.stdout.strip() == "[]", done.stderr


def test_log_is_rotated(tmp_path, monkeypatch):
    import logging

    from outlast.keeper import __main__ as process

    home = Home(tmp_path)
    monkeypatch.setattr(process, "LOG_BYTES", 2000)
    process._start_log(home)
    logger = logging.getLogger("outlast")
    handler = logger.handlers[-1]
    try:
        for number in range(200):
            logging.getLogger("outlast.keeper").info("line %d", number)
    finally:
        logger.removeHandler(handler)
        handler.close()
    assert home.log.stat().st_size <= 2000 and (tmp_path / "keeper.log.1").exists()
