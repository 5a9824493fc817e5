"""Platforms that refuse, fall silent or are used up: what the keeper does, and what it never does."""

from __future__ import annotations

import datetime
import threading
import time

import pytest

from outlast.errors import PlatformError, Unavailable
from outlast.inside import layout
from outlast.inside.records import End, Order
from outlast.keeper.asking import DistantLine, Line
from outlast.keeper.breakers import Breakers
from outlast.keeper.index import Index
from outlast.keeper.keeper import Keeper
from outlast.keeper.observe import RunFolder
from outlast.keeper.view import full_view, view_from_json
from outlast.platforms.accounts import Account, Accounts
from outlast.platforms.base import Field, Job, JobState, Launch, job_name
from outlast.testing.fake_platform import FakePlatform
from outlast.testing.runs import write_run


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def down(words: str = "no answer") -> Unavailable:
    return Unavailable(words, why="down")


# -- breakers -------------------------------------------------------------------------------------------------------


def test_breaker_opens_longer_each_time_and_closes_when_a_stint_is_taken(tmp_path):
    clock = Clock()
    breakers = Breakers(tmp_path, 10.0, clock)
    waits = []
    for _ in range(12):
        breakers.note("lab", down())
        waits.append(breakers.get("lab").closed_s(clock.now))
        clock.now += waits[-1] + 1
    assert 8 <= waits[0] <= 12 and 16 <= waits[1] <= 24
    assert all(480 <= wait <= 720 for wait in waits[7:])
    assert breakers.get("lab").words(clock.now).startswith("has been down for ")
    breakers.close("lab")
    assert breakers.get("lab") is None


def test_breaker_survives_a_restart_and_honours_what_the_platform_says(tmp_path):
    clock = Clock()
    Breakers(tmp_path, 10.0, clock).note("lab", Unavailable("busy", why="full", retry_after_s=500.0))
    again = Breakers(tmp_path, 10.0, clock)
    assert again.get("lab").closed_s(clock.now) == 500.0
    assert again.get("lab").words(clock.now) == "is full: busy"
    assert (tmp_path / "breakers.json").stat().st_mode & 0o777 == 0o600


def test_clock_that_was_set_back_does_not_close_a_platform_for_ever(tmp_path):
    clock = Clock()
    breakers = Breakers(tmp_path, 10.0, clock)
    breakers.note("lab", down())
    clock.now -= 10 * 86400
    assert breakers.get("lab").closed_s(clock.now) == 0.0


def test_damaged_file_of_breakers_is_no_trouble(tmp_path):
    (tmp_path / "breakers.json").write_text("{nonsense")
    breakers = Breakers(tmp_path, 10.0, Clock())
    assert breakers.get("lab") is None
    breakers.note("lab", down())
    assert breakers.get("lab").count == 1


def test_trial_keeps_the_others_away_until_its_fate_is_known(tmp_path):
    clock = Clock()
    breakers = Breakers(tmp_path, 10.0, clock)
    breakers.note("lab", down())
    clock.now += 13
    assert breakers.get("lab").closed_s(clock.now) == 0.0
    breakers.begin_trial("lab")
    assert breakers.get("lab").closed_s(clock.now) == 10.0


def test_answer_to_a_poll_closes_only_what_a_poll_has_opened(tmp_path):
    breakers = Breakers(tmp_path, 10.0, Clock())
    breakers.note("lab", Unavailable("full", why="full"))
    breakers.close("lab", by_poll=True)
    assert breakers.get("lab") is not None
    breakers.note("pai", down(), by_poll=True)
    breakers.close("pai", by_poll=True)
    assert breakers.get("pai") is None


# -- lines ----------------------------------------------------------------------------------------------------------


class Slow(FakePlatform):
    """A platform over a network: every call waits until the test lets it through."""

    fields = (Field("endpoint", "Endpoint"),)

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.trouble: Exception | None = None
        self.on_call = self._wait

    def _wait(self, verb: str) -> None:
        assert self.gate.wait(60)
        if self.trouble is not None:
            raise self.trouble


def until(condition):
    deadline = time.monotonic() + 60
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return found


@pytest.fixture
def slow(tmp_path):
    platform = Slow()
    line = DistantLine("far", platform, Breakers(tmp_path, 10.0, Clock()), time.monotonic, lambda: None)
    yield line
    platform.trouble = None
    platform.gate.set()
    line.close()


def launch_of(run: str = "r", stint: int = 1) -> Launch:
    return Launch(None, Order(run=run, stint=stint, token="t", platform="far"))  # type: ignore[arg-type]


def test_distant_platform_is_never_waited_for(slow):
    assert slow.poll(["r.0001"]) == {}
    assert slow.submit(launch_of()) == "waiting"
    slow.cancel("r.0001")
    slow.platform.gate.set()
    assert until(lambda: slow.poll(["r.0001"]))["r.0001"].state is not JobState.RUNNING


