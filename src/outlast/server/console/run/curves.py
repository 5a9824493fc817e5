"""The curves of a run: zoom, smoothing, seams between stints, replayed parts, several metrics, full screen."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui
from nicegui.elements import echart as _echart  # noqa: F401 - registers the library that curves.js imports
from starlette.requests import Request

from outlast.model.view import RunView
from outlast.server.console.run.usage import usage_panel
from outlast.server.console.run.watching import Watched
from outlast.server.console.words import say
from outlast.track.drawing.colours import DARK, LIGHT
from outlast.track.drawing.telling import telling_metrics

_SHOWN = 4


async def curves_view(watched: Watched, request: Request) -> None:
    """What is shown and how lives in the address."""
    Curves(watched, telling_metrics(watched.view.metrics, _SHOWN))
    await usage_panel(watched)


class Curves(ui.element, component="../static/curves.js"):
    """Charts of one run. The browser reads the points through the REST API, as long as the run goes on every moment.

    With `plain` there are the named metrics and no choices.
    """

    def __init__(self, watched: Watched, names: Sequence[str], *, plain: bool = False) -> None:
        super().__init__()
        self._props["run"] = watched.view.id
        self._props["names"] = list(names)
        self._props["plain"] = plain
        self._props["palette"] = {"light": LIGHT.lines, "dark": DARK.lines}
        self._props["texts"] = {
            "metrics": say("Metrics"), "filter": say("Filter metrics"), "smooth": say("Smoothing"), "x": say("Axis"),
            "auto": say("automatic"), "step": say("step"), "epoch": say("epoch"), "time": say("seconds on machines"),
            "log": say("Logarithmic"), "together": say("In one chart"), "none": say("Nothing was measured yet."),
            "full": say("Full screen"), "points": say("points"), "replayed": say("done again later"),
            "zoom": say("Zoom"), "back": say("Zoom back"), "save": say("Save as picture"),
        }  # fmt: skip
        watched.show(self._follow)

    def _follow(self, view: RunView) -> None:
        new = {"live": not view.state.is_final, "all": sorted(view.metrics)}
        if any(self._props.get(name) != value for name, value in new.items()):
            self._props.update(new)
            self.update()
