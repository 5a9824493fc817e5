"""What every writer gets: runs with their metrics, parameters and the times at which their stints began."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from outlast.track.series import Series, SeriesPoint


@dataclass(frozen=True)
class ExportedRun:
    """One run to be written."""

    run: str
    name: str
    user: str
    state: str
    created_at_s: float  # since the epoch
    series: Mapping[str, Series]
    began_at_s: Mapping[int, float] = field(default_factory=dict)  # each stint, since the epoch
    params: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)

    def wall_s(self, point: SeriesPoint) -> float:
        """When a point was recorded, since the epoch."""
        return self.began_at_s.get(point.stint, self.created_at_s) + point.at_s


class Row(NamedTuple):
    """One value, as tables hold it. `seam`: the first value of a later stint."""

    run: str
    name: str
    metric: str
    stint: int
    step: int | None
    epoch: float | None
    at_s: float  # since the stint's runner started
    wall_s: float  # since the epoch
    value: float
    replayed: bool
    seam: bool


def rows_of(run: ExportedRun, *, replayed: bool) -> Iterator[Row]:
    """Every value of a run, metric by metric."""
    for metric, series in run.series.items():
        seams = {seam.index for seam in series.seams}
        for index, point in enumerate(series.points):
            if replayed or not point.replayed:
                yield Row(
                    run.run, run.name, metric, point.stint, point.step, point.epoch, point.at_s, run.wall_s(point),
                    point.value, point.replayed, index in seams,
                )  # fmt: skip


def counted_points(series: Series, *, replayed: bool) -> list[tuple[int, SeriesPoint]]:
    """Points with the whole number that a tracker calls the step: the step, else a whole epoch, else the position."""
    points = series.points if replayed else series.curve
    if all(point.step is not None for point in points):
        return [(point.step or 0, point) for point in points]
    epochs = [point.epoch for point in points]
    if all(epoch is not None and epoch == int(epoch) for epoch in epochs) and len(set(epochs)) == len(epochs):
        return [(int(point.epoch or 0), point) for point in points]
    return list(enumerate(points))


def safe_name(text: str) -> str:
    """A name that is one harmless part of a path on every system."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "run"
