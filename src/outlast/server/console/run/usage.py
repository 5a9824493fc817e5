"""How busy the machines of a run were, as two charts: shares of processors and cards, and memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from outlast.errors import OutlastError
from outlast.server.console.calls import calls, part
from outlast.server.console.parts import panel
from outlast.server.console.run.watching import Watched
from outlast.server.console.words import say
from outlast.track.drawing.colours import LIGHT

#: The runner writes once a minute.
_LOOK_S = 30.0
_GIB = 1 << 30
#: Seams between stints; more than so many stand so close that they would hide the curve, and become faint.
_MANY_SEAMS = 24
_SEAM = {"color": "#8888", "type": "dashed"}
_FAINT_SEAM = {"color": "#8882", "type": "solid", "width": 0.5}


async def usage_panel(watched: Watched) -> None:
    """Charts below the curves; nothing at all for a run that has told nothing yet."""
    address = f"/runs/{part(watched.view.id)}/usage"

    @ui.refreshable
    async def charts() -> None:
        try:
            stints = (await calls().get(address))["stints"]
        except OutlastError:
            return  # the curves above say what is wrong
        figures = [(say("Busy, %"), busy_lines(stints), 100.0), (say("Memory, GiB"), memory_lines(stints), None)]
        shown = [each for each in figures if each[1]]
        if not shown:
            return
        with panel(say("Device use")), ui.element("div").classes("o-halves"):
            for title, lines, most in shown:
                drawn = options(title, lines, seams(stints), say("seconds on machines"), most)
                chart = ui.echart(drawn, renderer="svg").classes("o-chart").props("role=img")
                chart._props["aria-label"] = f"{say('Device use')}: {title}"

    await charts()
    if not watched.view.state.is_final:
        timer = ui.timer(_LOOK_S, charts.refresh)
        watched.show(lambda view: timer.deactivate() if view.state.is_final else timer.activate())


Line = tuple[str, list[tuple[float, float | None]]]


def busy_lines(stints: Sequence[Mapping[str, Any]]) -> list[Line]:
    """CPU first, then each card, in percent over the time on machines."""
    return _lines(stints, "_percent", 1.0)


def memory_lines(stints: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Memory of the machine first, then of each card, in GiB."""
    return _lines(stints, "memory_bytes", 1.0 / _GIB)


def seams(stints: Sequence[Mapping[str, Any]]) -> list[float]:
    """Where a new stint begins."""
    return [begin for begin, _ in _placed(stints)][1:]


def options(
    title: str, lines: Sequence[Line], seams: Sequence[float], x_title: str, most: float | None
) -> dict[str, Any]:
    """A chart as ECharts takes it; a thin line marks each new stint."""
    marks = {"symbol": "none", "silent": True, "label": {"show": False}, "data": [{"xAxis": at} for at in seams],
             "lineStyle": _FAINT_SEAM if len(seams) > _MANY_SEAMS else _SEAM}  # fmt: skip
    series = [
        {"type": "line", "name": name, "data": points, "showSymbol": len(points) == 1, "connectNulls": False,
         "lineStyle": {"width": 1.6}, **({"markLine": marks} if not at else {})}
        for at, (name, points) in enumerate(lines)
    ]  # fmt: skip
    return {
        "color": list(LIGHT.lines),
        "animation": False,
        "grid": {"left": 8, "right": 16, "top": 34, "bottom": 56, "containLabel": True},
        "title": {"text": title, "textStyle": {"fontSize": 13, "fontWeight": 600}, "left": 4, "top": 4},
        "tooltip": {"trigger": "axis", "confine": True},
        "legend": {"type": "scroll", "bottom": 0, "itemHeight": 8},
        "xAxis": {
            "type": "value", "name": x_title, "nameLocation": "middle", "nameGap": 24, "min": 0, "max": "dataMax",
            "splitLine": {"show": False},
        },
        "yAxis": {"type": "value", "min": 0, **({"max": most} if most is not None else {})},
        "series": series,
    }  # fmt: skip


def _placed(stints: Sequence[Mapping[str, Any]]) -> list[tuple[float, Mapping[str, Any]]]:
    """Each stint with the second at which it begins when they are laid end to end."""
    found, begin = [], 0.0
    for stint in stints:
        found.append((begin, stint))
        begin += (max(stint["at_s"]) if stint["at_s"] else 0.0) + stint["span_s"]
    return found


def _lines(stints: Sequence[Mapping[str, Any]], ending: str, scale: float) -> list[Line]:
    names = sorted({name for stint in stints for name in stint["columns"] if name.endswith(ending)})
    names.sort(key=lambda name: name not in ("cpu_percent", "memory_bytes"))
    found = []
    for name in names:
        points: list[tuple[float, float | None]] = []
        for begin, stint in _placed(stints):
            values = stint["columns"].get(name) or [None] * len(stint["at_s"])
            points += [
                (round(begin + at, 1), None if value is None else round(value * scale, 3))
                for at, value in zip(stint["at_s"], values, strict=True)
            ]
        label = name.removesuffix("_percent").removesuffix("_memory_bytes").replace("memory_bytes", "RAM")
        found.append((label.upper(), points))
    return found
