"""Between the metrics of a run and the small charts of the terminal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from outlast.errors import OutlastError

if TYPE_CHECKING:
    from outlast.track.series import MetricPoint, Series


def curve_lines(points: Sequence[MetricPoint], name: str, width: int, rows: int) -> list[str]:
    """One metric over all stints as `rows` lines, seams marked; one line of blocks when there is only room for that."""
    from outlast.track.spark import curve, sparkline

    kept = without_replayed(_of_one_source([point for point in points if name in point.values]))
    if len(kept) < 2:
        return []
    values = [point.values[name] for point in kept]
    if rows < 3:
        return [sparkline(values, min(width, 60))]
    places = _places(kept)
    seams = [at for at, point, before in zip(places[1:], kept[1:], kept, strict=False) if point.stint != before.stint]
    return curve(list(zip(places, values, strict=True)), width, rows, seams=seams)


def _of_one_source(points: list[MetricPoint]) -> list[MetricPoint]:
    """A script that tracks a metric usually prints it as well, rounded; what it tracked is the better record."""
    return [point for point in points if point.source == "track"] or points


def without_replayed(points: Sequence[MetricPoint]) -> list[MetricPoint]:
    """One line of history: where a stint goes back to before what was shown, the older part gives way."""
    kept: list[MetricPoint] = []
    for point in points:
        if kept and point.stint != kept[-1].stint and _order(point) is not None:
            while kept and (_order(kept[-1]) or (-math.inf, -math.inf)) >= (_order(point) or (math.inf, math.inf)):
                kept.pop()
        kept.append(point)
    return kept


def _order(point: MetricPoint) -> tuple[float, float] | None:
    if point.epoch is None and point.step is None:
        return None
    return (
        -math.inf if point.epoch is None else point.epoch,
        math.inf if point.step is None else float(point.step),
    )


def _places(points: Sequence[MetricPoint]) -> list[float]:
    """Where each point stands: its epoch, several of one epoch side by side; without epochs, one after the other."""
    epochs = [point.epoch for point in points if point.epoch is not None]
    if len(epochs) != len(points):
        return [float(index) for index in range(len(points))]
    most = max(Counter(epochs).values())
    seen: Counter[float] = Counter()
    places = []
    for epoch in epochs:
        places.append(epoch + seen[epoch] / most)
        seen[epoch] += 1
    return places


def best_of(read_series: Callable[[str], Mapping[str, Series]], run: str) -> dict[str, tuple[float, float | None]]:
    """The best value of each metric and its epoch; none when the metrics cannot be read, which costs no command."""
    from outlast.track.series import best_metrics

    try:
        return best_metrics(read_series(run))
    except OutlastError:
        return {}
