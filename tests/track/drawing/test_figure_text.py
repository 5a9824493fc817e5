"""Curves in the terminal: never wider than it, legible without colour and without braille."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.track.drawing.plot import Subject, plot
from outlast.track.drawing.terminal import Pen, draw_text
from outlast.track.series import Series, SeriesPoint
from outlast.track.spark import display_width


def figure(*labels, metric="loss", count=30):
    points = [
        SeriesPoint(1 + (at >= 20), float(at), float(at), None, 2 * math.exp(-at / 9), 16 <= at < 20)
        for at in range(count)
    ]
    subjects = [Subject(label, {metric: Series(metric, points)}) for label in labels]
    return plot(subjects, [metric])


def plain(lines):
    return ["".join(span.text for span in line) for line in lines]


def test_one_run_has_a_title_seams_axes_and_round_numbers():
    lines = plain(draw_text(figure("a"), 80, 8))
    assert lines[0] == "loss  last 0.07973 · best 0.07973"
    assert lines[1].strip() == "stint 2"
    assert lines[2].startswith("2.0 ⡇") and any(line.startswith("0.0 ⡇") for line in lines)
    assert lines[-1].split() == ["0", "5", "10", "15", "20", "25", "epoch"]


def test_what_was_replayed_is_dim_and_what_counts_has_its_colour():
    styles = {span.style for line in draw_text(figure("a"), 80, 12) for span in line if span.text.strip()}
    assert {"bold", "dim", "cyan"} <= styles


def test_without_colour_each_run_has_its_letter():
    lines = plain(draw_text(figure("first", "second"), 60, 8, Pen(letters=True)))
    assert lines[1].split() == ["a", "first", "0.07973", "b", "second", "0.07973"]
    assert any("b" in line for line in lines[2:-2])


def test_without_braille_everything_is_ascii():
    for pen in (Pen(ascii=True), Pen(letters=True, ascii=True)):
        assert all(line.isascii() for line in plain(draw_text(figure("a"), 70, 6, pen)))


@settings(max_examples=30, deadline=None)
@given(st.integers(24, 160), st.integers(1, 20), st.text(max_size=30), st.text(max_size=60), st.booleans())
def test_no_line_is_wider_than_the_terminal(width, rows, metric, label, letters):
    shown = metric.translate(dict.fromkeys(range(32))) or "m"
    for labels in ([label], [label, label + "2", "x" * 90]):
        for line in plain(draw_text(figure(*labels, metric=shown), width, rows, Pen(letters=letters))):
            assert display_width(line.rstrip()) <= width


@pytest.mark.parametrize("values", [[1.0], [math.nan, 1.0], [1e308, -1e308], [3.0, 3.0, 3.0]])
def test_strange_values_are_drawn(values):
    points = [SeriesPoint(1, float(at), None, at, value) for at, value in enumerate(values)]
    assert len(draw_text(plot([Subject("a", {"m": Series("m", points)})], ["m"]), 40, 6)) >= 8
