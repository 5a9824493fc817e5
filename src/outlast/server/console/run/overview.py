"""A run at a glance: where its time went, its main curves, how busy its machine is, what happened when."""

from __future__ import annotations

from typing import Any

from nicegui import ui
from starlette.requests import Request

from outlast.model.quantities import format_size
from outlast.model.view import RunView
from outlast.server.console import formats
from outlast.server.console.html import Html, tag
from outlast.server.console.parts import panel
from outlast.server.console.run.curves import Curves
from outlast.server.console.run.timeline import timeline
from outlast.server.console.run.watching import Watched
from outlast.server.console.words import say
from outlast.track.drawing.telling import telling_metrics

_CURVES = 2
_EVENTS = 30


async def overview(watched: Watched, request: Request) -> None:
    """Everything here follows the run."""
    names = telling_metrics(watched.view.metrics, _CURVES)
    if names:
        Curves(watched, names, plain=True)
    with panel(say("Stints")):
        stints = ui.html("", sanitize=False)
    with ui.element("div").classes("o-halves"):
        with panel(say("Machine")):
            machine = ui.html("", sanitize=False)
        with panel(say("Events")):
            events = ui.html("", sanitize=False)

    def show(view: RunView) -> None:
        stints.set_content(timeline(view))
        machine.set_content(_machine(view))
        events.set_content(_events(view))

    watched.show(show)


def _machine(view: RunView) -> Html:
    """How busy the machine was when it was last looked at."""
    device: dict[str, Any] = view.device
    meters: list[Html] = []
    if device.get("cpu_percent") is not None:
        words = f"{device['cpu_percent']:.0f} % · {say('processors')} {device.get('cpus') or 1}"
        meters.append(_meter(say("CPU"), device["cpu_percent"], words))
    if device.get("memory_bytes"):
        used, peak = device["memory_bytes"], device.get("memory_peak_bytes") or 0
        total = device.get("memory_limit_bytes") or max(used, peak)
        words = format_size(used) + (f" · {say('peak')} {format_size(peak)}" if peak else "")
        meters.append(_meter(say("Memory"), 100 * used / total, words))
    for card in device.get("accelerators") or ():
        busy = float(card.get("busy_percent") or 0.0)
        words = f"{busy:.0f} %"
        if card.get("memory_used_bytes"):
            words += f" · {format_size(card['memory_used_bytes'])}"
        name = f"{str(card.get('kind', 'gpu')).upper()} {card.get('index', 0)} {card.get('name', '')}"
        meters.append(_meter(name.strip(), busy, words))
    if not meters and view.state.is_final:
        past = tag("a", say("How busy they were"), href=f"/runs/{view.id}/curves")
        return tag("p", say("The machines are given back."), " ", past, class_="o-quiet")
    if not meters:
        return tag("p", say("Nothing is known of the machine."), class_="o-quiet")
    return tag("div", *meters, class_="o-meters")


def _meter(name: str, share: float, words: str) -> Html:
    share = min(100.0, max(0.0, share))
    bar = tag("div", tag("i", style=f"width:{share:.0f}%"), class_="o-bar", role="meter", aria_label=name,
              aria_valuenow=round(share), aria_valuemin=0, aria_valuemax=100)  # fmt: skip
    return tag("div", tag("div", tag("span", name), tag("span", words, class_="o-quiet"), class_="o-ends"), bar)


def _events(view: RunView) -> Html:
    """What happened, the newest first."""
    found = [(view.created_at, say("created by {user}", user=view.user))]
    for stint in view.stint_list:
        place = f" · {stint.platform}" + (f" · {say('from')} {stint.resumed_from}" if stint.resumed_from else "")
        found.append((stint.created_at, say("stint {number} planned", number=stint.number) + place))
        if stint.ended_at and stint.reason is not None:
            words = say("stint {number} ended: {reason}", number=stint.number, reason=say(stint.reason.value))
            found.append((stint.ended_at, words))
    found += [(each.created_at, say("checkpoint {id}", id=each.id)) for each in view.checkpoints]
    shown = sorted((each for each in found if each[0]), reverse=True)[:_EVENTS]
    rows = [
        tag("li", tag("time", formats.when(moment), datetime=moment), tag("span", words)) for moment, words in shown
    ]
    return tag("ol", *rows, class_="o-events")
