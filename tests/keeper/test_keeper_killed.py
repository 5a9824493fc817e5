"""The keeper dies at any call, before or after it took effect: it starts nothing twice and loses nothing."""

from __future__ import annotations

import random

import pytest
from world_rows import order_of, row_of, stints_of

from outlast.inside import layout
from outlast.keeper.index import Index
from outlast.platforms.base import JobState
from outlast.testing.runs import write_run


def row_or_none(world, run: str) -> dict:
    index = Index(world.settings.home / "index.db")
    try:
        found = index.get(run)
        return {"open": found.open} if found else {}
    finally:
        index.close()


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
