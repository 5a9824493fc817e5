"""Series of a million points as a few hundred that look the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from outlast.track.columns import Column, downsample
from outlast.track.series import Series


class ThinnedSeries(Mapping[str, Series]):
    """Columns by name, each made into a thin series when it is asked for, and never twice."""

    def __init__(self, columns: Mapping[str, Column], most_points: int) -> None:
        self._columns = columns
        self._most = most_points
        self._made: dict[str, Series] = {}

    def __getitem__(self, name: str) -> Series:
        if name not in self._made:
            self._made[name] = thin_series(self._columns[name], self._most)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def thin_series(column: Column, most_points: int) -> Series:
    """About so many points of what counts and half as many of what was replayed: each part keeps its own extremes."""
    if len(column) <= most_points:
        return column.to_series()
    counts = downsample(column.curve, most_points, "minmax").to_series()
    obsolete = downsample(column.take(column.replayed), most_points // 2, "minmax").to_series()
    points = sorted([*counts.points, *obsolete.points], key=lambda point: (point.stint, point.at_s))
    return Series(column.name, points)
