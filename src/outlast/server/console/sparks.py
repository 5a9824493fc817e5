"""The small curve beside each run: its most telling metric, drawn as one path of a picture 100 wide and 24 high."""

from __future__ import annotations

import contextlib
import math
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from outlast.errors import OutlastError
from outlast.inside.errors import InsideError
from outlast.keeper.index import RunRow
from outlast.server.holding import Holding
from outlast.track.columns import downsample, have_numpy, read_columns
from outlast.track.drawing.telling import telling_metrics

_POINTS = 60
_WIDTH, _HEIGHT = 100.0, 22.0
_REMEMBERED = 2000


class Sparks:
    """Curves that were drawn already: a run that did not change is not read again."""

    def __init__(self) -> None:
        self._drawn: OrderedDict[tuple[str, str], str] = OrderedDict()

    def of(self, held: Holding, view: dict[str, Any]) -> str:
        """The path of one run's curve; empty when it measured nothing. Reads from its store."""
        key = (view["id"], view.get("updated_at", ""))
        if key not in self._drawn:
            self._drawn[key] = _draw(held, view)
            while len(self._drawn) > _REMEMBERED:
                self._drawn.popitem(last=False)
        return self._drawn[key]


def shown_metric(view: dict[str, Any]) -> str:
    """The metric that stands for a run; empty when it has none."""
    return next(iter(telling_metrics(view.get("metrics") or {}, 1)), "")


def spark_path(values: Sequence[float]) -> str:
    """A line through the values; what is no number leaves a gap."""
    finite = [value for value in values if math.isfinite(value)]
    if len(finite) < 2:
        return ""
    low, high = min(finite), max(finite)
    parts, pen = [], "M"
    for place, value in enumerate(values):
        if not math.isfinite(value):
            pen = "M"
            continue
        y = 1 + _HEIGHT * (0.5 if high == low else (high - value) / (high - low))
        parts.append(f"{pen}{place * _WIDTH / (len(values) - 1):.1f} {y:.1f}")
        pen = "L"
    return "".join(parts)


def _draw(held: Holding, view: dict[str, Any]) -> str:
    name = shown_metric(view)
    if not name or not have_numpy():
        return ""
    with contextlib.suppress(OutlastError, InsideError):  # a store that is away leaves the place empty
        row = RunRow(view["id"], view["name"], view["user"], view["state"], "", "", view["store"], open=False)
        found = held.located(row)
        column = read_columns(found.store, found.run, [name], cache=held.home.points).get(name)
        if column is not None:
            return spark_path(downsample(column.curve, _POINTS).value.tolist())
    return ""
