"""The relay through tens of thousands of histories of crashes, delays, duplicates, zombies and stale keepers.

The bulk is played by a seeded random driver, because it is fast; Hypothesis plays the same world and shrinks what it
finds. `OUTLAST_TEST_SEED` repeats a run; a failure names the one history to look at.
"""

from __future__ import annotations

import collections
import os
import secrets

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import relay_world
from outlast.model.states import EndReason, RunState
from outlast.relay import Decision, RunSeen, Submit, WriteEnd, WriteOrder, decide, next_checkpoint
from relay_folder import PromiseBroken, Script
from relay_weather import finish, play
from relay_world import Keeper, World

PARTS = 4  # so that one slow core is not taken for a hanging test
HISTORIES = 5_000  # in each part
HYPOTHESIS_HISTORIES = 2_000


def test_there_are_at_least_twenty_thousand_histories():
    assert PARTS * HISTORIES >= 20_000


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_promises_hold_in_thousands_of_random_histories(part):
    seed = int(os.environ.get("OUTLAST_TEST_SEED") or secrets.randbits(32))
    print(f"seed {seed}; repeat with OUTLAST_TEST_SEED={seed}")
    first = seed + part * HISTORIES
    played: collections.Counter[RunState] = collections.Counter()
    stints = 0
    for history in range(first, first + HISTORIES):
        try:
            world, state = play(history)
        except PromiseBroken as broken:
            pytest.fail(f"relay_weather.play({history}): {broken}")
        played[state] += 1
        stints += len(world.folder.orders)
    print(f"{played.total()} histories, {stints} stints, {dict(played)}")
    assert played.total() >= HISTORIES
    # The weather must not be so bad, nor so good, that one kind of ending is hardly seen.
    assert played[RunState.SUCCEEDED] > HISTORIES // 2
    assert played[RunState.FAILED] > HISTORIES // 50
    assert stints > 2 * HISTORIES


class RelayMachine(RuleBasedStateMachine):
    """The same world, one event per rule."""

    played = 0

    def __init__(self) -> None:
        super().__init__()
        self.world = World(Script())
        self.keepers = (Keeper(self.world), Keeper(self.world))

    @initialize(
        total=st.integers(1, 20),
        save_every=st.integers(1, 3),
        slack=st.integers(1, 5),
        kind=st.sampled_from(("good", "good", "silent", "broken", "flaky")),
        at=st.integers(1, 20),
    )
    def begin(self, total: int, save_every: int, slack: int, kind: str, at: int) -> None:
        script = self.world.script
        script.total, script.save_every, script.limit = total, save_every, save_every + slack
        script.saves = kind != "silent"
        script.fails_at = min(at, total) if kind == "broken" else None
        script.fails_once_at = min(at, total) if kind == "flaky" else None

    @rule(which=st.integers(0, 1))
    def look(self, which: int) -> None:
        first = self.keepers[which].look()
        for stint in (action.stint for action in first.actions if isinstance(action, WriteOrder)):
            assert not first.state.is_final and stint == len(self.world.folder.orders) + 1

    @rule(which=st.integers(0, 1), count=st.integers(1, 3))
    def act(self, which: int, count: int) -> None:
        for _ in range(count):
            self.keepers[which].act()

    @rule(which=st.integers(0, 1))
    def crash(self, which: int) -> None:
        self.keepers[which].crash()

    @rule(seconds=st.sampled_from((0.1, 0.6, 31.0, 70.0, 200.0, 400.0)))
    def wait(self, seconds: float) -> None:
        self.world.now += seconds

    @rule()
    def start(self) -> None:
        self.world.start()

    @precondition(lambda self: self.world.runners)
    @rule(index=st.integers(0, 5), steps=st.integers(1, 8))
    def work(self, index: int, steps: int) -> None:
        self.world.work(index, steps)

    @rule(preempted=st.booleans(), zombie=st.booleans())
    def kill(self, preempted: bool, zombie: bool) -> None:
        self.world.kill(preempted=preempted, zombie=zombie)

    @rule(fault=st.sampled_from(
        ("requeue", "forget", "start_twice", "mute", "blind", "hear", "stop", "go_down", "offer")
    ))  # fmt: skip
    def fault(self, fault: str) -> None:
        getattr(self.world, fault)()

    @rule(looks=st.integers(1, 3), unkillable=st.booleans())
    def trouble(self, looks: int, unkillable: bool) -> None:
        self.world.hide(looks)
        self.world.unkillable = unkillable

    @rule(words=st.lists(st.sampled_from(("full", "lost", "")), min_size=1, max_size=3))
    def refuse(self, words: list[str]) -> None:
        self.world.refuse(*words)

    @precondition(lambda self: self.world.folder.want == "stop")
    @rule()
    def resume(self) -> None:
        self.world.resume()

    def teardown(self) -> None:
        finish(self.world)
        RelayMachine.played += 1


