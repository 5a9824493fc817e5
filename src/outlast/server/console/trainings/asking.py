"""Asking for the evaluation of a training that is completed."""

from __future__ import annotations

from nicegui import ui

from outlast.hub.repository import Repository
from outlast.server.console.aside import aside
from outlast.server.console.parts import button, field, go, panel, send_button
from outlast.server.console.shell import link
from outlast.server.console.trainings.desks import address, desk_now
from outlast.server.console.words import say
from outlast.server.hub.trainings.evaluations import ask
from outlast.server.hub.trainings.progress import Seen


def evaluation_panel(project: Repository, seen: Seen) -> None:
    """The three lists that name the trainings of a grid; or, with Aim, what the script itself wrote."""
    page = address(project, seen.training.id, "evaluation")
    known = seen.training.evaluation

    async def send(body: dict[str, object]) -> None:
        desk = await desk_now()
        await aside(lambda: ask(desk, project.id, seen.training.id, body))
        go(page)

    about = say("Values that the script tried one after the other, with commas between; one value each names one run.")
    with panel(say("Evaluation"), about):
        with ui.element("div").classes("o-fields"):
            fields = {
                "batch_size_scope": field(say("Batch sizes"), ", ".join(known.get("batch_size_scope", ()))),
                "learning_rate_scope": field(say("Learning rates"), ", ".join(known.get("learning_rate_scope", ()))),
                "momentum_scope": field(say("Momentums"), ", ".join(known.get("momentum_scope", ()))),
            }
        with ui.element("div").classes("o-row"):
            send_button(
                say("Evaluate"),
                lambda: send({"type": "standard", **{name: _listed(each) for name, each in fields.items()}}),
            )
            if seen.training.body["enable_aim"]:
                button(say("Evaluate with Aim"), lambda: send({"type": "custom"}))
            if known:
                link(page, say("See the report"), "o-button")


def _listed(given: ui.input) -> list[str]:
    return [each.strip() for each in (given.value or "").replace("，", ",").split(",") if each.strip()]
