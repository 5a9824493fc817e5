"""Charts as options of ECharts: curves of several runs over each other, and the members of a sweep. Pure.

They are drawn as SVG, so that the style sheet colours their texts in light and dark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast.track.drawing.colours import LIGHT

_GRID_COLOUR = "#8884"
#: More names than this on an axis cannot be read.
_MOST_NAMES = 40


def overlay(panel: Mapping[str, Any], x_title: str, *, log: bool) -> dict[str, Any]:
    """One metric of several runs; what was done again later is faint, a dot marks where a stint begins."""
    return {
        "color": list(LIGHT.lines),
        "animation": False,
        "grid": {"left": 8, "right": 16, "top": 34, "bottom": 56, "containLabel": True},
        "title": {"text": panel["metric"], "textStyle": {"fontSize": 13, "fontWeight": 600}, "left": 4, "top": 4},
        "tooltip": {"trigger": "axis", "confine": True, "order": "valueAsc"},
        "legend": {"type": "scroll", "bottom": 0, "itemHeight": 8, "data": [c["label"] for c in panel["curves"]]},
        "toolbox": {"right": 8, "feature": {"dataZoom": {"yAxisIndex": "none"}, "restore": {}}},
        "xAxis": {
            "type": "value", "name": x_title, "nameLocation": "middle", "nameGap": 24, "min": "dataMin",
            "max": "dataMax", "splitLine": {"show": False}, "axisLabel": _edges(panel),
        },
        "yAxis": {
            "type": "log" if log else "value", "scale": True, "splitLine": {"lineStyle": {"color": _GRID_COLOUR}},
        },
        "series": [line for curve in panel["curves"] for line in _lines(curve)],
    }  # fmt: skip


def _edges(panel: Mapping[str, Any]) -> dict[str, bool]:
    """Whether the ends of the axis get a label: 0.2609802999 says nothing and covers its neighbour."""
    places = [x for curve in panel["curves"] for line in curve["lines"] for x in line["xs"]] or [0]
    return {"showMinLabel": float(min(places)).is_integer(), "showMaxLabel": float(max(places)).is_integer()}


def _lines(curve: Mapping[str, Any]) -> list[dict[str, Any]]:
    colour = LIGHT.lines[curve["index"] % len(LIGHT.lines)]
    made = []
    for line in curve["lines"]:
        points = [[x, y] for x, y in zip(line["xs"], line["ys"], strict=True)]
        style = {"color": colour, "width": 1.2 if line["faint"] else 1.8, "opacity": 0.35 if line["faint"] else 1}
        made.append(
            {
                "type": "line", "name": curve["label"], "data": points, "showSymbol": len(points) == 1,
                "connectNulls": False, "lineStyle": style, "itemStyle": {"color": colour},
                "emphasis": {"focus": "series"},
            }
        )  # fmt: skip
    if made and curve["seams"]:
        dots = [{"coord": [seam["x"], seam["y"]]} for seam in curve["seams"]]
        made[0]["markPoint"] = {"symbol": "circle", "symbolSize": 5, "data": dots, "label": {"show": False}}
    return made


def parallel(
    parameters: Sequence[str], members: Sequence[Mapping[str, Any]], metric: str, sign: int
) -> dict[str, Any] | None:
    """A line for each member that has a value, through its parameters to its best; None when there are too few."""
    told = [member for member in members if member["best"] is not None]
    if len(told) < 2:
        return None
    axes = [_axis(at, name, [member["params"].get(name, "") for member in told]) for at, name in enumerate(parameters)]
    last = {"dim": len(axes), "name": metric, "type": "value", "scale": True, "inverse": sign < 0}
    rows = [
        [*(_place(axis, member["params"].get(axis["name"], "")) for axis in axes), member["best"]] for member in told
    ]
    best = [float(member["best"]) for member in told]
    colours = ["#8aa0b8", "#0072b2", "#d55e00"]
    return {
        "animation": False,
        "parallelAxis": [*axes, last],
        "parallel": {"left": 56, "right": 96, "top": 36, "bottom": 20, "parallelAxisDefault": {"nameGap": 12}},
        "visualMap": {
            "show": True, "min": min(best), "max": max(best), "dimension": len(axes), "right": 0, "top": "middle",
            "itemHeight": 90, "precision": 4, "inRange": {"color": colours if sign >= 0 else colours[::-1]},
        },
        "tooltip": {"trigger": "item", "confine": True},
        "series": [{"type": "parallel", "lineStyle": {"width": 2, "opacity": 0.75}, "data": rows, "smooth": False}],
    }  # fmt: skip


def _axis(dim: int, name: str, values: Sequence[str]) -> dict[str, Any]:
    numbers = [_number(value) for value in values]
    known = [number for number in numbers if number is not None]
    if len(known) == len(values) and len(set(known)) > 1:
        is_wide = min(known) > 0 and max(known) / min(known) >= 50
        return {"dim": dim, "name": name, "type": "log" if is_wide else "value", "scale": True}
    return {"dim": dim, "name": name, "type": "category", "data": list(dict.fromkeys(values))[:_MOST_NAMES]}


def _place(axis: Mapping[str, Any], value: str) -> float | str | None:
    return value if axis["type"] == "category" else _number(value)


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if abs(found) < float("inf") else None
