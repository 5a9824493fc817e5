"""From series to lines: seams, replayed parts, gaps, smoothing, and which x a point gets."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.track.drawing.figure import Line
from outlast.track.drawing.plot import Smoother, Subject, choose_x, plot, thin
from outlast.track.drawing.telling import telling_metrics
from outlast.track.series import Series, SeriesPoint


def series(*points, name="loss"):
    """Points as (stint, epoch, step, value) or with a fifth word: replayed."""
    return Series(
        name,
        [SeriesPoint(one[0], float(at), one[1], one[2], one[3], len(one) > 4) for at, one in enumerate(points)],
    )


def draw(one, **words):
    figure = plot([Subject("a", {one.name: one})], [one.name], **words)
    return figure.panels[0].curves[0] if figure.panels else None


def test_what_counts_is_one_line_and_what_was_replayed_branches_off():
    curve = draw(series((1, 1, 1, 0.9), (1, 2, 2, 0.8), (1, 3, 3, 0.7, "r"), (2, 3, 3, 0.71), (2, 4, 4, 0.6)))
    faint, line = curve.lines
    assert faint == Line([2.0, 3.0], [0.8, 0.7], faint=True), "it starts where it left"
    assert line == Line([1.0, 2.0, 3.0, 4.0], [0.9, 0.8, 0.71, 0.6])
    assert [(mark.x, mark.y, mark.stint) for mark in curve.seams] == [(3.0, 0.71, 2)]
    assert (curve.last, curve.best) == (0.6, 0.6)


def test_a_stint_that_was_replayed_as_a_whole_stands_alone():
    curve = draw(series((1, 1, 1, 0.9), (2, 2, 2, 0.8, "r"), (3, 2, 2, 0.85)))
    assert curve.lines[0] == Line([2.0], [0.8], faint=True)
    assert [mark.stint for mark in curve.seams] == [3]


def test_values_that_are_no_numbers_leave_a_gap_and_are_counted():
    curve = draw(series((1, 1, 1, 1.0), (1, 2, 2, math.nan), (1, 3, 3, math.inf), (1, 4, 4, 0.5)))
    assert list(curve.lines[-1].strokes()) == [[(1.0, 1.0)], [(4.0, 0.5)]] and curve.left_out == 2


def test_nothing_but_nan_is_said_not_drawn():
    figure = plot([Subject("a", {"loss": series((1, 1, 1, math.nan))})], ["loss"])
    assert not figure.panels and figure.notes == ("loss has no value that can be drawn",)


def test_a_log_axis_leaves_out_what_is_not_positive():
    assert draw(series((1, 1, 1, 0.0), (1, 2, 2, -1.0), (1, 3, 3, 5.0)), log=True).left_out == 2


@pytest.mark.parametrize(
    ("points", "kind"),
    [
        ([(1, 1.0, 1, 0.0), (1, 1.0, 2, 0.0)], "step"),
        ([(1, 1.0, 1, 0.0), (1, 2.0, 1, 0.0), (1, 3.0, 0, 0.0)], "epoch"),
        ([(1, 1.0, 10, 0.0), (1, 2.0, 10, 0.0), (1, 3.0, 10, 0.0)], "epoch"),
        ([(1, 1.0, None, 0.0), (1, 2.0, None, 0.0)], "epoch"),
        ([(1, None, None, 0.0), (1, 2.0, 5, 0.0)], "time"),
        ([(1, 1.0, None, 0.0), (2, 0.0, None, 0.0)], "time"),
    ],
)
def test_x_is_what_all_points_know_and_what_grows(points, kind):
    assert choose_x([Subject("a", {"loss": series(*points)})], ["loss"]) == kind


def test_steps_within_an_epoch_spread_over_it_wherever_they_start():
    again = draw(series(*[(1, float(e), s, 0.0) for e in (1, 2) for s in (1, 2, 3, 4)]), x="epoch")
    going_on = draw(series(*[(1, float(e), 4 * e + s, 0.0) for e in (1, 2) for s in (1, 2, 3, 4)]), x="epoch")
    assert again.lines[-1].xs == going_on.lines[-1].xs == [1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75]


def test_time_counts_on_over_the_stints_and_takes_its_unit():
    points = [SeriesPoint(1, 60.0, None, None, 1.0), SeriesPoint(2, 60.0, None, None, 0.5)]
    figure = plot([Subject("a", {"loss": Series("loss", points)}, {1: 240.0, 2: 100.0})], ["loss"])
    assert figure.x_title == "time (min)"
    assert figure.panels[0].curves[0].lines[-1].xs == [1.0, 5.0]


def test_a_metric_without_the_wanted_x_is_named():
    figure = plot([Subject("a", {"loss": series((1, 1.0, None, 0.5))})], ["loss"], x="step")
    assert figure.notes == ("loss of a has no steps",)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), st.floats(0.01, 0.99))
def test_smoothing_starts_at_the_first_value_and_stays_between_the_extremes(values, weight):
    smoother = Smoother(weight)
    smoothed = [smoother.feed(value) for value in values]
    assert smoothed[0] == pytest.approx(values[0])
    assert all(min(values) - 1e-6 <= value <= max(values) + 1e-6 for value in smoothed)


def test_smoothing_passes_over_nan_and_leaves_last_and_best_alone():
    curve = draw(series((1, 1, 1, 1.0), (1, 2, 2, math.nan), (1, 3, 3, 0.0)), smooth=0.5)
    ys = curve.lines[-1].ys
    assert ys[0] == 1.0 and math.isnan(ys[1]) and ys[2] == pytest.approx(1 / 3)
    assert (curve.last, curve.best) == (0.0, 0.0)


@given(st.lists(st.floats(allow_infinity=True) | st.just(math.nan), min_size=1, max_size=400))
def test_thinning_keeps_the_ends_the_extremes_and_the_gaps(values):
    line = Line([float(at) for at in range(len(values))], values)
    thinned = thin(line, 40)
    assert len(thinned.xs) <= max(40, 60) and list(thinned.xs) == sorted(thinned.xs)
    assert thinned.xs[0] == 0 and thinned.xs[-1] == len(values) - 1
    finite = [value for value in values if math.isfinite(value)]
    kept = [value for value in thinned.ys if math.isfinite(value)]
    if finite:
        assert (min(kept), max(kept)) == (min(finite), max(finite))
    assert any(map(math.isfinite, values)) == any(map(math.isfinite, thinned.ys))
    assert all(map(math.isfinite, values)) == all(map(math.isfinite, thinned.ys))


def test_the_most_telling_metrics_come_first():
    names = ["lr", "epoch_time", "train_loss", "val_loss", "val_acc", "acc", "grad_norm", "loss", "aux_loss"]
    assert telling_metrics(names, 4) == ["loss", "aux_loss", "val_loss", "val_acc"]
    assert telling_metrics(["lr", "time"], 4) == ["lr", "time"]
    assert telling_metrics(["loss", *[f"head{n}_loss" for n in range(9)]], 3)[0] == "loss"
    assert telling_metrics([], 4) == []
