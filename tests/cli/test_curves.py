"""The small live curve: one line of history, seams marked, nothing that breaks the region."""

from __future__ import annotations

import math

from outlast.cli.curves import best_of, curve_lines, without_replayed
from outlast.cli.words import display_width
from outlast.errors import StoreError
from outlast.track.series import MetricPoint


def point(stint: int, epoch: float | None, loss: float, step: int | None = None) -> MetricPoint:
    return MetricPoint(stint, 0.0, epoch, step, {"loss": loss})


def test_curve_has_the_size_asked_for_and_its_ends():
    points = [point(1 + at // 10, float(at), math.exp(-at / 9)) for at in range(30)]
    lines = curve_lines(points, "loss", 60, 5)
    assert len(lines) == 5 and all(display_width(line) <= 60 for line in lines)
    assert "1" in lines[0] and "29" in lines[-1]
    straight = curve_lines([point(1, at.epoch, at.values["loss"]) for at in points], "loss", 60, 5)
    assert lines[:-1] == straight[:-1]
    assert sum(a != b for a, b in zip(lines[-1], straight[-1], strict=True)) == 2  # one mark for each seam


def test_one_row_is_a_line_of_blocks():
    points = [point(1, float(at), float(at)) for at in range(8)]
    assert curve_lines(points, "loss", 60, 1) == ["▁▂▃▄▅▆▇█"]


def test_nothing_is_drawn_for_one_point_or_an_unknown_metric():
    assert curve_lines([point(1, 1.0, 2.0)], "loss", 60, 5) == []
    assert curve_lines([point(1, 1.0, 2.0), point(1, 2.0, 1.0)], "acc", 60, 5) == []


def test_older_part_gives_way_where_a_stint_went_back():
    points = [point(1, 1.0, 3.0), point(1, 2.0, 2.0), point(1, 3.0, 9.0), point(2, 3.0, 1.0), point(2, 4.0, 0.5)]
    assert [(kept.stint, kept.epoch) for kept in without_replayed(points)] == [(1, 1.0), (1, 2.0), (2, 3.0), (2, 4.0)]


def test_stint_that_starts_from_nothing_replaces_everything():
    points = [point(1, 1.0, 3.0), point(1, 2.0, 2.0), point(2, 1.0, 3.0)]
    assert [kept.stint for kept in without_replayed(points)] == [2]


def test_points_without_a_place_are_all_kept():
    assert len(without_replayed([point(1, None, 1.0), point(2, None, 2.0), point(2, 1.0, 3.0)])) == 3


def test_steps_of_one_epoch_stand_side_by_side():
    points = [point(1, float(epoch), 1.0 / (epoch * 10 + step + 1), step) for epoch in range(3) for step in range(10)]
    assert len(curve_lines(points, "loss", 60, 5)) == 5


def test_metric_that_is_tracked_and_printed_is_drawn_once():
    tracked = [MetricPoint(1, 0.0, float(at), None, {"loss": at + 0.25}, "track") for at in range(6)]
    printed = [point(1, float(at), float(at)) for at in range(6)]
    both = [one for pair in zip(tracked, printed, strict=True) for one in pair]
    assert curve_lines(both, "loss", 60, 5) == curve_lines(tracked, "loss", 60, 5)


def test_values_that_are_no_number_leave_gaps():
    points = [point(1, float(at), math.nan if at == 3 else at / 2) for at in range(8)]
    assert len(curve_lines(points, "loss", 60, 5)) == 5
    assert len(curve_lines([point(1, float(at), math.nan) for at in range(4)], "loss", 60, 5)) == 0


def test_metrics_that_cannot_be_read_cost_no_command():
    def broken(run):
        raise StoreError("gone")

    assert best_of(broken, "x") == {}