@pytest.mark.slow
def test_promises_hold_whatever_hypothesis_tries():
    RelayMachine.played = 0
    RelayMachine.TestCase.settings = settings(
        max_examples=HYPOTHESIS_HISTORIES,
        stateful_step_count=25,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    RelayMachine.TestCase().runTest()
    assert RelayMachine.played >= HYPOTHESIS_HISTORIES


def test_script_that_never_saves_fails_after_its_first_limit():
    world = World(Script(total=50, limit=5, saves=False))
    decision = world.calm(Keeper(world))
    assert decision.state is RunState.FAILED
    assert [end.reason for end in world.folder.ends.values()] == [EndReason.TIME_LIMIT]


def test_same_error_twice_ends_the_run():
    world = World(Script(total=50, save_every=2, limit=6, fails_at=4))
    decision = world.calm(Keeper(world))
    assert decision.state is RunState.FAILED
    assert [end.reason for end in world.folder.ends.values()] == [EndReason.SCRIPT_ERROR] * 2


def test_deciding_twice_gives_the_same_answer_and_acting_twice_does_no_harm():
    world = World(Script(total=20))
    keeper = Keeper(world)
    for _ in range(200):
        decision = keeper.look()
        assert keeper.look() == decision
        for _ in range(2):
            keeper.look()
            before = list(keeper.todo)
            while keeper.act():
                pass
            keeper.todo = before
            while keeper.act():
                pass
        world.start()
        world.work(0, 2)
        world.now += 0.3
        if decision.state.is_final:
            break
    assert decision.state is RunState.SUCCEEDED
    assert world.folder.ends[len(world.folder.orders)].reason is EndReason.FINISHED


# -- the world itself is tested: a relay with one mistake must be caught ------------------------------------------


def _without(kind: type) -> object:
    def broken(seen: RunSeen) -> Decision:
        decision = decide(seen)
        actions = tuple(action for action in decision.actions if not isinstance(action, kind))
        return Decision(decision.state, actions, decision.message, decision.stint_state)

    return broken


def _hasty(seen: RunSeen) -> Decision:
    """Orders the next stint as soon as a runner falls silent, without waiting for its end."""
    decision = decide(seen)
    if any(isinstance(action, WriteEnd) and action.reason is EndReason.LOST for action in decision.actions):
        number = len(seen.stints) + 1
        actions = (WriteOrder(number, next_checkpoint(seen)), Submit(number), *decision.actions)
        return Decision(decision.state, actions, decision.message, decision.stint_state)
    return decision


def _forgetful(seen: RunSeen) -> Decision:
    """Starts every stint from the first checkpoint."""
    decision = decide(seen)
    first = min(seen.checkpoints, default=None)
    actions = tuple(
        WriteOrder(action.stint, first) if isinstance(action, WriteOrder) else action for action in decision.actions
    )
    return Decision(decision.state, actions, decision.message, decision.stint_state)


def _impatient(seen: RunSeen) -> Decision:
    """Gives a run up with its first lost stint."""
    decision = decide(seen)
    if seen.stints and seen.stints[-1].end is not None and seen.stints[-1].end.reason is EndReason.LOST:
        return Decision(RunState.FAILED, (), "gave up", decision.stint_state)
    return decision


def _resentful(seen: RunSeen) -> Decision:
    """Gives a run up when a platform has taken no job for it."""
    decision = decide(seen)
    if seen.stints and seen.stints[-1].was_refused:
        return Decision(RunState.FAILED, (), "gave up", decision.stint_state)
    return decision


@pytest.mark.parametrize(
    "broken", [_without(Submit), _without(WriteEnd), _hasty, _forgetful, _impatient, _resentful],
    ids=["never submits", "never fences", "hasty", "forgetful", "impatient", "resentful"],
)  # fmt: skip
def test_world_catches_a_broken_relay(broken, monkeypatch):
    monkeypatch.setattr(relay_world, "decide", broken)
    with pytest.raises(PromiseBroken):
        for history in range(300):
            play(history)
