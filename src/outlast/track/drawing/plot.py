"""From series to a figure: which x each point gets, smoothing, and as many points as a picture can show."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from outlast.inside.better import direction
from outlast.track.drawing.figure import Curve, Figure, Line, Mark, Panel
from outlast.track.drawing.scale import time_unit
from outlast.track.series import Series, SeriesPoint

XKind = Literal["step", "epoch", "time"]
X_KINDS: tuple[XKind, ...] = ("step", "epoch", "time")
#: A line never has more points than this: twice the dots of a wide screen.
MOST_POINTS = 2400


@dataclass(frozen=True)
class Subject:
    """One run to draw: its label, its metrics, and how long each stint had its machine."""

    label: str
    series: Mapping[str, Series]
    elapsed_s: Mapping[int, float] = field(default_factory=dict)


@dataclass
class Smoother:
    """A running mean in which each older value counts `weight` times as much; right from the first value on."""

    weight: float
    total: float = 0.0
    norm: float = 0.0

    def feed(self, value: float) -> float:
        """The mean including this value; one that is not finite goes through and changes nothing."""
        if not self.weight or not math.isfinite(value):
            return value
        self.total = self.weight * self.total + (1 - self.weight) * value
        self.norm = self.weight * self.norm + (1 - self.weight)
        return self.total / self.norm


def plot(
    subjects: Sequence[Subject], metrics: Sequence[str], *, x: XKind | None = None, smooth: float = 0.0,
    log: bool = False, most_points: int = MOST_POINTS,
) -> Figure:  # fmt: skip
    """The figure of some metrics of some runs. A run without a metric is left out of that panel."""
    kind = x or choose_x(subjects, metrics)
    offsets = [_offsets(subject, metrics) for subject in subjects]
    most_s = max((_span_s(subject, metrics, mine) for subject, mine in zip(subjects, offsets, strict=True)), default=0)
    unit, unit_s = time_unit(most_s)
    panels, notes = [], []
    for metric in metrics:
        curves = []
        for index, subject in enumerate(subjects):
            points = subject.series[metric].points if metric in subject.series else []
            places = _places(points, kind, offsets[index], unit_s)
            if points and places is None:
                notes.append(f"{metric} of {subject.label} has no {kind}s")
            elif points and places is not None:
                curve = _curve(index, subject.label, metric, points, places, smooth=smooth, log=log)
                curves.append(replace(curve, lines=tuple(thin(line, most_points) for line in curve.lines)))
        drawn = [curve for curve in curves if any(math.isfinite(y) for line in curve.lines for y in line.ys)]
        if drawn:
            panels.append(Panel(metric, tuple(drawn)))
        elif curves:
            notes.append(f"{metric} has no value that can be drawn" + (" on a log scale" if log else ""))
    title = f"time ({unit})" if kind == "time" else kind
    return Figure(tuple(panels), title, log, tuple(subject.label for subject in subjects), tuple(notes))


def choose_x(subjects: Sequence[Subject], metrics: Iterable[str]) -> XKind:
    """Steps when every curve has them and they grow; else epochs; else the time."""
    curves = [subject.series[name].curve for name in metrics for subject in subjects if name in subject.series]
    kinds: tuple[tuple[XKind, Callable[[SeriesPoint], float | None]], ...] = (
        ("step", lambda point: point.step),
        ("epoch", lambda point: point.epoch),
    )
    for kind, of in kinds:
        if curves and all(_grows([of(point) for point in curve]) for curve in curves):
            return kind
    return "time"


def _grows(places: Sequence[float | None]) -> bool:
    """A number that stands still (the last step of every epoch) is no place either."""
    known = [place for place in places if place is not None]
    stands = len(known) > 1 and known[0] == known[-1]
    return not stands and len(known) == len(places) and all(a <= b for a, b in itertools.pairwise(known))


def _places(
    points: Sequence[SeriesPoint], kind: XKind, offsets: Mapping[int, float], unit_s: float
) -> list[float] | None:
    """The x of each point; None when the points do not know it."""
    if kind == "time":
        return [(offsets.get(point.stint, 0.0) + point.at_s) / unit_s for point in points]
    if kind == "step":
        steps = [point.step for point in points]
        return [float(step) for step in steps if step is not None] if None not in steps else None
    return _epoch_places(points)


def _epoch_places(points: Sequence[SeriesPoint]) -> list[float] | None:
    """The epoch, and within it a fraction by the step or, without steps, one after the other."""
    if any(point.epoch is None for point in points):
        return None
    seen: dict[tuple[int, float], int] = {}
    within: dict[float, list[float]] = {}
    ranks = []
    for point in points:
        key = (point.stint, point.epoch or 0.0)
        seen[key] = seen.get(key, -1) + 1
        ranks.append(float(seen[key]) if point.step is None else float(point.step))
        within.setdefault(key[1], []).append(ranks[-1])
    first = {epoch: min(mine) for epoch, mine in within.items()}
    longest = max((mine for mine in within.values()), key=lambda mine: max(mine) - min(mine), default=[0.0])
    # One more than the largest distance, so that the last point of an epoch stays before the next epoch's first.
    span = (max(longest) - min(longest)) * (1 + 1 / max(len(set(longest)) - 1, 1)) or 1.0
    return [
        (point.epoch or 0.0) + (rank - first[point.epoch or 0.0]) / span
        for point, rank in zip(points, ranks, strict=True)
    ]  # fmt: skip


def _offsets(subject: Subject, metrics: Iterable[str]) -> dict[int, float]:
    """When each stint began, in seconds of machine time before it."""
    longest: dict[int, float] = dict(subject.elapsed_s)
    for point in _points(subject, metrics):
        longest[point.stint] = max(longest.get(point.stint, 0.0), point.at_s)
    offsets, total = {}, 0.0
    for stint in sorted(longest):
        offsets[stint] = total
        total += longest[stint]
    return offsets


def _span_s(subject: Subject, metrics: Iterable[str], offsets: Mapping[int, float]) -> float:
    return max((offsets[point.stint] + point.at_s for point in _points(subject, metrics)), default=0.0)


def _points(subject: Subject, metrics: Iterable[str]) -> Iterator[SeriesPoint]:
    for name in metrics:
        if name in subject.series:
            yield from subject.series[name].points


def _curve(
    index: int, label: str, metric: str, points: Sequence[SeriesPoint], places: Sequence[float], *, smooth: float,
    log: bool,
) -> Curve:  # fmt: skip
    smoother = Smoother(smooth)
    xs: list[float] = []
    ys: list[float] = []
    faint: list[tuple[list[float], list[float]]] = []
    seams: list[Mark] = []
    branch: tuple[int, Smoother] | None = None  # the stint of the replayed part that is being followed
    stint = left_out = 0
    for point, x in zip(points, places, strict=True):
        value = point.value if math.isfinite(point.value) and (not log or point.value > 0) else math.nan
        if point.replayed:
            if branch is None or branch[0] != point.stint:
                branch = (point.stint, Smoother(smooth, smoother.total, smoother.norm))
                starts_here = bool(xs) and stint == point.stint
                faint.append(([xs[-1]], [ys[-1]]) if starts_here else ([], []))
            faint[-1][0].append(x)
            faint[-1][1].append(branch[1].feed(value))
            continue
        branch = None
        left_out += math.isnan(value)
        y = smoother.feed(value)
        if stint and point.stint != stint and math.isfinite(y):
            seams.append(Mark(x, y, point.stint))
        stint = point.stint
        xs.append(x)
        ys.append(y)
    lines = [*(Line(*part, faint=True) for part in faint), Line(xs, ys)]
    counted = [point.value for point in points if not point.replayed and not math.isnan(point.value)]
    sign = direction(metric)
    best = max(counted, key=lambda value: sign * value) if sign and counted else None
    return Curve(index, label, tuple(lines), tuple(seams), counted[-1] if counted else None, best, left_out)


def thin(line: Line, most: int = MOST_POINTS) -> Line:
    """The line with at most so many points: of each stretch the lowest and the highest, in their order.

    Peaks stay, so a diverging loss cannot hide between two points; gaps stay gaps.
    """
    count = len(line.xs)
    if count <= most:
        return line
    kept: set[int] = {0, count - 1}
    stretches = most // 2 - 1
    for number in range(stretches):
        part = range(number * count // stretches, (number + 1) * count // stretches)
        finite = [at for at in part if math.isfinite(line.ys[at])]
        if len(finite) < len(part):
            kept.add(next(at for at in part if not math.isfinite(line.ys[at])))
        if finite:
            kept |= {min(finite, key=line.ys.__getitem__), max(finite, key=line.ys.__getitem__)}
    chosen = sorted(kept)
    return Line([line.xs[at] for at in chosen], [line.ys[at] for at in chosen], line.faint)
