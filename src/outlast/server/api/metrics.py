"""What a run measured, as columns that a chart can draw."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query
from starlette.responses import Response

from outlast.operations.faults import spoken
from outlast.operations.locate import Located
from outlast.server.auth import Current
from outlast.server.holding import Held, Holding
from outlast.track.columns import NO_STEP, Column, downsample, have_numpy, read_columns
from outlast.track.series import Series, read_series

router = APIRouter(tags=["metrics"])

_MOST_POINTS = 100_000


@router.get("/runs/{run}/metrics", summary="Read the metrics")
def get_metrics(
    actor: Current,
    held: Held,
    run: str,
    name: Annotated[list[str], Query(max_length=100)] = [],  # noqa: B006 - FastAPI copies it
    points: Annotated[int, Query(ge=3, le=_MOST_POINTS, description="at most so many of each metric")] = 1000,
    replayed: Annotated[bool, Query(description="also what a later stint did again")] = True,
) -> Response:
    """Every metric over all stints, or those that are named, thinned so that it looks the same.

    `seams` are the places where a new stint begins; a value that is no number is null.
    """
    found = held.seen(actor, run)
    with spoken(f"metrics of {found.run}"):
        series = _columns(held, found, name, points, replayed) if have_numpy() else _series(found, name, replayed)
    body = {"run": found.run, "series": series}
    return Response(orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")


def _columns(held: Holding, found: Located, names: list[str], points: int, replayed: bool) -> dict[str, Any]:
    columns = read_columns(found.store, found.run, names or None, cache=held.home.points)
    chosen = {name: column if replayed else column.curve for name, column in columns.items()}
    return {name: _column(downsample(column, points), len(column)) for name, column in chosen.items()}


def _column(column: Column, recorded: int) -> dict[str, Any]:
    steps = [None if step == NO_STEP else step for step in column.step.tolist()]
    return {
        "recorded": recorded, "stint": column.stint, "step": steps, "epoch": column.epoch, "at_s": column.at_s,
        "value": column.value, "replayed": column.replayed, "seams": [seam.index for seam in column.seams],
    }  # fmt: skip


def _series(found: Located, names: list[str], replayed: bool) -> dict[str, Any]:
    """The same without numpy: every point."""
    wanted = read_series(found.store, found.run)
    return {name: _points(one, replayed) for name, one in wanted.items() if not names or name in names}


def _points(series: Series, replayed: bool) -> dict[str, Any]:
    one = series if replayed else Series(series.name, series.curve)
    fields = ("stint", "step", "epoch", "at_s", "value", "replayed")
    columns = {field: [getattr(point, field) for point in one.points] for field in fields}
    return {"recorded": len(one.points), **columns, "seams": [seam.index for seam in one.seams]}
