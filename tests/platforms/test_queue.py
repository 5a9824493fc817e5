"""Who is next: by examples, and through thousands of random days."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.platforms.local.queue import Need, Waiting, choose

MACHINE = Need(4, 100, 2, 0)


def job(number, user="ann", cpus=1, memory=0, gpus=0):
    return Waiting(f"j{number}", user, number, Need(cpus, memory, gpus))


def test_first_come_first_served():
    choice = choose([job(3), job(1), job(2)], [], Need(2), {})
    assert choice.start == ("j1", "j2")
    assert choice.why == {"j3": "waits for 1 cpu"}


def test_the_user_with_less_goes_first():
    waiting = [job(1), job(2), job(3, "bob")]
    assert choose(waiting, [("ann", Need(1))], Need(2), {}).start == ("j3",)


def test_weights_shift_the_shares():
    running = [("ann", Need(2)), ("bob", Need(1))]
    waiting = [job(1, "bob"), job(2, "ann")]
    assert choose(waiting, running, MACHINE, {}).start == ("j1",)
    assert choose(waiting, running, MACHINE, {"ann": 3}).start == ("j2",)


def test_a_big_job_at_the_head_keeps_what_is_free():
    waiting = [job(1, cpus=4), job(2), job(3, "bob")]
    choice = choose(waiting, [("cat", Need(2))], MACHINE, {})
    assert choice.start == ()
    assert choice.reserved == "j1"
    assert choice.why == {"j1": "waits for 2 cpus", "j2": "waits behind j1", "j3": "waits behind j1"}


def test_jobs_that_take_nothing_from_the_head_may_pass():
    waiting = [job(1, gpus=2), job(2), job(3, cpus=3)]
    choice = choose(waiting, [("cat", Need(1, 0, 1))], MACHINE, {})
    assert choice.start == ("j2",)
    assert choice.why == {"j1": "waits for 1 gpu", "j3": "waits for 1 cpu"}


def test_a_reservation_is_kept_when_another_user_moves_ahead():
    waiting = [job(1, "ann", cpus=3), job(2, "bob")]
    running = [("ann", Need(1)), ("cat", Need(1))]
    assert choose(waiting, running, MACHINE, {}, reserved="j1").start == ()
    assert choose(waiting, running, MACHINE, {}).start == ("j2",)


def test_a_job_that_can_never_fit_blocks_nobody():
    choice = choose([job(1, cpus=9), job(2)], [], MACHINE, {})
    assert choice.start == ("j2",)
    assert choice.why["j1"] == "needs 9 cpus, this machine has 4 cpus and 2 gpus and 100 B of memory"


needs = st.builds(Need, st.integers(1, 4), st.integers(0, 100), st.integers(0, 2), st.just(0))
days = st.lists(st.tuples(st.sampled_from(["ann", "bob", "cat"]), needs, st.integers(1, 5)), min_size=1, max_size=25)


@settings(max_examples=300, deadline=None)
@given(days, st.dictionaries(st.sampled_from(["ann", "bob"]), st.floats(0.1, 10)))
def test_nothing_is_given_twice_and_every_job_runs(day, weights):
    """One job arrives in each tick and takes some ticks: capacity is never exceeded, and nobody waits for ever."""
    waiting, running, reserved, done = [], [], None, set()
    for tick in range(len(day) * 6 + 10):
        running = [(user, need, until) for user, need, until in running if until > tick]
        if tick < len(day):
            user, need, _ = day[tick]
            waiting.append(Waiting(str(tick), user, tick, need))
        choice = choose(waiting, [(user, need) for user, need, _ in running], MACHINE, weights, reserved)
        reserved = choice.reserved
        for name in choice.start:
            started = next(each for each in waiting if each.name == name)
            waiting.remove(started)
            running.append((started.user, started.need, tick + day[int(name)][2]))
            done.add(name)
        for index in range(4):
            assert sum(need[index] for _, need, _ in running) <= MACHINE[index]
        assert set(choice.why) == {each.name for each in waiting}
        assert not waiting or running or choice.start
    assert len(done) == len(day)


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 4), st.integers(1, 3))
def test_small_jobs_cannot_starve_a_big_one(cpus, length):
    """Bob sends a small job in every tick, for ever; Ann already has something running and wants a lot."""
    running = [("ann", Need(1), 10**6)]
    big = Waiting("big", "ann", 0, Need(min(cpus, 3)))
    waiting, reserved = [big], None
    for tick in range(1, 200):
        running = [each for each in running if each[2] > tick]
        waiting += [Waiting(f"b{tick}.{index}", "bob", tick * 10 + index, Need(1)) for index in range(2)]
        choice = choose(waiting, [each[:2] for each in running], MACHINE, {}, reserved)
        reserved = choice.reserved
        if "big" in choice.start:
            return
        running += [("bob", Need(1), tick + length)] * len(choice.start)
        waiting = [each for each in waiting if each.name not in choice.start]
    raise AssertionError("the big job never started")
