"""Stints as a timeline: one bar each, as long as its time, in the ledger's colours, with the reason of its end."""

from __future__ import annotations

from outlast.model.states import EndReason, StintState
from outlast.model.view import LEDGER_COLUMNS, RunView, StintView
from outlast.server.console import formats
from outlast.server.console.html import Html, joined, tag
from outlast.server.console.words import say

#: A chain of hundreds of stints shows its beginning and its end.
_FIRST, _LAST = 3, 47
_LEAST_S = 0.05  # less would be shown as 0.0 s
_TONES = {
    EndReason.FINISHED: "succeeded", EndReason.HAND_OVER: "running", EndReason.STOPPED: "stopped",
    EndReason.PREEMPTED: "queued", EndReason.LOST: "queued", EndReason.TIME_LIMIT: "queued",
    EndReason.SCRIPT_ERROR: "failed", EndReason.SETUP_ERROR: "failed", EndReason.REFUSED: "queued",
}  # fmt: skip
#: What the ledger's columns are called here; two of them have the name of a state that means something else.
_COLUMNS = {"queued": "queue", "lost": "lost time"}


def timeline(view: RunView) -> Html:
    """All stints, the newest at the end, and what each colour took in all."""
    stints = view.stint_list
    if not stints:
        return tag("p", say("No stint has started yet."), class_="o-quiet")
    longest_s = max(_LEAST_S, *(sum(stint.ledger.values()) for stint in stints))
    left_out = len(stints) - _FIRST - _LAST
    rows = [_row(view.id, stint, longest_s) for stint in stints]
    if left_out > 0:
        words = say("{count} stints not shown", count=left_out)
        rows[_FIRST:-_LAST] = [tag("li", words, class_="o-quiet o-small")]
    return joined(tag("ol", *rows, class_="o-timeline"), _legend(view))


def _row(run: str, stint: StintView, longest_s: float) -> Html:
    spent_s = sum(stint.ledger.values())
    parts = [
        tag("i", class_=f"l-{column}", style=f"flex:{seconds:.3f}", title=_told(column, seconds))
        for column in LEDGER_COLUMNS
        if (seconds := stint.ledger.get(column, 0.0)) >= _LEAST_S
    ]
    told = ", ".join(
        _told(column, stint.ledger[column]) for column in LEDGER_COLUMNS if stint.ledger.get(column, 0) > 1
    )
    bar = tag("span", *parts, class_="o-lane-bar", style=f"width:{max(1.0, 100 * spent_s / longest_s):.1f}%",
              role="img", aria_label=told or formats.duration(spent_s))  # fmt: skip
    name = tag("a", say("Stint {number}", number=stint.number), href=f"/runs/{run}/log?stint={stint.number}")
    facts = [formats.duration(spent_s), stint.platform, _far(stint), stint.detail]
    about = tag("span", " · ".join(filter(None, facts)), class_="o-quiet o-small")
    message = tag("div", stint.message, class_="o-small o-lane-message") if stint.message else Html()
    lane = tag("div", bar, class_="o-lane")
    return tag("li", tag("div", name, _end(stint), about, class_="o-row"), lane, message)


def _end(stint: StintView) -> Html:
    if stint.reason is not None:
        return tag("span", say(stint.reason.value), class_=f"o-state {_TONES[stint.reason]}")
    tone = "running" if stint.state in (StintState.RUNNING, StintState.HANDING_OVER) else "queued"
    left = f" · {say('{time} left', time=formats.duration(stint.time_left_s))}" if stint.time_left_s else ""
    return tag("span", say(stint.state.value) + left, class_=f"o-state {tone}")


def _far(stint: StintView) -> str:
    return str(formats.how_far(stint.epoch, None, stint.step, None))


def _told(column: str, seconds: float) -> str:
    return f"{say(_COLUMNS.get(column, column))} {formats.duration(seconds)}"


def _legend(view: RunView) -> Html:
    machine_s = sum(seconds for column, seconds in view.ledger.items() if column != "queued")
    keys = []
    for column in LEDGER_COLUMNS:
        seconds = view.ledger.get(column, 0.0)
        if seconds >= _LEAST_S:
            share = f" · {seconds / machine_s:.1%}" if machine_s and column != "queued" else ""
            keys.append(tag("li", tag("i", class_=f"l-{column}"), _told(column, seconds) + share))
    return tag("ul", *keys, class_="o-key")
