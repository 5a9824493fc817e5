"""The metrics of a run: by columns where numpy is installed, point by point otherwise."""

from __future__ import annotations

from collections.abc import Mapping

from outlast.keeper.home import Home
from outlast.operations.locate import Located
from outlast.settings import Settings
from outlast.track.columns import have_numpy, read_columns
from outlast.track.series import Series, read_series


def read_metrics(settings: Settings, found: Located, most_points: int | None = None) -> Mapping[str, Series]:
    """Every metric of a run by name; with `most_points` long series come thinner, their extremes and ends kept.

    Only what is looked at is made: a million points of twenty runs cost a tenth of a second.
    """
    if most_points is None or not have_numpy():
        return read_series(found.store, found.run)
    from outlast.track.drawing.thinning import ThinnedSeries

    return ThinnedSeries(read_columns(found.store, found.run, cache=Home(settings.home).points), most_points)
