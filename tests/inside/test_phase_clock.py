"""Seconds of each phase add up to the time that passed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.inside.ledger import PHASES, PhaseClock


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_entering_a_phase_closes_the_one_before():
    clock = Clock()
    phases = PhaseClock(clock)
    assert phases.phases() == {}
    phases.enter("fetching")
    clock.now += 2
    phases.enter("running")
    clock.now += 3
    assert phases.phases() == {"fetching": 2, "running": 3}
    phases.enter("fetching")
    clock.now += 1
    assert phases.phases() == {"fetching": 3, "running": 3}


def test_saving_within_running_is_moved_and_never_more_than_there_is():
    clock = Clock()
    phases = PhaseClock(clock)
    phases.add("saving", 5)
    phases.enter("running")
    clock.now += 10
    phases.add("saving", 4)
    phases.add("running", 4)
    phases.add("saving", -1)
    assert phases.phases() == {"running": 6, "saving": 4}
    phases.add("saving", 100)
    assert phases.phases() == {"running": 0, "saving": 10}


def test_clock_that_steps_back_takes_nothing_away():
    clock = Clock()
    phases = PhaseClock(clock)
    phases.enter("running")
    clock.now += 5
    phases.phases()
    clock.now -= 50
    assert phases.phases() == {"running": 5}
    clock.now += 1
    assert phases.phases() == {"running": 6}


@given(
    st.lists(
        st.tuples(st.sampled_from(["enter", "add", "look"]), st.sampled_from(PHASES), st.floats(0, 1e4)), max_size=40
    )
)
def test_phases_always_add_up_to_the_time_since_the_first(events):
    clock = Clock()
    phases = PhaseClock(clock)
    phases.enter("fetching")
    for what, phase, seconds in events:
        clock.now += seconds
        if what == "enter":
            phases.enter(phase)
        elif what == "add":
            phases.add(phase, seconds / 2)
    seconds_by_phase = phases.phases()
    assert min(seconds_by_phase.values()) >= 0
    assert sum(seconds_by_phase.values()) == pytest.approx(clock.now - 100.0)
