"""From one measured stint to a sentence about the whole chain."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.operations.forecast import Forecast, Measured, forecast

NOW = datetime.datetime(2026, 11, 11, 21, 40)  # a Wednesday


def test_the_sentence_says_stints_time_end_and_loss():
    measured = Measured(unit_s=60.0, interval=1, save_s=0.5, commit_s=2.0, environment_first_s=20.0, starting_s=5.0)
    found = forecast(measured, limit_s=3600.0, total=980, now=NOW)
    assert found.sentence == "17 stints, 16 h 30 min, done tomorrow 14:10, 1 % lost"
    assert (found.stints, found.units_per_stint) == (17, 59)
    assert found.done_at == NOW + datetime.timedelta(seconds=found.total_s or 0)


@pytest.mark.parametrize(
    ("hours", "words"),
    [
        (1, "done today 22:40"),
        (12, "done tomorrow 09:40"),
        (65, "done Saturday 14:40"),
        (24 * 30, "done 11 December 21:40"),
        (24 * 80, "done 30 January 2027 21:40"),
    ],
)
def test_the_end_is_named_as_people_do(hours, words):
    found = forecast(Measured(unit_s=3600.0, interval=1), limit_s=None, total=hours, now=NOW)
    assert words in found.sentence
    assert found.sentence.startswith("1 stint, ")


def test_unknown_total_asks_for_it_and_says_what_one_stint_does():
    found = forecast(Measured(unit_s=10.0, interval=2, starting_s=5.0), limit_s=60.0, total=None, now=NOW)
    assert found.sentence == (
        "4 epochs per stint of 1 min, 11 % lost; how many epochs there will be is not known; "
        "say it with --until 'epoch>=N'"
    )
    assert found.stints is None and found.possible
    steps = forecast(Measured(unit="step", unit_s=0.5), limit_s=None, total=None)
    assert "one step takes 0.5 s" in steps.sentence and "--until 'step>=N'" in steps.sentence


def test_limit_too_short_for_one_checkpoint_says_so_and_names_one_that_is_not():
    measured = Measured(unit_s=75 * 60.0, interval=1, starting_s=30.0)
    found = forecast(measured, limit_s=3600.0, total=10, now=NOW)
    assert not found.possible and found.stints is None
    assert "one epoch up to the next checkpoint takes 1 h 15 min" in found.sentence
    assert "the limit is 1 h" in found.sentence and "--limit 91m" in found.sentence
    longer = forecast(measured, limit_s=91 * 60.0, total=10, now=NOW)
    assert longer.possible and longer.stints == 10


def test_environment_that_fills_the_first_stint_is_part_of_the_reason():
    measured = Measured(unit_s=1.0, interval=1, environment_first_s=70.0)
    found = forecast(measured, limit_s=60.0, total=1000, now=NOW)
    assert not found.possible and "starting 1 min 10 s" in found.sentence


def test_script_that_saved_nothing_can_only_fit_into_one_stint():
    measured = Measured(unit_s=1.0, interval=None, starting_s=5.0)
    short = forecast(measured, limit_s=60.0, total=50, now=NOW)
    assert (short.possible, short.stints) == (True, 1)
    long = forecast(measured, limit_s=60.0, total=500, now=NOW)
    assert not long.possible and "--checkpoint PATH" in long.sentence


def test_nothing_recognised_says_what_to_print():
    assert "outlast.epochs" in forecast(Measured(), limit_s=60.0, total=5).sentence


def test_done_work_is_not_counted_again():
    measured = Measured(unit_s=10.0, interval=1, environment_first_s=100.0)
    found = forecast(measured, limit_s=None, total=10, done=7, now=NOW)
    assert found.total_s == 30.0
    assert forecast(measured, limit_s=60.0, total=10, done=10, now=NOW).stints == 1


def test_queueing_takes_time_but_loses_none_of_the_machine():
    found = forecast(Measured(unit_s=10.0, interval=1, queued_s=600.0), limit_s=51.0, total=10, now=NOW)
    assert found.stints == 2 and found.total_s == 1300.0 and found.lost_fraction == 0.0


@given(
    unit_s=st.floats(0.01, 1e4),
    interval=st.integers(1, 10),
    overhead_s=st.floats(0, 100),
    limit_s=st.floats(1, 1e5),
    total=st.integers(1, 10_000),
)
def test_what_is_forecast_fits_together(unit_s, interval, overhead_s, limit_s, total):
    measured = Measured(unit_s=unit_s, interval=interval, save_s=overhead_s / 10, starting_s=overhead_s)
    found: Forecast = forecast(measured, limit_s=limit_s, total=total, now=NOW)
    if not found.possible:
        assert interval * unit_s + overhead_s * 1.1 + 1.0 > limit_s - 1e-6
        return
    assert found.stints is not None and found.total_s is not None and found.useful_fraction is not None
    assert found.total_s >= total * unit_s - 1e-6
    assert found.total_s <= found.stints * limit_s + 1e-6
    assert 0 < found.useful_fraction <= 1 + 1e-9
