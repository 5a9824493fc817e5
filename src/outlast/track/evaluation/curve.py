"""A metric as an evaluator looks at it: one level per epoch, how noisy it is, and how it goes beneath the noise."""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from outlast.track.series import Series, SeriesPoint

#: A curve is judged by at most so many levels: enough for any shape, and fast without numpy.
MOST_LEVELS = 300
#: Fewer different epochs than this say too little; then the single points are the levels.
_FEW_EPOCHS = 4
_WIDEST_WINDOW = 10
_MANY_BENDS = 16
#: A loss beyond this is as good as infinite.
LARGEST = 1e100


@dataclass(frozen=True)
class Spot:
    """One place of a curve."""

    value: float
    epoch: float | None
    step: int | None
    time_s: float  # of machine time up to here, over all stints, without what was done again
    stint: int

    @property
    def is_sane(self) -> bool:
        """Finite, and small enough to calculate with."""
        return abs(self.value) < LARGEST

    @property
    def where(self) -> str:
        """`epoch 12`, `step 300`, or the time when the script says neither."""
        if self.epoch is not None:
            return f"epoch {self.epoch:g}"
        return f"step {self.step}" if self.step is not None else f"{self.time_s:.0f} s"


class Curve:
    """The points of one metric that count. `sign`: +1 when more is better, -1 when less is."""

    def __init__(self, name: str, sign: int, spots: Sequence[Spot]) -> None:
        self.name = name
        self.sign = sign
        self.spots = list(spots)

    @functools.cached_property
    def finite(self) -> list[Spot]:
        return [spot for spot in self.spots if spot.is_sane]

    @functools.cached_property
    def best(self) -> Spot:
        """The best single value; the first of equal ones."""
        return max(self.finite, key=lambda spot: self.sign * spot.value)

    @functools.cached_property
    def levels(self) -> list[Spot]:
        """One spot per epoch: the mean of its values, at its last place. Long curves are condensed further."""
        groups = [list(group) for _, group in itertools.groupby(self.finite, key=lambda spot: spot.epoch)]
        if len({spot.epoch for spot in self.finite}) < _FEW_EPOCHS:
            groups = [[spot] for spot in self.finite]
        size = math.ceil(len(groups) / MOST_LEVELS)
        merged = [list(itertools.chain(*groups[at : at + size])) for at in range(0, len(groups), max(1, size))]
        return [_level(group) for group in merged]

    @functools.cached_property
    def noise(self) -> float:
        """The usual distance of a level from its trend: robust against the trend itself and against single spikes."""
        values = [spot.value for spot in self.levels]
        bends = [abs(values[at] - (values[at - 1] + values[at + 1]) / 2) for at in range(1, len(values) - 1)]
        if not bends:
            return 0.0
        # The median of a few bends is as likely half as double the truth; their mean errs to the safe side.
        usual = statistics.median(bends) if len(bends) >= _MANY_BENDS else statistics.fmean(bends)
        return 1.4826 * usual / math.sqrt(1.5)

    @functools.cached_property
    def smooth(self) -> list[float]:
        """The levels without most of their noise: a centred mean whose window shrinks towards both ends."""
        values = [spot.value for spot in self.levels]
        half = min(_WIDEST_WINDOW, max(1, len(values) // 20))
        return [statistics.fmean(_window(values, at, half)) for at in range(len(values))]

    @functools.cached_property
    def top(self) -> int:
        """The index of the best smooth level; the first of equal ones."""
        return max(range(len(self.smooth)), key=lambda at: self.sign * self.smooth[at])

    @property
    def gain(self) -> float:
        """By how much the smooth curve improved from its beginning to its best; never negative."""
        return self.sign * (self.smooth[self.top] - self.smooth[0])

    @functools.cached_property
    def trend(self) -> float:
        """By how much the last third of the levels is better than the first; may be negative."""
        values = [spot.value for spot in self.levels]
        third = max(1, len(values) // 3)
        return self.sign * (statistics.fmean(values[-third:]) - statistics.fmean(values[:third]))

    def first_at(self, part: float) -> Spot:
        """Where this part of the whole improvement was reached."""
        wanted = part * self.gain
        reached = (at for at, value in enumerate(self.smooth) if self.sign * (value - self.smooth[0]) >= wanted)
        return self.levels[next(reached, self.top)]

    def tail(self) -> list[float]:
        """The smooth end of the curve: a tenth of it, two levels at least."""
        return self.smooth[-max(2, len(self.smooth) // 10) :]

    def smooth_at(self, time_s: float) -> float:
        """The smooth level at a time."""
        before = [value for spot, value in zip(self.levels, self.smooth, strict=True) if spot.time_s <= time_s]
        return before[-1] if before else self.smooth[0]


def _level(group: Sequence[Spot]) -> Spot:
    last = group[-1]
    return Spot(statistics.fmean(spot.value for spot in group), last.epoch, last.step, last.time_s, last.stint)


def _window(values: Sequence[float], at: int, half: int) -> Sequence[float]:
    reach = min(half, at, len(values) - 1 - at)
    return values[at - reach : at + reach + 1]


def make_curves(series: Mapping[str, Series], signs: Mapping[str, int]) -> dict[str, Curve]:
    """A curve for each metric of `signs` that has a value, finite or not."""
    kept = {name: one.curve for name, one in series.items()}
    starts = _stint_starts(itertools.chain(*kept.values()))
    return {
        name: Curve(name, sign, [_spot(point, starts) for point in kept[name]])
        for name, sign in signs.items()
        if kept.get(name)
    }


def _spot(point: SeriesPoint, starts: Mapping[int, float]) -> Spot:
    return Spot(point.value, point.epoch, point.step, starts[point.stint] + point.at_s, point.stint)


def _stint_starts(points: Iterable[SeriesPoint]) -> dict[int, float]:
    """When each stint began, if the stints before it had ended with the last point of theirs that counts."""
    lasts: dict[int, float] = {}
    for point in points:
        lasts[point.stint] = max(lasts.get(point.stint, 0.0), point.at_s)
    starts, total_s = {}, 0.0
    for stint in sorted(lasts):
        starts[stint] = total_s
        total_s += lasts[stint]
    return starts
