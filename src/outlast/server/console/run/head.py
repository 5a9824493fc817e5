"""The head of a run: what it is, how it goes, and what can be done with it."""

from __future__ import annotations

import re

from nicegui import ui

from outlast.model.states import RunState
from outlast.model.view import RunView
from outlast.server.accounts.people import Role
from outlast.server.console import formats
from outlast.server.console.calls import calls, part
from outlast.server.console.html import Html, joined, tag
from outlast.server.console.parts import button, confirmed, go
from outlast.server.console.run.watching import Watched
from outlast.server.console.shell import link
from outlast.server.console.words import say, say_sentence
from outlast.track.drawing.telling import telling_metrics

_METRICS = 3


def head(watched: Watched) -> None:
    """Name, state, actions, facts; all of it follows the run."""
    with ui.element("div").classes("o-run-head"):
        title = ui.html("", sanitize=False).classes("o-grow")
        actions = ui.element("div").classes("o-row")
    told = ui.html("", sanitize=False)

    def show(view: RunView) -> None:
        title.set_content(_title(view))
        told.set_content(joined(_message(view), _tiles(view)))
        actions.clear()
        with actions:
            _actions(watched)

    watched.show(show)


def _title(view: RunView) -> Html:
    state = tag("span", say(view.state.value), class_=f"o-state {view.state}")
    known = [view.id, view.user, view.platform, formats.ago(view.created_at)]
    about = tag("div", " · ".join(filter(None, known)), class_="o-quiet o-small", title=formats.when(view.created_at))
    return joined(tag("div", tag("h1", view.name, class_="o-h1"), state, class_="o-row o-run-name"), about)


def _message(view: RunView) -> Html:
    words = "\n".join(filter(None, (say_sentence(view.message), view.notice)))
    if not words or view.state is RunState.SUCCEEDED:
        return Html()
    kind = "o-refusal" if view.state is RunState.FAILED else "o-note" if _needs_notice(view) else "o-quiet"
    return tag("div", words, class_=f"{kind} o-run-message", role="status")


def _needs_notice(view: RunView) -> bool:
    """Whether more is to say than that the run goes as it should."""
    is_plain = re.fullmatch(r"starts|resumed|stint \d+ (is [a-z-]+|handed over at \S+)", view.message) is not None
    return bool(view.notice) or not is_plain


def _tiles(view: RunView) -> Html:
    far = formats.how_far(view.epoch, view.epochs, view.step, view.steps)
    done = 1.0 if view.state is RunState.SUCCEEDED else far.done
    progress = f"{say('Progress')} · {far.unit}" if far.unit else say("Progress")
    machine_s = sum(seconds for column, seconds in view.ledger.items() if column != "queued")
    tiles = [
        _tile(progress, far.number or "–", _bar(view, done) if done is not None else Html()),
        _tile(say("Useful"), formats.percent(view.useful_fraction) or "–"),
        _tile(say("Time left") if not view.state.is_final else say("Machine time"),
              formats.duration(view.eta_s if not view.state.is_final else machine_s) or "–"),
        _tile(say("Stints"), str(view.stints)),
    ]  # fmt: skip
    if view.rate is not None and not view.state.is_final:
        tiles.append(_tile(say("Speed"), _speed(view.rate, view.rate_of)))
    for name in telling_metrics(view.metrics, _METRICS):
        best = view.best.get(name)
        words = f"{say('best')} {formats.quantity(best)}" if best is not None else ""
        tiles.append(_tile(name, formats.quantity(view.metrics[name]), tag("span", words, class_="o-quiet o-small")))
    return tag("div", *tiles, class_="o-tiles")


def _speed(rate: float, rate_of: str) -> str:
    unit = say("epochs/s") if rate_of == "epochs" else say("steps/s")
    return f"{formats.quantity(rate)} {unit}"


def _tile(name: str, value: str, more: Html = Html()) -> Html:  # noqa: B008 - it cannot be changed
    return tag("div", tag("span", name, class_="o-quiet o-small"), tag("b", value), more, class_="o-tile")


def _bar(view: RunView, done: float) -> Html:
    inner = tag("i", style=f"width:{done * 100:.1f}%", class_=view.state.value)
    return tag("div", inner, class_="o-bar", role="progressbar", aria_label=say("Progress"), aria_valuemin=0,
               aria_valuemax=100, aria_valuenow=round(done * 100))  # fmt: skip


def _actions(watched: Watched) -> None:
    view = watched.view
    if watched.is_mine:
        if not view.state.is_final:
            button(say("Stop"), lambda: _stop(watched), "danger")
        elif view.state is not RunState.SUCCEEDED:
            button(say("Resume"), lambda: _resume(watched), "primary")
    if view.outputs:
        link(f"/api/v1/runs/{view.id}/outputs/archive", say("Download results"), "o-button")
    if watched.actor.role.reaches(Role.MEMBER):
        link(f"/new?from={view.id}", say("Clone"), "o-button")
    link(f"/compare?runs={view.id}", say("Compare"), "o-button")
    if watched.is_mine and view.state.is_final:
        button(say("Remove"), lambda: _remove(watched), "danger")


async def _stop(watched: Watched) -> None:
    if await confirmed(say("Stop this run?"), say("It saves first and can be resumed."), say("Stop")):
        await calls().post(f"/runs/{part(watched.view.id)}/stop")
        await watched.look_now()


async def _resume(watched: Watched) -> None:
    await calls().post(f"/runs/{part(watched.view.id)}/resume")
    await watched.look_now()


async def _remove(watched: Watched) -> None:
    about = say("Its record, log, curves and checkpoints go. This cannot be undone.")
    if await confirmed(say("Remove {name}?", name=watched.view.name), about, say("Remove")):
        await calls().delete(f"/runs/{part(watched.view.id)}")
        go("/")
