"""Charts in text keep their size whatever they are given."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.track.spark import curve, display_width, fit, format_value, sparkline

NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


def test_sparkline_rises_with_its_values():
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8) == "▁▂▃▄▅▆▇█"
    assert sparkline(list(range(800)), 8) == "▁▂▃▄▅▆▇█"
    assert sparkline([1.0], 10) == "▄" and sparkline([2, 2, 2], 10) == "▄▄▄"
    assert sparkline([], 10) == "" and sparkline([1], 0) == ""


def test_gaps_stay_gaps():
    assert sparkline([0, math.nan, 7], 3) == "▁ █"
    assert sparkline([math.nan, math.inf], 5) == "  "


@given(st.lists(NUMBERS, max_size=300), st.integers(0, 50))
def test_sparkline_never_exceeds_its_width(values, width):
    assert display_width(sparkline(values, width)) == min(width, len(values))


def test_curve_goes_down_and_marks_its_seam():
    lines = curve([(x, 100 - x) for x in range(101)], 40, 6, seams=[50], title="损失")
    assert lines[0].startswith("损失") and lines[1].startswith("100 ⡇") and lines[4].startswith("  0 ⡇")
    assert lines[-1].endswith("100") and "⡇" in lines[-1][5:]
    dotted = [[i for i, char in enumerate(line[5:]) if char != "\u2800"] for line in lines[1:5]]
    assert all(max(above) <= min(below) + 1 for above, below in itertools.pairwise(dotted))


def test_curve_of_one_point_or_equal_values_is_drawn():
    assert len(curve([(1, 5)], 30, 4)) == 4
    assert len(curve([(x, 5) for x in range(10)], 30, 4)) == 4


@pytest.mark.parametrize("width, height", [(0, 0), (3, 5), (40, 1), (-1, -1)])
def test_no_room_means_no_curve(width, height):
    assert curve([(0, 1), (1, 2)], width, height) == []


def test_nothing_finite_means_no_curve():
    assert curve([], 40, 5) == [] and curve([(0, math.nan), (1, math.inf)], 40, 5) == []


@given(
    st.lists(st.tuples(NUMBERS, NUMBERS), max_size=60),
    st.integers(1, 100),
    st.integers(1, 12),
    st.lists(NUMBERS, max_size=4),
    st.sampled_from(["", "loss", "训练损失", "x" * 200]),
)
def test_every_line_has_exactly_the_width_asked_for(points, width, height, seams, title):
    lines = curve(points, width, height, seams=seams, title=title)
    assert len(lines) in (0, height)
    assert all(display_width(line) == width for line in lines)


@given(st.text(max_size=20), st.integers(0, 30), st.booleans())
def test_fitted_text_has_its_width(text, width, right):
    assert display_width(fit(text, width, right=right)) == width


@given(st.floats(-1e300, 1e300))
def test_numbers_stay_short_and_near(value):
    text = format_value(value)
    assert len(text) <= 9
    assert float(text) == pytest.approx(value, rel=0.06)
