"""Sweep decisions: who waits, who is hopeless; the best is never stopped, whatever the curves."""

import math
import statistics

from hypothesis import given
from hypothesis import strategies as st

from outlast.model.states import RunState
from outlast.relay.sweep import MemberSeen, Rule, held, hopeless

RULE = Rule("val_acc", +1, after=4.0)


def member(name, values, state=RunState.RUNNING, **more):
    """A member with one value for each epoch; `bests` as the keeper makes them."""
    bests = []
    for epoch, value in enumerate(values, 1):
        if not bests or value > bests[-1][1]:
            bests.append((float(epoch), value))
    return MemberSeen(name, state, started=True, reached=float(len(values)), bests=tuple(bests), **more)


def waiting(name):
    return MemberSeen(name, RunState.QUEUED)


def test_without_a_limit_nobody_waits():
    assert held([waiting("a"), waiting("b")], None) == frozenset()


def test_members_wait_in_order_until_a_place_is_free():
    members = [member("a", [0.1]), waiting("b"), waiting("c"), waiting("d")]
    assert held(members, 2) == {"c", "d"}
    over = [member("a", [0.1], RunState.FAILED), waiting("b"), waiting("c"), waiting("d")]
    assert held(over, 2) == {"d"}


def test_a_member_that_was_stopped_before_it_began_takes_no_place():
    members = [MemberSeen("a", RunState.STOPPED), waiting("b"), waiting("c")]
    assert held(members, 1) == {"c"}


def test_more_members_than_places_may_train_after_a_resume():
    members = [member("a", [0.1]), member("b", [0.1]), waiting("c")]
    assert held(members, 1) == {"c"}


def test_the_worse_half_is_stopped_at_the_first_comparison():
    members = [member(name, [value] * 5) for name, value in (("a", 0.1), ("b", 0.2), ("c", 0.3), ("d", 0.4))]
    found = {one.run: one for one in hopeless(members, RULE)}
    assert set(found) == {"a", "b"}
    assert (found["a"].place, found["a"].value, found["a"].median, found["a"].peers) == (4.0, 0.1, 0.3, 3)


def test_nobody_is_judged_before_enough_others_came_as_far():
    members = [member("a", [0.1] * 9), member("b", [0.9] * 9), member("c", [0.9] * 9), member("d", [0.9] * 4)]
    assert hopeless(members, RULE) == []
    members[3] = member("d", [0.9] * 4, RunState.SUCCEEDED)
    assert [one.run for one in hopeless(members, RULE)] == ["a"]


def test_comparisons_are_at_equal_epochs():
    """A member that is early in its training is compared with what the others had then."""
    slow = member("slow", [0.05, 0.1, 0.15, 0.2, 0.25])
    done = [member(name, [0.01 * epoch for epoch in range(1, 80)], RunState.SUCCEEDED) for name in "abc"]
    assert hopeless([slow, *done], RULE) == []


def test_a_loss_is_better_when_it_is_lower():
    rule = Rule("loss", -1, after=1.0)
    low = [
        MemberSeen(name, RunState.RUNNING, started=True, reached=3.0, bests=((1.0, value),))
        for name, value in (("a", 0.1), ("b", 0.2), ("c", 0.3), ("d", 9.0))
    ]
    assert {one.run for one in hopeless(low, rule)} == {"c", "d"}
    assert hopeless(low, rule)[-1].median == 0.2


def test_a_member_that_is_no_number_is_hopeless_and_a_resumed_one_is_left_alone():
    good = [member(name, [0.5] * 9) for name in "abc"]
    broken = MemberSeen("x", RunState.RUNNING, started=True, reached=9.0, bests=((1.0, math.nan),))
    assert [one.run for one in hopeless([*good, broken], RULE)] == ["x"]
    assert hopeless([*good, member("y", [0.1] * 9, exempt=True)], RULE) == []


curves = st.lists(st.lists(st.floats(0, 1), max_size=40), min_size=1, max_size=12)
states = st.sampled_from([RunState.RUNNING, RunState.SUCCEEDED, RunState.STOPPED])


@given(curves, st.data(), st.integers(1, 10))
def test_the_best_is_never_stopped_and_equals_are_treated_equally(values, data, after):
    members = [member(str(at), curve, data.draw(states)) for at, curve in enumerate(values)]
    found = hopeless(members, Rule("m", 1, float(after)))
    known = [one for one in members if one.bests]
    tops = {one.run: one.bests[-1][1] for one in known}
    stopped = {one.run for one in found}
    if known:
        best = max(tops.values())
        assert any(tops[run] == best for run in tops if run not in stopped)
    for one in found:
        this = next(each for each in members if each.run == one.run)
        assert this.is_training and one.value < one.median
        others = [each.best_at(one.place) for each in known if each.run != one.run and each.has_passed(one.place)]
        assert one.median == statistics.median([value for value in others if value is not None])


@given(curves, st.data(), st.integers(1, 5))
def test_a_limit_is_never_exceeded_and_never_wasted(values, data, at_once):
    members = [
        member(str(at), curve, data.draw(states)) if curve else waiting(str(at)) for at, curve in enumerate(values)
    ]
    blocked = held(members, at_once)
    training = sum(one.is_training for one in members)
    unbegun = [one.run for one in members if not one.started and not one.state.is_final]
    may_start = [run for run in unbegun if run not in blocked]
    assert training + len(may_start) <= max(at_once, training)
    assert not blocked or training + len(may_start) >= at_once
    assert may_start == unbegun[: len(may_start)]
