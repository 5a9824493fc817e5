"""A run's points as columns: what charts, comparisons and evaluations read when there are many.

`read_columns` says the same as `series.read_series`, in numpy arrays that are mapped from a cache in the home folder
(`docs/design/points.md`). Needs numpy: `pip install 'outlast[charts]'`.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from outlast.errors import UsageError
from outlast.inside.points import NO_STEP
from outlast.store.base import Store
from outlast.track.series import Seam, Series, SeriesPoint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Where a value came from, by the number in `Column.source`; a later one is preferred to an earlier one of its metric.
SOURCES = ("log", "events", "track")

__all__ = ["NO_STEP", "SOURCES", "Column", "downsample", "have_numpy", "read_columns"]


@dataclass(frozen=True)
class Column:
    """One metric over all stints of a run, in the order it was recorded.

    All arrays are equally long and none can be written. `step` has NO_STEP and `epoch` has nan where none was said.
    """

    name: str
    stint: NDArray[np.int32]
    step: NDArray[np.int64]
    epoch: NDArray[np.float64]
    at_s: NDArray[np.float64]  # since the stint's runner started
    value: NDArray[np.float64]
    replayed: NDArray[np.bool_]  # a later stint went back to before it and did this part again
    source: NDArray[np.uint8]  # index into SOURCES

    def __len__(self) -> int:
        return len(self.value)

    @property
    def seams(self) -> list[Seam]:
        """Where it goes from one stint to the next."""
        import numpy as np

        first = np.flatnonzero(self.stint[1:] != self.stint[:-1]) + 1
        return [Seam(int(index), int(self.stint[index])) for index in first]

    @property
    def curve(self) -> Column:
        """The points that count: those that no rollback made obsolete."""
        return self.take(~self.replayed) if self.replayed.any() else self

    def take(self, chosen: Any) -> Column:
        """The points at these places (an array of indexes), where this mask is true, or of this slice."""
        return Column(
            self.name, self.stint[chosen], self.step[chosen], self.epoch[chosen], self.at_s[chosen],
            self.value[chosen], self.replayed[chosen], self.source[chosen],
        )  # fmt: skip

    def to_series(self) -> Series:
        """The same as `read_series` gives it."""
        columns = (self.stint, self.at_s, self.epoch, self.step, self.value, self.replayed)
        points = [
            SeriesPoint(
                stint, at_s, None if math.isnan(epoch) else epoch, None if step == NO_STEP else step, value, replayed
            )
            for stint, at_s, epoch, step, value, replayed in zip(*(each.tolist() for each in columns), strict=True)
        ]
        return Series(self.name, points)


def have_numpy() -> bool:
    """Whether columns can be read here."""
    return importlib.util.find_spec("numpy") is not None


def read_columns(
    store: Store, run: str, names: Iterable[str] | None = None, *, cache: Path | None = None
) -> dict[str, Column]:
    """Every metric of a run by name, or those of `names` that it has, sorted by name.

    `cache` is the folder of all runs' caches (`Home.points`); without one everything is read anew. A cache that is
    missing, damaged or of another format is rebuilt; one that is behind is brought up to date from the new segments
    alone. Safe with any number of processes. `UsageError` when numpy is not installed.
    """
    if not have_numpy():
        raise UsageError(
            "reading points as columns needs numpy, which is not installed", hint="pip install 'outlast[charts]'"
        )
    from outlast.track.pointcache import PointCache, read_uncached

    table = read_uncached(store, run) if cache is None else PointCache(cache / run).read(store, run)
    wanted = table.names() if names is None else sorted(set(names) & set(table.names()))
    return {name: table.column(name) for name in wanted}


def downsample(column: Column, points: int, method: Literal["lttb", "minmax"] = "lttb") -> Column:
    """A column of about `points` points at most that looks the same; the first and the last stay.

    `lttb` keeps the shape, `minmax` every extreme. Nan and infinities have no height, so one stands for each gap, as
    long as there is room. Without tsdownsample both are min-max, by numpy.
    """
    import numpy as np

    if points < 3:
        raise ValueError(f"downsample to at least 3 points, not {points}")
    if len(column) <= points:
        return column
    finite = np.flatnonzero(np.isfinite(column.value))
    broken = np.flatnonzero(~np.isfinite(column.value))
    gaps = broken[np.flatnonzero(np.diff(broken, prepend=-2) > 1)][: points // 4]
    room = points - len(gaps)
    chosen = finite if len(finite) <= room else finite[_choose(column.value[finite], room, method)]
    return column.take(np.union1d(chosen, gaps))


def _choose(values: NDArray[np.float64], points: int, method: str) -> NDArray[np.intp]:
    import numpy as np

    even = points - points % 2
    try:
        import tsdownsample as library
    except ImportError:
        return _extremes(values, even)
    tsdownsample: Any = library  # it has no types
    if method == "lttb":
        return np.asarray(tsdownsample.LTTBDownsampler().downsample(values, n_out=points), dtype=np.intp)
    found = tsdownsample.MinMaxDownsampler().downsample(values, n_out=even)
    return _with_ends(np.asarray(found, dtype=np.intp), len(values))


def _extremes(values: NDArray[np.float64], points: int) -> NDArray[np.intp]:
    """The lowest and the highest value of each of `points / 2` equal parts; the last part may be longer."""
    import numpy as np

    parts = points // 2
    width = len(values) // parts
    starts = np.arange(parts) * width
    square = values[: parts * width].reshape(parts, width)
    found = [starts + square.argmin(axis=1), starts + square.argmax(axis=1)]
    rest = values[parts * width :]
    if len(rest):
        found.append(parts * width + np.array([rest.argmin(), rest.argmax()]))
    return _with_ends(np.concatenate(found), len(values))


def _with_ends(found: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    import numpy as np

    return np.union1d(found, np.array([0, count - 1], dtype=np.intp))
