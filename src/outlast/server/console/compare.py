"""Compare: curves of several runs over each other, what was different, and what came of it; all in the address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from nicegui import ui
from starlette.requests import Request

from outlast.errors import OutlastError
from outlast.server.console import formats
from outlast.server.console.access import actor_of
from outlast.server.console.calls import calls, part
from outlast.server.console.charts import overlay
from outlast.server.console.parts import button, choice, go, panel, style_sheet, text, told
from outlast.server.console.shell import frame, heading, link
from outlast.server.console.words import say, say_refusal, say_sentence

_SMOOTHING = (0.0, 0.6, 0.9, 0.97)
_AXES = ("", "step", "epoch", "time")
_MOST_RUNS = 20


@dataclass(frozen=True)
class _View:
    """What the address asks for."""

    runs: tuple[str, ...]
    x: str = ""
    smooth: float = 0.0
    log: bool = False
    metrics: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        said = {"runs": ",".join(self.runs), "x": self.x, "smooth": f"{self.smooth:g}" if self.smooth else "",
                "log": "1" if self.log else "", "metric": ",".join(self.metrics)}  # fmt: skip
        return "/compare?" + urlencode({name: value for name, value in said.items() if value})


async def compare_page(request: Request, runs: str = "", x: str = "", smooth: float = 0.0, log: bool = False) -> None:
    """`runs` are ids or names with commas between."""
    actor = await actor_of(request)
    refs = tuple(dict.fromkeys(filter(None, (word.strip() for word in runs.split(",")))))
    metrics = tuple(filter(None, request.query_params.get("metric", "").split(",")))
    view = _View(refs[:_MOST_RUNS], x if x in _AXES else "", smooth if 0 <= smooth < 1 else 0.0, log, metrics)
    with frame("Compare", "/compare", actor), ui.element("div").classes("o-stack"), told():
        style_sheet()
        await _chosen_runs(view)
        if not view.runs:
            await _sweeps()
            return
        found = await calls().get("/compare", run=list(view.runs))
        view = replace(view, runs=tuple(row["run"] for row in found["runs"]))
        await _curves(view, sorted({name for row in found["runs"] for name in row["final"]}))
        _table(found["runs"])
        await _verdicts(found["runs"])


async def _chosen_runs(view: _View) -> None:
    """The runs as tags that can be taken out, and a choice of more."""
    found = (await calls().get("/runs", limit=100))["runs"]
    options = {run["id"]: f"{run['name']} · {run['id']}" for run in found if run["id"] not in view.runs}
    with ui.element("div").classes("o-row"):
        for run in view.runs:
            with ui.element("span").classes("o-tag o-chip"):
                link(f"/runs/{part(run)}", run)
                rest = replace(view, runs=tuple(each for each in view.runs if each != run))
                label = say("Take {run} out", run=run)
                link(rest.address, "✕")._props["aria-label"] = label
        more = choice(say("Add runs"), options, [], multiple=True, with_input=True).classes("o-short")
        button(say("Compare"), lambda: go(replace(view, runs=(*view.runs, *(more.value or ()))).address), "primary")


async def _sweeps() -> None:
    found = (await calls().get("/sweeps"))["sweeps"]
    if not found:
        text(say("Choose two runs or more."), "o-empty", "p")
        return
    with panel(say("Sweeps")), ui.element("div").classes("o-stack"):
        for sweep in found:
            with ui.element("div").classes("o-row"):
                link(f"/sweeps/{part(sweep['name'])}", sweep["name"], "o-strong")
                for state, count in sorted(sweep["counts"].items()):
                    text(f"{count} {say(state)}", f"o-state {state}")


async def _curves(view: _View, names: Sequence[str]) -> None:
    with panel(say("Curves")):
        _controls(view, names)
        query = {"x": view.x or None, "smooth": view.smooth, "log": view.log, "metric": list(view.metrics)}
        try:
            figure = await calls().get("/chart", run=list(view.runs), **query)
        except OutlastError as error:
            text(say_refusal(error), "o-empty", "p")
            return
        with ui.element("div").classes("o-charts"):
            for each in figure["panels"]:
                chart = ui.echart(overlay(each, say(figure["x_title"]), log=view.log), renderer="svg").classes(
                    "o-chart"
                )
                chart.props("role=img")._props["aria-label"] = say("Curves of {metric}", metric=each["metric"])
        for note in figure["notes"]:
            text(note, "o-quiet o-small", "p")


def _controls(view: _View, names: Sequence[str]) -> None:
    axes = {each: say(each) if each else say("automatic") for each in _AXES}
    with ui.element("div").classes("o-fields"):
        axis = choice(say("Axis"), axes, view.x)
        axis.on_value_change(lambda: go(replace(view, x=axis.value).address))
        smoothing = dict.fromkeys(sorted({*_SMOOTHING, view.smooth}))
        smooth = choice(
            say("Smoothing"), {each: f"{each:g}" if each else say("none") for each in smoothing}, view.smooth
        )
        smooth.on_value_change(lambda: go(replace(view, smooth=smooth.value).address))
        scale = choice(say("Scale"), {False: say("linear"), True: say("logarithmic")}, view.log)
        scale.on_value_change(lambda: go(replace(view, log=scale.value).address))
        shown = choice(say("Metrics"), list(names), [each for each in view.metrics if each in names], multiple=True)
        shown.on("popup-hide", lambda: go(replace(view, metrics=tuple(shown.value or ())).address))


def _table(rows: list[dict[str, Any]]) -> None:
    """A column for each run; what is the same everywhere is quiet."""
    with panel(say("Differences")), ui.element("div").classes("o-scroll"), ui.element("table").classes("o-table"):
        text(say("Differences"), "o-hidden", "caption")
        with ui.element("thead"), ui.element("tr"):
            text("", "", "th")._props["aria-label"] = say("What")
            for row in rows:
                with ui.element("th").props("scope=col"):
                    link(f"/runs/{part(row['run'])}", row["label"])
        with ui.element("tbody"):
            _row(say("State"), [say(row["state"]) for row in rows])
            _row(say("Stints"), [str(row["stints"]) for row in rows])
            _row(say("Time on machines"), [formats.duration(row["duration_s"]) for row in rows])
            _row(say("Useful"), [formats.percent(row["useful_fraction"]) or "–" for row in rows])
            _row(say("Code"), [_code(row) for row in rows])
            _rows(say("Parameters"), rows, "params")
            _rows(say("Conditions"), rows, "conditions")
            _best(rows)


def _best(rows: list[dict[str, Any]]) -> None:
    names = sorted({name for row in rows for name in row["best"]})
    if names:
        _section(say("Best values"), len(rows))
    for name in names:
        with ui.element("tr"):
            text(name, "", "th").props("scope=row")
            for row in rows:
                best = row["best"].get(name)
                at = (
                    f" · {formats.how_far(best['epoch'], None, None, None)}"
                    if best and best["epoch"] is not None
                    else ""
                )
                words = f"{best['value']:.5g}{at}" if best and best["value"] is not None else "–"
                text(words, "o-best" if name in row["is_best_in"] else "", "td")


def _rows(title: str, rows: list[dict[str, Any]], key: str) -> None:
    names = sorted({name for row in rows for name in row[key]})
    if names:
        _section(title, len(rows))
    for name in names:
        shown = formats.condition_name(name) if key == "conditions" else name
        _row(shown, [str(row[key].get(name, "–")) for row in rows])


def _section(title: str, width: int) -> None:
    with ui.element("tr"):
        text(title, "o-strong", "th").props(f"scope=colgroup colspan={width + 1}")


def _row(name: str, values: list[str]) -> None:
    differs = len(set(values)) > 1
    with ui.element("tr"):
        text(name, "", "th").props("scope=row")
        for value in values:
            text(value, "o-differs o-wrap" if differs else "o-same o-wrap", "td")


def _code(row: dict[str, Any]) -> str:
    if row["code_differs"] is None:
        return str(row["code"])[:12]
    if not row["code_differs"]:
        return say("as the first")
    return ", ".join(row["code_differs"][:5]) + (" …" if len(row["code_differs"]) > 5 else "")


async def _verdicts(rows: list[dict[str, Any]]) -> None:
    """What the standard evaluation says of each run's curves."""
    with panel(say("Evaluation"), say("What the curves say of each training.")):
        for row in rows:
            heading(row["label"], 3)
            try:
                told = await calls().get(f"/runs/{part(row['run'])}/evaluation")
            except OutlastError as error:
                text(say_sentence(error.message), "o-quiet", "p")
                continue
            for finding in told["findings"]:
                with ui.element("div").classes("o-note" if finding["weight"] != "note" else ""):
                    text(say_sentence(finding["sentence"]), "", "p")
                    text(say_sentence(finding["advice"]), "o-quiet o-small", "p")
            if not told["findings"]:
                text(say("Nothing is striking."), "o-quiet", "p")