def test_distant_submit_tells_its_outcome_once_it_is_known(slow):
    launch = launch_of()
    assert slow.submit(launch) == "waiting"
    slow.platform.gate.set()
    assert until(lambda: (outcome := slow.submit(launch)) != "waiting" and outcome) == "taken"
    assert slow.platform.submits == {"r.0001": 1}


@pytest.mark.parametrize(
    ("error", "why"),
    [(Unavailable("no", why="quota"), "quota"), (PlatformError("hiccup"), "down"),
     (PlatformError("never", retryable=False), "refused"), (ValueError("bug"), "refused"), (OSError("reset"), "down")],
)  # fmt: skip
def test_any_failure_of_a_distant_submit_says_where_to_go(slow, error, why):
    slow.platform.trouble = error
    slow.platform.gate.set()
    outcome = until(lambda: (found := slow.submit(launch_of())) != "waiting" and found)
    assert isinstance(outcome, Unavailable) and outcome.why == why


def test_last_answer_holds_while_a_platform_cannot_be_asked(tmp_path):
    clock = Clock()
    platform = FakePlatform()
    platform.jobs["r.0001"] = Job(JobState.RUNNING)
    line = Line("far", platform, Breakers(tmp_path, 10.0, clock), clock)
    assert line.poll(["r.0001"])["r.0001"] == Job(JobState.RUNNING)

    def fail(verb: str) -> None:
        raise down()

    platform.on_call = fail
    clock.now += 7
    heard = line.poll(["r.0001", "r.0002"])
    assert (heard["r.0001"].state, heard["r.0001"].heard_s) == (JobState.RUNNING, 7.0)
    assert heard["r.0001"].unheard.startswith("has been down for")
    assert heard["r.0002"].state is JobState.ABSENT and heard["r.0002"].unheard
    platform.on_call = lambda verb: None
    clock.now += 60
    assert line.poll(["r.0001"])["r.0001"].unheard == ""


# -- the keeper -----------------------------------------------------------------------------------------------------


class Places:
    """Several platforms around one world of the keeper's tests, with a wall clock that goes along."""

    def __init__(self, world, *names: str) -> None:
        self.world = world
        self.platforms = {name: FakePlatform() for name in names}
        self.keeper = Keeper(
            world.settings, open_store=lambda url: world.store, create_platform=self.platforms.__getitem__,
            clock=world.clock,
        )  # fmt: skip
        world.keepers.append(self.keeper)
        self.keeper._platforms.breakers.clock = self.keeper._platforms._now = lambda: 1_800_000_000.0 + world.clock.now

    def turn(self, seconds: float = 1.0) -> float:
        return self.world.turn(self.keeper, seconds)

    def refuse(self, name: str, error: Exception | None) -> None:
        def on_call(verb: str) -> None:
            if verb == "submit" and error is not None:
                raise error

        self.platforms[name].on_call = on_call

    def order(self, run: str, stint: int) -> Order:
        return Order.from_bytes(self.world.store.get(layout.order_key(run, stint)))

    def end(self, run: str, stint: int) -> End:
        return End.from_bytes(self.world.store.get(layout.end_key(run, stint)))

    def view(self, run: str) -> dict:
        index = Index(self.world.settings.home / "index.db")
        try:
            return index.get(run).view
        finally:
            index.close()


def test_full_platform_is_passed_over_and_tried_again_later(world):
    spec = write_run(world.store, world.settings, platforms=("free", "lab"))
    places = Places(world, "free", "lab")
    places.refuse("free", Unavailable("no V100 is free", why="full"))
    places.turn()
    assert places.end(spec.id, 1).reason == "refused"
    second = places.order(spec.id, 2)
    assert (second.platform, second.why) == ("lab", "free is full: no V100 is free")
    places.refuse("free", None)
    stint = places.platforms["lab"].start(world.store)
    stint.checkpoint()
    world.clock.now += 60
    stint.end("hand-over")
    places.turn()
    third = places.order(spec.id, 3)
    assert (third.platform, third.why) == ("free", "back to free, the first choice")


def test_run_waits_and_says_so_when_every_platform_refuses(world):
    spec = write_run(world.store, world.settings, platforms=("free", "lab"))
    places = Places(world, "free", "lab")
    for name in ("free", "lab"):
        places.refuse(name, Unavailable("nothing left", why="full"))
    for _ in range(20):
        places.turn(0.5)
    view = places.view(spec.id)
    assert view["message"].startswith("waits for a platform: free is full: nothing left; lab is full")
    assert view["state"] == "queued"
    folder = RunFolder(world.store, spec.id)
    folder.refresh()
    assert full_view(folder, world.settings, view_from_json(view)).message == view["message"]
    asked = len(list(world.store.list(layout.stints_prefix(spec.id))))
    for name in ("free", "lab"):
        places.refuse(name, None)
    places.turn(600)
    places.turn()
    assert len(list(world.store.list(layout.stints_prefix(spec.id)))) > asked
    assert places.platforms["free"].submits


