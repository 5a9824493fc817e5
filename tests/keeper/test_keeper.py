"""The keeper: observe, decide, act; killed anywhere it starts nothing twice and loses nothing."""

from __future__ import annotations

import random

import pytest

from outlast.errors import PlatformError
from outlast.inside import layout
from outlast.inside.errors import PlaceError, StoreFull
from outlast.inside.records import Control, End, Order
from outlast.keeper.index import Index, IndexDamaged, RunRow
from outlast.platforms.base import JobState, job_name
from outlast.testing.runs import write_run


def row_of(world, run: str) -> RunRow:
    index = Index(world.settings.home / "index.db")
    try:
        found = index.get(run)
        assert found is not None
        return found
    finally:
        index.close()


def order_of(world, run: str, stint: int) -> Order:
    return Order.from_bytes(world.store.get(layout.order_key(run, stint)))


def stints_of(world, run: str) -> list[int]:
    keys = [entry.key for entry in world.store.list(layout.stints_prefix(run))]
    return sorted(int(key.split("/")[3]) for key in keys if key.endswith("order.json"))


def ask(world, run: str, **control) -> None:
    world.store.put(layout.control_key(run), Control(**control).to_bytes())


def test_run_in_the_inbox_is_ordered_and_submitted_in_one_turn(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    assert order_of(world, spec.id, 1).limit_s == 60.0
    assert world.platform.submits == {job_name(spec.id, 1): 1}
    assert list((world.settings.home / "inbox").iterdir()) == []
    assert row_of(world, spec.id).state == "queued"


def test_chain_of_stints_until_finished(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    stint = world.platform.start(world.store)
    stint.beat(epoch=1.0, metrics={"loss": 0.5})
    world.turn(keeper)
    assert row_of(world, spec.id).view["metrics"] == {"loss": 0.5}
    last = stint.checkpoint()
    stint.end("hand-over")
    world.turn(keeper)
    assert order_of(world, spec.id, 2).resume_from == last
    second = world.platform.start(world.store)
    second.beat()
    world.turn(keeper)
    second.checkpoint()
    second.end("finished")
    world.turn(keeper)
    row = row_of(world, spec.id)
    assert (row.state, row.open, row.view["stints"]) == ("succeeded", False, 2)
    assert world.platform.submits == {job_name(spec.id, 1): 1, job_name(spec.id, 2): 1}
    assert keeper.idle_s == 0.0
    world.turn(keeper, 7.0)
    assert keeper.idle_s == 7.0


def test_turn_returns_soon_while_a_stint_hands_over(world):
    write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    stint = world.platform.start(world.store)
    assert world.turn(keeper) <= 0.2
    stint.beat(time_left_s=30.0)
    assert 0.5 < world.turn(keeper) <= 1.0
    stint.beat(time_left_s=2.0)
    assert world.turn(keeper) <= 0.2
    stint.beat("handing-over")
    assert world.turn(keeper) <= 0.1


def test_lost_stint_is_fenced_before_the_next_is_ordered(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    stint = world.platform.start(world.store)
    stint.beat(epoch=3.0)
    kept = stint.checkpoint()
    world.turn(keeper)
    world.platform.lose(job_name(spec.id, 1))
    world.turn(keeper, 0.1)
    assert stints_of(world, spec.id) == [1], "the end may still appear"
    world.turn(keeper, 0.6)
    end = End.from_bytes(world.store.get(layout.end_key(spec.id, 1)))
    assert (end.reason, end.by, end.epoch, end.last_checkpoint) == ("lost", "keeper", 3.0, kept)
    assert order_of(world, spec.id, 2).resume_from == kept
    assert not stint.end("finished"), "a late runner finds the fence"


def test_silence_is_measured_by_the_beat_counter_not_by_times(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    stint = world.platform.start(world.store)
    for _ in range(5):
        stint.beat()
        world.turn(keeper, 50.0)
    assert stints_of(world, spec.id) == [1]
    world.turn(keeper, 61.0)
    assert job_name(spec.id, 1) in world.platform.cancelled
    assert End.from_bytes(world.store.get(layout.end_key(spec.id, 1))).reason == "lost"


def test_restarted_keeper_is_patient_again_and_adopts(world):
    spec = write_run(world.store, world.settings)
    first = world.keeper()
    world.turn(first)
    stint = world.platform.start(world.store)
    stint.beat()
    world.turn(first, 59.0)
    second = world.keeper()
    world.turn(second, 59.0)
    assert world.store.head(layout.end_key(spec.id, 1)) is None
    stint.beat()
    world.turn(second, 59.0)
    assert stints_of(world, spec.id) == [1] and world.platform.submits == {job_name(spec.id, 1): 1}


def test_stop_of_a_queued_run_cancels_it(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    ask(world, spec.id, want="stop")
    world.turn(keeper)
    assert row_of(world, spec.id).state == "stopped" and not row_of(world, spec.id).open
    assert world.platform.cancelled == [job_name(spec.id, 1)]


def test_stop_waits_for_the_runner_then_ends_it(world):
    spec = write_run(world.store, world.settings, grace_s=2.0)
    keeper = world.keeper()
    world.turn(keeper)
    world.platform.start(world.store).beat()
    world.turn(keeper)
    ask(world, spec.id, want="stop")
    world.turn(keeper)
    assert row_of(world, spec.id).state == "running"
    world.turn(keeper, 13.0)
    assert row_of(world, spec.id).state == "stopped"


def test_resumed_run_goes_on_where_the_user_said(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    stint = world.platform.start(world.store)
    chosen = stint.checkpoint()
    stint.checkpoint()
    stint.end("script-error", exit_code=1, tail=["boom"], fingerprint="f")
    world.turn(keeper)
    second = world.platform.start(world.store)
    second.end("script-error", exit_code=1, tail=["boom"], fingerprint="f")
    world.turn(keeper)
    assert row_of(world, spec.id).state == "failed" and "boom" in row_of(world, spec.id).view["message"]
    ask(world, spec.id, want="go", since_stint=3, resume_from=chosen, limit_s=7.0)
    from outlast.keeper.home import Home
    from outlast.keeper.inbox import drop_marker

    drop_marker(Home(world.settings.home), spec.id, spec.store)
    world.turn(keeper)
    order = order_of(world, spec.id, 3)
    assert (order.resume_from, order.limit_s) == (chosen, 7.0)
    assert row_of(world, spec.id).open


def test_trouble_with_one_run_does_not_keep_the_others_waiting(world):
    bad, good = write_run(world.store, world.settings), write_run(world.store, world.settings)
    keeper = world.keeper()
    broken = world.platform.submit

    def submit(launch):
        if launch.spec.id == bad.id:
            raise RuntimeError("broken in a new way")
        broken(launch)

    world.platform.submit = submit
    world.turn(keeper)
    assert job_name(good.id, 1) in world.platform.jobs
    assert "broken in a new way" in row_of(world, bad.id).view["notice"]
    world.platform.submit = broken
    world.turn(keeper)
    assert job_name(bad.id, 1) in world.platform.jobs
    assert row_of(world, bad.id).view["notice"] == ""


@pytest.mark.parametrize("error", [StoreFull("no space left in /s"), PlaceError("/s is read-only")])
def test_full_or_read_only_store_is_the_runs_notice(world, error):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    put, broken = world.store.put_if_absent, [True]

    def put_if_absent(key, data):
        if broken[0]:
            raise error
        return put(key, data)

    world.store.put_if_absent = put_if_absent
    assert world.turn(keeper) <= 2.0
    assert str(error) in row_of(world, spec.id).view["notice"]
    broken[0] = False
    world.turn(keeper)
    assert job_name(spec.id, 1) in world.platform.jobs


def test_platform_that_cannot_answer_is_a_notice_and_ages_go_on(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    world.platform.start(world.store).beat()
    world.turn(keeper)

    def down(verb):
        if verb == "poll":
            raise PlatformError("the scheduler does not answer")

    world.platform.on_call = down
    world.turn(keeper, 50.0)
    assert "does not answer" in row_of(world, spec.id).view["notice"]
    assert stints_of(world, spec.id) == [1]
    world.platform.on_call = lambda verb: None
    world.turn(keeper, 20.0)
    assert End.from_bytes(world.store.get(layout.end_key(spec.id, 1))).reason == "lost"


def test_second_platform_is_tried_after_a_loss_without_progress(world):
    spec = write_run(world.store, world.settings, platforms=("fake", "other"))
    keeper = world.keeper()
    world.turn(keeper)
    for _ in range(2):
        world.platform.start(world.store)
        world.platform.lose(list(world.platform.jobs)[-1])
        world.turn(keeper, 1.0)
        world.turn(keeper, 1.0)
    assert [order_of(world, spec.id, number).platform for number in (1, 2, 3)] == ["fake", "other", "fake"]


def test_secrets_reach_the_launch_and_nothing_else(world):
    from outlast.keeper.home import Home
    from outlast.keeper.secrets import SecretsFile

    spec = write_run(world.store, world.settings, secrets=("TOKEN",))
    SecretsFile(Home(world.settings.home)).save_run(spec.id, {"TOKEN": "s3cret-value"})
    world.turn(world.keeper())
    assert world.platform.launches[job_name(spec.id, 1)].secrets == {"TOKEN": "s3cret-value"}
    assert "s3cret-value" not in repr(world.platform.launches)
    for entry in world.store.list(""):
        assert b"s3cret-value" not in world.store.get(entry.key)
    assert "s3cret-value" not in str(row_of(world, spec.id))


def test_run_whose_folder_is_gone_is_let_go(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    other = world.keeper()
    for entry in list(world.store.list(layout.run_prefix(spec.id))):
        world.store.delete(entry.key)
    world.turn(other)
    assert not row_of(world, spec.id).open


def test_two_keepers_on_one_home_start_each_stint_once(world):
    specs = [write_run(world.store, world.settings) for _ in range(3)]
    keepers = [world.keeper(), world.keeper(alone=False)]
    for _ in range(6):
        for keeper in keepers:
            world.turn(keeper)
    assert world.platform.submits == {job_name(spec.id, 1): 1 for spec in specs}
    for spec in specs:
        assert stints_of(world, spec.id) == [1]


class Killed(BaseException):
    """Stands for kill -9: nothing in the keeper may catch it."""


def play(world, spec, rng: random.Random) -> None:
    """Let runners make progress between the keeper's turns."""
    for name, job in list(world.platform.jobs.items()):
        stint = int(name[-4:])
        if world.store.head(layout.end_key(spec.id, stint)) is not None:
            continue
        if job.state is JobState.QUEUED and rng.random() < 0.7:
            world.platform.start(world.store, name).beat()
        elif job.state is JobState.RUNNING:
            from outlast.testing.fake_platform import FakeStint

            runner = FakeStint(world.platform, world.store, world.platform.launches[name])
            runner.checkpoint()
            if rng.random() < 0.5:
                runner.end("finished" if stint >= 3 else "hand-over")
            elif rng.random() < 0.3:
                world.platform.lose(name)


def check_promises(world, spec) -> None:
    numbers = stints_of(world, spec.id)
    assert numbers == list(range(1, len(numbers) + 1))
    ended = [number for number in numbers if world.store.head(layout.end_key(spec.id, number)) is not None]
    assert len(numbers) - len(ended) <= 1, "two stints are open"
    assert all(count == 1 for count in world.platform.submits.values()), world.platform.submits
    assert not set(numbers[:-1]) - set(ended)


class Scythe:
    """Kills the keeper at its n-th call to the store or the platform, before or after the call took effect."""

    VERBS = ("put_if_absent", "put", "get", "head", "list")

    def __init__(self, world) -> None:
        self.world, self.left = world, 0
        self.real = {verb: getattr(world.store, verb) for verb in self.VERBS}

    def count(self, verb: str) -> None:
        self.left -= 1
        if self.left == 0:
            raise Killed(verb)

    def turn(self, keeper, left: int, seconds: float):
        """One turn of `keeper` (a new one if None) that may make at most `left` calls; None when it was killed."""
        self.left = left
        for verb in self.VERBS:
            setattr(self.world.store, verb, self._wrap(verb))
        self.world.platform.on_call = self.count
        try:
            keeper = keeper or self.world.keeper()
            self.world.turn(keeper, seconds)
            return keeper
        except Killed:
            return None
        finally:
            for verb, method in self.real.items():
                setattr(self.world.store, verb, method)
            self.world.platform.on_call = lambda verb: None

    def _wrap(self, verb: str):
        def call(*args):
            self.count(verb)
            result = self.real[verb](*args)
            self.count(verb + " done")
            return result

        return call


@pytest.mark.parametrize("seed", range(10))
def test_keeper_killed_at_random_calls_starts_nothing_twice(world, seed):
    print("seed", seed)
    rng = random.Random(seed)
    spec = write_run(world.store, world.settings)
    scythe, keeper = Scythe(world), None
    for _ in range(400):
        # Adopting reads each stint once; a keeper that never gets through its history could decide nothing.
        most = 30 + 6 * sum(1 for _ in world.store.list(layout.run_prefix(spec.id)))
        keeper = scythe.turn(keeper, rng.randrange(1, most), rng.choice([0.1, 0.7, 2.0]))
        check_promises(world, spec)
        play(world, spec, rng)
        if not row_or_none(world, spec.id).get("open", True):
            break
    assert row_of(world, spec.id).state == "succeeded", row_of(world, spec.id)


def test_keeper_killed_at_each_single_call_recovers(make_world):
    """The whole way of a two-stint run, once for every call at which the keeper can die."""
    deaths = 0
    for call in range(1, 200):
        world = make_world(str(call))
        spec = write_run(world.store, world.settings)
        scythe = Scythe(world)
        keeper = scythe.turn(None, call, 1.0)
        died = keeper is None
        for _ in range(3):
            keeper = scythe.turn(keeper, 0, 1.0)
        check_promises(world, spec)
        first = world.platform.start(world.store)
        last = first.checkpoint()
        first.end("hand-over")
        if not died:
            keeper = scythe.turn(keeper, call - 20, 1.0)
            died = keeper is None
        for _ in range(3):
            keeper = scythe.turn(keeper, 0, 1.0)
        check_promises(world, spec)
        assert order_of(world, spec.id, 2).resume_from == last
        world.platform.start(world.store).end("finished")
        for _ in range(3):
            keeper = scythe.turn(keeper, 0, 1.0)
        assert row_of(world, spec.id).state == "succeeded"
        for used in world.keepers:
            used.close()
        deaths += died
        if call > 40 and not died:
            break
    print(f"{deaths} deaths")
    assert deaths > 25


def row_or_none(world, run: str) -> dict:
    index = Index(world.settings.home / "index.db")
    try:
        found = index.get(run)
        return {"open": found.open} if found else {}
    finally:
        index.close()


def test_damaged_index_is_rebuilt_by_the_keeper_itself(world):
    spec = write_run(world.store, world.settings)
    first = world.keeper()
    world.turn(first)
    first.close()
    (world.settings.home / "index.db").write_bytes(b"rubbish" * 1000)
    second = world.keeper()
    world.platform.start(world.store).beat()
    world.turn(second)
    assert row_of(world, spec.id).state == "running"
    assert list(world.settings.home.glob("index.db.damaged-*"))


def test_index_that_cannot_be_written_stops_no_run(world, monkeypatch):
    from outlast.errors import HomeError

    specs = [write_run(world.store, world.settings) for _ in range(2)]
    keeper = world.keeper()

    def full(self, row):
        raise HomeError("database or disk is full")

    monkeypatch.setattr(Index, "update", full)
    world.turn(keeper)
    assert sorted(world.platform.submits) == sorted(job_name(spec.id, 1) for spec in specs)
    monkeypatch.setattr(Index, "kept_runs", lambda self: full(self, None))
    assert world.turn(keeper) > 0
    monkeypatch.undo()
    world.platform.start(world.store, job_name(specs[0].id, 1)).beat()
    world.turn(keeper)
    assert row_of(world, specs[0].id).state == "running"


def test_index_damaged_under_a_running_keeper_is_rebuilt(world, monkeypatch):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    world.platform.start(world.store).beat()
    # The open connection still sees its own pages, so the damage is reported to it by hand.
    (world.settings.home / "index.db").write_bytes(b"rubbish" * 1000)

    def damaged(self):
        monkeypatch.undo()
        raise IndexDamaged("malformed")

    monkeypatch.setattr(Index, "kept_runs", damaged)
    assert world.turn(keeper) == 0.0
    world.turn(keeper)
    assert row_of(world, spec.id).state == "running"


def test_index_replaced_under_a_running_keeper_is_followed(world):
    from outlast.keeper.home import Home
    from outlast.keeper.index import move_damaged_aside
    from outlast.keeper.rebuild import rebuild_index

    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    move_damaged_aside(world.settings.home / "index.db")
    rebuilt = rebuild_index(Home(world.settings.home), world.settings)
    assert rebuilt.runs == 1
    world.platform.start(world.store).beat()
    world.turn(keeper)
    assert row_of(world, spec.id).state == "running"


def test_run_of_another_home_is_listed_but_left_alone(world, tmp_path):
    from outlast.keeper.home import Home
    from outlast.keeper.rebuild import rebuild_index
    from outlast.testing.runs import fake_settings

    spec = write_run(world.store, world.settings)
    world.turn(world.keeper())
    other = fake_settings(tmp_path / "other", OUTLAST_STORE=world.settings.store)
    rebuild_index(Home(other.home), other)
    index = Index(other.home / "index.db")
    found = index.get(spec.id)
    index.close()
    assert found is not None and not found.open
    assert f"outlast resume {spec.id}" in found.view["notice"]


def test_one_turn_for_one_run_takes_milliseconds(world):
    """A long history must not slow the hand-over: what cannot change is not read again."""
    import time

    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    for _ in range(20):
        stint = world.platform.start(world.store)
        for _ in range(5):
            stint.checkpoint()
        stint.end("hand-over")
        world.turn(keeper)
    stint = world.platform.start(world.store)
    stint.beat()
    world.turn(keeper)
    best = min(_timed(lambda: world.turn(keeper, 0.01), time.perf_counter) for _ in range(20))
    print(f"one turn: {best * 1000:.1f} ms")
    assert stints_of(world, spec.id)[-1] == 21
    assert best < 0.05


def _timed(work, clock) -> float:
    started = clock()
    work()
    return clock() - started
