"""One curve over all stints: what a rollback made obsolete is kept and marked."""

from __future__ import annotations

import math

import pytest

from outlast.inside import layout
from outlast.inside.metrics import Point
from outlast.inside.precedence import Precedence
from outlast.inside.records import Manifest, Order
from outlast.inside.shipper import metric_line
from outlast.testing.memory_store import MemoryStore
from outlast.track.series import (
    MetricPoint,
    SeriesTail,
    best_metrics,
    final_metrics,
    prefer_tracked,
    read_points,
    read_series,
)

RUN = "1115-quiet-otter-7kx"


class Folder:
    """A run folder in memory, written as the two halves write it."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.segments: dict[int, int] = {}

    def order(self, stint: int, resume_from: str | None = None) -> None:
        order = Order(run=RUN, stint=stint, token="t", platform="local", resume_from=resume_from)
        self.store.put(layout.order_key(RUN, stint), order.to_bytes())

    def points(self, stint: int, *points: tuple[float, float | None, float]) -> None:
        """One segment of (at_s, epoch, loss)."""
        number = self.segments[stint] = self.segments.get(stint, 0) + 1
        lines = [metric_line(Point(at_s, epoch, None, {"loss": loss}), "log") for at_s, epoch, loss in points]
        self.store.put(layout.metrics_key(RUN, stint, number), b"".join(lines))

    def checkpoint(self, stint: int, number: int, elapsed_s: float, parent: str | None = None) -> str:
        manifest = Manifest(run=RUN, stint=stint, number=number, files={}, parent=parent, elapsed_s=elapsed_s)
        name = layout.checkpoint_id(stint, number)
        self.store.put(layout.checkpoint_key(RUN, name), manifest.to_bytes())
        return name

    def loss(self) -> list[tuple[int, float, bool]]:
        return [(p.stint, p.value, p.replayed) for p in read_series(self.store, RUN)["loss"].points]


@pytest.fixture
def folder() -> Folder:
    return Folder()


def test_points_after_the_checkpoint_that_was_resumed_are_replayed(folder):
    folder.order(1)
    folder.points(1, (1, 1, 0.9), (2, 2, 0.8), (3, 3, 0.7))
    name = folder.checkpoint(1, 1, 2.5)
    folder.order(2, name)
    folder.points(2, (1, 3, 0.71), (2, 4, 0.6))
    assert folder.loss() == [(1, 0.9, False), (1, 0.8, False), (1, 0.7, True), (2, 0.71, False), (2, 0.6, False)]
    series = read_series(folder.store, RUN)["loss"]
    assert [(seam.index, seam.stint) for seam in series.seams] == [(3, 2)]
    assert [point.epoch for point in series.curve] == [1, 2, 3, 4]


def test_the_newest_stint_is_never_replayed_even_after_its_last_checkpoint(folder):
    folder.order(1)
    folder.points(1, (1, 1, 0.9), (9, 2, 0.8))
    folder.checkpoint(1, 1, 2.5)
    assert [replayed for _, _, replayed in folder.loss()] == [False, False]


def test_a_stint_that_nobody_continued_is_replayed_as_a_whole(folder):
    folder.order(1)
    folder.points(1, (1, 1, 0.9), (5, 2, 0.8))
    first = folder.checkpoint(1, 1, 3.0)
    folder.order(2, first)
    folder.points(2, (1, 2, 0.81))
    folder.order(3, first)
    folder.points(3, (1, 2, 0.82))
    assert folder.loss() == [(1, 0.9, False), (1, 0.8, True), (2, 0.81, True), (3, 0.82, False)]


def test_starting_anew_makes_everything_before_obsolete(folder):
    folder.order(1)
    folder.points(1, (1, 1, 0.9))
    folder.order(2)
    folder.points(2, (1, 1, 0.95))
    assert folder.loss() == [(1, 0.9, True), (2, 0.95, False)]


def test_what_was_really_restored_counts_not_what_was_ordered(folder):
    folder.order(1)
    folder.points(1, (1, 1, 0.9), (2, 2, 0.8), (3, 3, 0.7))
    good = folder.checkpoint(1, 1, 1.5)
    damaged = folder.checkpoint(1, 2, 2.5, good)
    folder.order(2, damaged)
    folder.points(2, (1, 2, 0.81))
    folder.checkpoint(2, 1, 2.0, parent=good)
    assert folder.loss() == [(1, 0.9, False), (1, 0.8, True), (1, 0.7, True), (2, 0.81, False)]


def test_a_value_printed_after_the_save_it_belongs_to_is_not_replayed(folder):
    folder.order(1)
    folder.points(1, (1, 1, 0.9), (2.1, 2, 0.8))
    name = folder.checkpoint(1, 1, 2.0)
    folder.order(2, name)
    folder.points(2, (1, 3, 0.7))
    assert folder.loss() == [(1, 0.9, False), (1, 0.8, False), (2, 0.7, False)]


def test_a_value_printed_between_a_save_and_its_snapshot_is_replayed(folder):
    folder.order(1)
    folder.points(1, (1, 1, 0.9), (2, 2, 0.8), (2.1, 3, 0.7))
    name = folder.checkpoint(1, 1, 2.2)  # of epoch 2, noticed a little later
    folder.order(2, name)
    folder.points(2, (1, 3, 0.7), (2, 4, 0.6))
    assert folder.loss() == [(1, 0.9, False), (1, 0.8, False), (1, 0.7, True), (2, 0.7, False), (2, 0.6, False)]


def test_numbers_that_begin_anew_in_each_stint_leave_the_decision_to_the_time(folder):
    folder.order(1)
    folder.points(1, (1, 1, 0.9), (2, 2, 0.8), (3, 3, 0.7))
    name = folder.checkpoint(1, 1, 2.5)
    folder.order(2, name)
    folder.points(2, (1, 1, 0.71))
    assert [replayed for _, _, replayed in folder.loss()] == [False, False, True, False]


def test_numbers_that_repeat_within_a_stint_leave_the_decision_to_the_time(folder):
    folder.order(1)
    folder.points(1, (1, 1, 0.9), (2, 2, 0.8), (3, 1, 0.7), (4, 2, 0.6))
    name = folder.checkpoint(1, 1, 3.5)
    folder.order(2, name)
    folder.points(2, (1, 2, 0.61))
    assert [replayed for _, _, replayed in folder.loss()] == [False, False, False, True, False]


def test_broken_lines_and_strangers_are_left_out(folder):
    folder.order(1)
    good = metric_line(Point(1.0, None, 7, {"loss": math.nan, "a": math.inf, "b": -math.inf, "samples": "ab"}), "track")
    broken = b'{"at_s": 1\n[]\n{}\nnull\n{"at_s": "x", "values": {}}\n{"at_s": 1, "values": 3}\n\xff\xfe\n{"at_s": 1'
    folder.store.put(layout.metrics_key(RUN, 1, 1), broken + b"\n" + good + b'{"at_s":2,"values":{"ok":true,"l":[1]}}')
    folder.store.put(layout.metrics_prefix(RUN, 1) + "stranger", b"x")
    points = read_points(folder.store, RUN, 1)
    assert [point.at_s for point in points] == [1.0, 2.0]
    assert math.isnan(points[0].values["loss"]) and points[0].values["a"] == math.inf
    assert points[0].texts == {"samples": "ab"} and points[0].source == "track" and points[0].step == 7
    assert points[1].values == {}


def test_segments_are_read_by_number_not_by_name(folder):
    folder.order(1)
    for number in (999_999, 1_000_000, 2):
        line = metric_line(Point(float(number), None, None, {"loss": 1.0}), "log")
        folder.store.put(layout.metrics_key(RUN, 1, number), line)
    assert [point.at_s for point in read_points(folder.store, RUN, 1)] == [2, 999_999, 1_000_000]


def test_run_without_anything_has_no_series(folder):
    assert read_series(folder.store, RUN) == {} and SeriesTail(folder.store, RUN).poll() == []


def test_tail_gives_every_point_once_and_reads_no_segment_twice(folder):
    tail = SeriesTail(folder.store, RUN)
    folder.order(1)
    assert tail.poll() == []
    folder.points(1, (1, 1, 0.9))
    folder.points(1, (2, 2, 0.8))
    assert [point.values["loss"] for point in tail.poll()] == [0.9, 0.8]
    read: list[str] = []
    folder.store.on_call = lambda verb, key: read.append(key) if verb == "get" else None
    assert tail.poll() == []
    assert read == [layout.metrics_key(RUN, 1, 3)]
    folder.points(1, (3, 3, 0.7))
    for stint in (2, 3):
        folder.order(stint)
        folder.points(stint, (1, 4, 0.1 * stint))
    assert [point.stint for point in tail.poll()] == [1, 2, 3]
    assert isinstance(tail.poll(), list) and tail.poll() == []


def test_late_segment_of_the_stint_before_is_not_missed(folder):
    tail = SeriesTail(folder.store, RUN)
    folder.order(1)
    folder.order(2)
    assert tail.poll() == []
    folder.points(1, (1, 1, 0.9))
    assert [point.stint for point in tail.poll()] == [1]


def test_best_and_final_metrics_skip_what_does_not_count(folder):
    folder.order(1)
    folder.points(1, (1, 1, 0.5), (2, 2, math.nan), (4, 3, 0.1))
    lines = [
        metric_line(Point(at_s, epoch, None, {"val_acc": acc, "lr": 0.1, "train_time_s": 3.0}), "log")
        for at_s, epoch, acc in ((1.0, 1.0, 0.8), (2.0, 2.0, 0.7))
    ]
    folder.store.put(layout.metrics_key(RUN, 1, 2), b"".join(lines))
    name = folder.checkpoint(1, 1, 3.0)
    folder.order(2, name)
    folder.points(2, (1, 3, 0.4))
    series = read_series(folder.store, RUN)
    assert best_metrics(series) == {"loss": (0.4, 3.0), "val_acc": (0.8, 1.0)}
    assert final_metrics(series) == {"loss": 0.4, "val_acc": 0.7, "lr": 0.1, "train_time_s": 3.0}


def test_tail_points_carry_what_a_live_view_needs(folder):
    folder.order(1)
    folder.points(1, (1.5, 2.0, 0.25))
    assert SeriesTail(folder.store, RUN).poll() == [MetricPoint(1, 1.5, 2.0, None, {"loss": 0.25}, "log", {})]


def test_what_a_script_prints_of_a_tracked_metric_is_not_a_second_point():
    points = [
        MetricPoint(1, 1.0, 1, None, {"loss": 0.4123, "lr": 0.1}, "log"),
        MetricPoint(1, 1.1, 1, None, {"loss": 0.41234567}, "track"),
        MetricPoint(1, 2.0, 2, None, {"loss": 0.3123}, "log"),
        MetricPoint(1, 2.1, 2, None, {"loss": 0.31234567}, "track"),
    ]
    kept = prefer_tracked(points)
    assert [(point.source, dict(point.values)) for point in kept] == [
        ("log", {"lr": 0.1}),
        ("track", {"loss": 0.41234567}),
        ("track", {"loss": 0.31234567}),
    ]
    known = Precedence()
    known.add("track", ["loss", "lr"])
    assert prefer_tracked(points[:1], known) == []


def test_event_files_come_before_the_log_and_after_what_is_tracked():
    points = [
        MetricPoint(1, 1.0, 1, None, {"loss": 0.4123, "val_loss": 0.5, "ppl": 1.5}, "log"),
        MetricPoint(1, 1.1, None, 10, {"train/loss": 0.41234567, "Loss/val": 0.51, "lr": 0.1}, "events"),
        MetricPoint(1, 1.2, None, 10, {"lr": 0.1000001}, "track"),
    ]
    kept = prefer_tracked(points)
    assert [(point.source, dict(point.values)) for point in kept] == [
        ("log", {"ppl": 1.5}),
        ("events", {"train/loss": 0.41234567, "Loss/val": 0.51}),
        ("track", {"lr": 0.1000001}),
    ]