def test_other_runs_profit_from_what_one_run_has_learned(world):
    places = Places(world, "free", "lab")
    places.refuse("free", Unavailable("no V100 is free", why="full"))
    first = write_run(world.store, world.settings, platforms=("free", "lab"))
    places.turn()
    second = write_run(world.store, world.settings, platforms=("free", "lab"))
    places.turn()
    assert places.order(first.id, 2).platform == places.order(second.id, 1).platform == "lab"


def test_stint_that_waits_too_long_in_a_queue_goes_elsewhere(world):
    Accounts(world.settings.home).path.parent.mkdir(parents=True, exist_ok=True)
    Accounts(world.settings.home).save(Account("free", "fake", {"queue_patience": "5m"}))
    spec = write_run(world.store, world.settings, platforms=("free", "lab"))
    places = Places(world, "free", "lab")
    places.turn()
    places.turn(200)
    assert not places.platforms["lab"].submits
    places.turn(101)
    assert places.end(spec.id, 1).message == "stint 1 waited 5 min 1 s in the queue of free"
    assert places.platforms["free"].cancelled == [job_name(spec.id, 1)]
    assert places.order(spec.id, 2).why == "free is full: stint 1 waited 5 min 1 s in the queue of free"


def test_answer_that_was_lost_costs_no_stint(world):
    spec = write_run(world.store, world.settings, platforms=("free", "lab"))
    places = Places(world, "free", "lab")

    def on_call(verb: str) -> None:
        if verb == "submit done":
            raise down()

    places.platforms["free"].on_call = on_call
    places.turn()
    assert places.platforms["free"].submits == {job_name(spec.id, 1): 1}
    places.platforms["free"].start(world.store).beat()
    places.turn()
    assert places.view(spec.id)["state"] == "running"
    assert not places.platforms["lab"].submits


def test_running_stint_is_not_lost_while_its_platform_is_down_and_its_beats_count(world):
    spec = write_run(world.store, world.settings, platforms=("free", "lab"))
    places = Places(world, "free", "lab")
    places.turn()
    stint = places.platforms["free"].start(world.store)
    stint.beat()
    places.turn()

    def on_call(verb: str) -> None:
        raise down()

    places.platforms["free"].on_call = on_call
    for _ in range(10):
        stint.beat()
        places.turn(50)
    assert places.view(spec.id)["stints"] == 1
    places.turn(30)
    places.turn(31)
    assert places.end(spec.id, 1).reason == "lost"
    assert places.order(spec.id, 2).platform == "lab"


def test_account_whose_hours_are_used_up_is_not_chosen_until_they_renew(world):
    home = world.settings.home
    home.mkdir(parents=True, exist_ok=True)
    Accounts(home).save(Account("free", "fake", {"hours": "0.5", "per": "day", "limit": "20m"}))
    spec = write_run(world.store, world.settings, platforms=("free", "lab"), limit_s=3600.0)
    places = Places(world, "free", "lab")
    places.turn()
    today = places.order(spec.id, 1).created_at[:10]
    noon = datetime.datetime.fromisoformat(f"{today}T12:00:00+00:00").timestamp()
    places.keeper._platforms.breakers.clock = places.keeper._platforms._now = lambda: noon
    assert places.order(spec.id, 1).limit_s == 1200.0
    stint = places.platforms["free"].start(world.store)
    stint.beat(elapsed_s=1700.0)
    places.turn()
    stint.checkpoint()
    stint.end("hand-over", phases={"running": 1750.0})
    places.turn(11)
    second = places.order(spec.id, 2)
    assert (second.platform, second.why, second.limit_s) == ("lab", "free's 0.5 h of today are used up", 3600.0)
    assert places.view(spec.id)["used_s"] == {"free": {today: 1750.0}}
    places.keeper._platforms.breakers.clock = places.keeper._platforms._now = lambda: noon + 86400
    stint = places.platforms["lab"].start(world.store)
    stint.checkpoint()
    stint.end("hand-over")
    places.turn(11)
    assert places.order(spec.id, 3).why == "back to free, the first choice"


def test_account_that_is_gone_is_named_and_the_run_goes_on_elsewhere(world):
    spec = write_run(world.store, world.settings, platforms=("gone", "lab"))
    places = Places(world, "lab")

    def create(name: str) -> FakePlatform:
        if name == "gone":
            raise PlatformError("nobody is signed in to gone here")
        return places.platforms[name]

    places.keeper._platforms._create = create
    places.turn()
    assert places.order(spec.id, 1).why == "gone cannot be used: nobody is signed in to gone here"
