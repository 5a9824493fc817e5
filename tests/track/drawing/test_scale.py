"""Axes: every value lies on them, and their ticks are numbers that people would choose."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.track.drawing.scale import place_scale, short_number, tick_text, time_unit, value_scale

NUMBERS = st.floats(-1e9, 1e9, allow_nan=False).filter(lambda number: number == 0 or abs(number) > 1e-9)


@pytest.mark.parametrize(
    ("values", "ends", "labels"),
    [
        ([0.05, 2.4], (0, 2.5), ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5"]),
        ([0.18, 0.93], (0.1, 1.0), ["0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([10, 52_000], (0, 55_000), ["0", "10k", "20k", "30k", "40k", "50k"]),
        ([1e-5, 4e-5], (1e-5, 4e-5), ["1e-05", "2e-05", "3e-05", "4e-05"]),
        ([-3, 3], (-3, 3), ["-2", "0", "2"]),
    ],
)
def test_the_ends_and_the_ticks_are_round(values, ends, labels):
    scale = value_scale(values, 5)
    assert (scale.low, scale.high) == pytest.approx(ends)
    assert scale.labels() == labels


@given(st.lists(NUMBERS, min_size=1, max_size=20), st.integers(2, 8))
def test_every_value_lies_between_the_ends_and_the_ticks_too(values, count):
    for scale in (value_scale(values, count), place_scale(values, count)):
        assert scale.low < scale.high
        assert all(-1e-6 <= scale.share(value) <= 1 + 1e-6 for value in [*values, *scale.ticks])
        assert 1 <= len(scale.ticks) <= 3 * count + 3
        assert len(set(scale.labels())) == len(scale.labels()), "two ticks look alike"


@given(st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=20))
def test_a_log_axis_holds_every_positive_value(values):
    scale = value_scale(values, 5, log=True)
    assert scale.log and all(-1e-6 <= scale.share(value) <= 1 + 1e-6 for value in [*values, *scale.ticks])


@pytest.mark.parametrize("values", [[], [math.nan], [math.inf, -math.inf], [1e308, -1e308], [5e-324], [7.0]])
def test_impossible_values_still_give_an_axis(values):
    for scale in (value_scale(values, 5), place_scale(values, 5)):
        assert math.isfinite(scale.low) and math.isfinite(scale.high) and scale.low < scale.high
        assert all(math.isfinite(scale.share(tick)) for tick in scale.ticks)


def test_a_log_axis_of_a_few_decades_has_powers_of_ten():
    assert value_scale([0.002, 30], 5, log=True).labels() == ["0.001", "0.1", "10"]
    assert value_scale([0.11, 2.4], 5, log=True).labels() == ["0.1", "0.2", "0.5", "1", "2", "5"]


def test_times_are_read_in_the_unit_that_fits():
    assert [time_unit(seconds)[0] for seconds in (0, 100, 200, 20_000, 400_000)] == ["s", "s", "min", "h", "d"]


def test_numbers_are_short():
    assert tick_text(1_500_000, 500_000, 2_000_000) == "1.5M"
    assert tick_text(-0.0, 0.5, 1) == "0.0"
    assert short_number(0.123456) == "0.1235"
