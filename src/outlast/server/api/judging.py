"""Runs drawn, compared, judged and reported: what `outlast chart`, `compare`, `evaluate` and `report` say."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from outlast.operations.chart import chart_runs
from outlast.operations.comparing import Comparison, compare_runs
from outlast.operations.evaluate import evaluate_run
from outlast.operations.report import collect_report
from outlast.server.answers import answer
from outlast.server.auth import Actor, Current
from outlast.server.holding import Held, Holding
from outlast.server.ranges import sends
from outlast.track.drawing.svg import draw_svg
from outlast.track.report.page import build_page

router = APIRouter(tags=["judging"])

#: More runs than this in one picture or table are unreadable.
_MOST_RUNS = 100
Runs = Annotated[list[str], Query(min_length=1, max_length=_MOST_RUNS, alias="run", description="ids or names")]
Metrics = Annotated[list[str], Query(max_length=100, alias="metric", description="names, or globs like val*")]
Text = Annotated[str | None, Query(max_length=200)]
_PICTURE = sends("image/svg+xml", by_range=False)
_PAGE = sends("text/html", by_range=False)


@router.get("/compare", summary="Compare runs")
def compare(actor: Current, held: Held, runs: Runs, sort: Text = None) -> Response:
    """Parameters, conditions, last and best values, time and code of some runs; by a metric when `sort` names one."""
    found = compare_runs(held.settings, _ids(held, actor, runs), sort=sort)
    return answer({"runs": [_compared(found, row.run) for row in found.rows], "differing": found.differing("params")})


@router.get("/chart", summary="Chart runs")
def chart(
    actor: Current, held: Held, runs: Runs,
    metrics: Metrics = [],  # noqa: B006 - FastAPI copies it
    x: Annotated[Literal["step", "epoch", "time"] | None, Query()] = None,
    smooth: Annotated[float, Query(ge=0, lt=1)] = 0.0,
    log: bool = False,
) -> Response:  # fmt: skip
    """The curves of some runs, thinned so that they look the same: a panel for each metric, a curve for each run."""
    figure = chart_runs(held.settings, _ids(held, actor, runs), metrics=metrics, x=x, smooth=smooth, log=log)
    return answer(_plain(figure))


@router.get("/chart.svg", summary="Draw runs", **_PICTURE)
def draw(
    actor: Current, held: Held, runs: Runs,
    metrics: Metrics = [],  # noqa: B006 - FastAPI copies it
    x: Annotated[Literal["step", "epoch", "time"] | None, Query()] = None,
    smooth: Annotated[float, Query(ge=0, lt=1)] = 0.0,
    log: bool = False,
    theme: Literal["auto", "light", "dark"] = "auto",
) -> Response:  # fmt: skip
    """The same as a picture."""
    figure = chart_runs(held.settings, _ids(held, actor, runs), metrics=metrics, x=x, smooth=smooth, log=log)
    return Response(draw_svg(figure, theme=theme), media_type="image/svg+xml")


@router.get("/runs/{run}/evaluation", summary="Evaluate a run")
def evaluate(
    actor: Current, held: Held, run: str,
    metrics: Metrics = [],  # noqa: B006 - FastAPI copies it
) -> Response:  # fmt: skip
    """The standard evaluation: best and last values, how fast they came, and what went wrong, in sentences.

    `evaluations` are the runs that judged this one's results with a script, of those that you may see.
    """
    done = evaluate_run(held.settings, held.runs.find(actor, run).id, metrics)
    seen = tuple(view for view in done.evaluations if actor.may_see(view.user))
    return answer(_plain(dataclasses.replace(done, evaluations=seen).to_json()))


@router.get("/runs/{run}/report", summary="Report on a run", **_PAGE)
def report(actor: Current, held: Held, run: str, lang: Literal["en", "zh"] = "en") -> Response:
    """Everything about a run as one page that can be mailed: nothing on it comes from another place."""
    page = build_page(collect_report(held.settings, held.runs.find(actor, run).id), lang)
    return Response(page.encode("utf-8", "replace"), media_type="text/html; charset=utf-8")


def _ids(held: Holding, actor: Actor, refs: list[str]) -> list[str]:
    return [held.runs.find(actor, ref).id for ref in refs]


def _compared(found: Comparison, run: str) -> dict[str, Any]:
    row = next(each for each in found.rows if each.run == run)
    best = {name: {"value": value, "epoch": epoch} for name, (value, epoch) in row.best.items()}
    winner_of = [name for name in row.best if run in found.winners(name)]
    body: dict[str, Any] = _plain({**dataclasses.asdict(row), "best": best, "is_best_in": winner_of})
    return body


def _plain(value: Any) -> Any:
    """Ready for JSON: named tuples by their fields, numbers of numpy as numbers."""
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "_asdict"):
        return {name: _plain(each) for name, each in value._asdict().items()}
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value
