"""How long an epoch takes: usually, at first and at the end."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from outlast.track.series import Series

#: Fewer epochs than this show no trend.
_SHORTEST = 9


@dataclass(frozen=True)
class EpochTime:
    """Seconds per epoch, start-up and hand-overs left out."""

    median_s: float
    spread: float  # from the tenth to the ninetieth percentile, as a part of the median
    epochs: int  # measured
    first_s: float  # of the first third
    last_s: float  # of the last third
    trend: float | None  # by which part the last third takes longer than the first; None for too few


def epoch_time(series: Iterable[Series]) -> EpochTime | None:
    """From the times at which each stint reached its epochs; None when nothing tells."""
    reached: dict[int, dict[float, float]] = {}
    for one in series:
        for point in one.points:
            if point.epoch is not None and math.isfinite(point.epoch):
                stint = reached.setdefault(point.stint, {})
                stint[point.epoch] = max(stint.get(point.epoch, 0.0), point.at_s)
    each = [seconds for stint in sorted(reached) for seconds in _per_epoch(reached[stint])]
    if not each:
        return None
    median_s = statistics.median(each)
    if median_s <= 0:
        return None
    third = max(1, len(each) // 3)
    first_s, last_s = statistics.median(each[:third]), statistics.median(each[-third:])
    trend = last_s / first_s - 1 if len(each) >= _SHORTEST and first_s > 0 else None
    return EpochTime(median_s, _spread(each) / median_s, len(each), first_s, last_s, trend)


def _per_epoch(reached: dict[float, float]) -> list[float]:
    """Seconds per whole epoch within one stint; scripts that report parts of epochs are summed up to whole ones."""
    ends: dict[int, tuple[float, float]] = {}
    for epoch in sorted(reached):
        ends[math.ceil(epoch)] = (epoch, reached[epoch])
    places = list(ends.values())
    return [
        (after_s - before_s) / (after - before)
        for (before, before_s), (after, after_s) in itertools.pairwise(places)
        if after_s >= before_s
    ]


def _spread(values: list[float]) -> float:
    if len(values) < 3:
        return max(values) - min(values)
    tenths = statistics.quantiles(values, n=10, method="inclusive")
    return tenths[-1] - tenths[0]
