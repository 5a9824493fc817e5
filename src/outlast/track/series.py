"""Metrics as one curve over all stints, with its seams visible."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from outlast.inside import layout
from outlast.inside.better import direction as direction  # noqa: PLC0414 - read from here by everybody outside
from outlast.inside.points import Block, items
from outlast.inside.precedence import Precedence
from outlast.store.base import Store
from outlast.track.history import Kept, read_manifests, read_orders, trace_history
from outlast.track.segments import SegmentTail, read_segments


@dataclass(frozen=True)
class MetricPoint:
    """One line of metrics. `texts` holds what is no number, such as the digest of the samples used."""

    stint: int
    at_s: float  # since the runner's start
    epoch: float | None
    step: int | None
    values: Mapping[str, float]
    source: str = "log"  # "log", "events" or "track"
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SeriesPoint:
    """One value of one metric. `replayed`: a later stint went back to before it and did this part again."""

    stint: int
    at_s: float
    epoch: float | None
    step: int | None
    value: float
    replayed: bool = False


@dataclass(frozen=True)
class Seam:
    """Where a series goes from one stint to the next: `points[index]` is the first of `stint`."""

    index: int
    stint: int


@dataclass(frozen=True)
class Series:
    """One metric over all stints of a run, in the order it was recorded."""

    name: str
    points: list[SeriesPoint]

    @property
    def seams(self) -> list[Seam]:
        return [
            Seam(index, point.stint)
            for index, point in enumerate(self.points)
            if index and point.stint != self.points[index - 1].stint
        ]

    @property
    def curve(self) -> list[SeriesPoint]:
        """The points that count: those that no rollback made obsolete."""
        return [point for point in self.points if not point.replayed]


def read_points(store: Store, run: str, stint: int) -> list[MetricPoint]:
    """Everything one stint recorded, in order. Lines that cannot be read are left out."""
    segments = read_segments(store, layout.metrics_prefix(run, stint))
    return prefer_tracked(_joined(point for data in segments for point in _parse(stint, data)))


def prefer_tracked(points: Sequence[MetricPoint], known: Precedence | None = None) -> list[MetricPoint]:
    """Points without the values that a better source gives as well: tracked ones before event files before the log.

    What a script prints is a rounded copy of what it tracks; both together would give every place two values. `known`
    is what was seen before these points; it learns from them.
    """
    known = Precedence() if known is None else known
    for point in points:
        known.add(point.source, point.values)
    found = []
    for point in points:
        values = {name: value for name, value in point.values.items() if known.is_needed(point.source, name)}
        if len(values) == len(point.values):
            found.append(point)
        elif values or point.texts:
            found.append(dataclasses.replace(point, values=values))
    return found


def read_series(store: Store, run: str) -> dict[str, Series]:
    """Every metric of a run by name, each as one series over all stints."""
    orders = read_orders(store, run)
    points = {stint: read_points(store, run, stint) for stint in orders}
    return build_series(points, trace_history(orders, read_manifests(store, run)))


def build_series(points: Mapping[int, Iterable[MetricPoint]], kept: Mapping[int, Kept]) -> dict[str, Series]:
    """Series of points by stint; what a later stint did again is marked replayed.

    Where the numbers of epochs and steps go on from one stint to the next, they tell exactly what was done again.
    Otherwise the time does: what was recorded after the checkpoint that was continued. (The time alone would err by
    the moment between a save and its snapshot, and with scripts that save first and print then.)
    """
    found: dict[str, list[SeriesPoint]] = {}
    parts: dict[tuple[str, int], list[MetricPoint]] = {}
    for stint in sorted(points):
        for point in sorted(points[stint], key=lambda point: point.at_s):
            for name in point.values:
                parts.setdefault((name, stint), []).append(point)
    for (name, stint), recorded in parts.items():
        part = kept.get(stint, Kept(math.inf, math.inf))
        again = _done_again_from(recorded, parts.get((name, part.successor or 0), []))
        for point in recorded:
            place = _place(point)
            is_replayed = point.at_s > part.until_s if again is None or place is None else place >= again
            found.setdefault(name, []).append(
                SeriesPoint(stint, point.at_s, point.epoch, point.step, point.values[name], is_replayed)
            )
    return {name: Series(name, found[name]) for name in sorted(found)}


def _done_again_from(recorded: Sequence[MetricPoint], successor: Sequence[MetricPoint]) -> tuple[float, float] | None:
    """The place at which the successor went on, if places can be compared: they grow, and do not begin anew."""
    places = [_place(point) for point in recorded]
    known = [place for place in places if place is not None]
    start = _place(successor[0]) if successor else None
    if start is None or len(known) < len(places) or known != sorted(known) or start <= known[0]:
        return None
    return start


def _place(point: MetricPoint) -> tuple[float, float] | None:
    if point.epoch is None and point.step is None:
        return None
    return (
        -math.inf if point.epoch is None else point.epoch,
        math.inf if point.step is None else point.step,  # the line at an epoch's end comes after its steps
    )


class SeriesTail:
    """Follows the metrics of a run over all its stints, without reading anything twice."""

    def __init__(self, store: Store, run: str) -> None:
        self._tail = SegmentTail(store, run, layout.metrics_key)
        self._known = Precedence()

    def poll(self) -> list[MetricPoint]:
        """What was recorded since the last call."""
        points = [point for stint, data in self._tail.poll() for point in _parse(stint, data)]
        return prefer_tracked(points, self._known)


def final_metrics(series: Mapping[str, Series]) -> dict[str, float]:
    """The last value of each metric that still counts."""
    return {name: one.curve[-1].value for name, one in series.items() if one.curve}


def best_metrics(series: Mapping[str, Series]) -> dict[str, tuple[float, float | None]]:
    """The best value of each metric that has one, and its epoch: the lowest loss, the highest accuracy."""
    best: dict[str, tuple[float, float | None]] = {}
    for name, one in series.items():
        sign = direction(name)
        points = [point for point in one.curve if not math.isnan(point.value)]
        if sign and points:
            top = max(points, key=lambda point: sign * point.value)
            best[name] = (top.value, top.epoch)
    return best


def parse_points(stint: int, data: bytes) -> list[MetricPoint]:
    """What one segment of metrics says, in order."""
    return list(_parse(stint, data))


def _parse(stint: int, data: bytes) -> Iterable[MetricPoint]:
    for item in items(data):
        if isinstance(item, Block):
            yield from _points_of(stint, item)
        elif (point := parse_line(stint, item)) is not None:
            yield point


def _joined(points: Iterable[MetricPoint]) -> list[MetricPoint]:
    """A call whose values the runner took in two goes is one point again."""
    found: list[MetricPoint] = []
    for point in points:
        last = found[-1] if found else None
        if (
            last is not None
            and last.source == point.source == "track"
            and (last.at_s, last.epoch, last.step) == (point.at_s, point.epoch, point.step)
            and last.values.keys().isdisjoint(point.values)
        ):
            found[-1] = dataclasses.replace(last, values={**last.values, **point.values})
        else:
            found.append(point)
    return found


def _points_of(stint: int, block: Block) -> Iterable[MetricPoint]:
    """What was tracked in one call has one time and one place, and is one point."""
    place: tuple[float, float | None, int | None] = (0.0, None, None)
    values: dict[str, float] = {}
    for at, epoch, step, name, value in block.batch().rows():
        if values and ((at, epoch, step) != place or name in values):
            yield MetricPoint(stint, place[0] + block.base_s, place[1], place[2], values, block.source)
            values = {}
        place = (at, epoch, step)
        values[name] = value
    if values:
        yield MetricPoint(stint, place[0] + block.base_s, place[1], place[2], values, block.source)


def parse_line(stint: int, line: bytes) -> MetricPoint | None:
    """One JSON line of a segment; None when it is none."""
    try:
        body: Any = json.loads(line)
        said = {str(name): value for name, value in body["values"].items() if not isinstance(value, bool)}
        numbers = {name: _number(value) for name, value in said.items()}
        return MetricPoint(
            stint,
            float(body["at_s"]),
            None if body.get("epoch") is None else float(body["epoch"]),
            None if body.get("step") is None else int(body["step"]),
            {name: number for name, number in numbers.items() if number is not None},
            str(body.get("from", "log")),
            {name: value for name, value in said.items() if numbers[name] is None and isinstance(value, str)},
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        return float(value) if value in ("nan", "inf", "-inf") else None
    return float(value) if isinstance(value, int | float) else None
