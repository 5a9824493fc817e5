"""`outlast show`: one run, whole."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson, RunRef
from outlast.cli.paint import Ink, ago, wrap
from outlast.cli.sections import (
    checkpoint_lines,
    decision_lines,
    event_lines,
    ledger_lines,
    message_lines,
    metric_lines,
    next_lines,
    progress_text,
    rate_text,
    stint_lines,
    titled,
)  # fmt: skip
from outlast.cli.summary import result_lines
from outlast.cli.words import pad
from outlast.model.quantities import format_duration
from outlast.model.view import RunView

if TYPE_CHECKING:
    from outlast.client import Client

app = new_app()


@verb(
    app,
    "show",
    about="Prints the state and the reason for it, the progress, every stint with how it ended, where the time went, "
    "the checkpoints, the metrics, and what to do next. Of a run on several platforms also each decision where to go "
    "and its reason; of one that goes on also the stints and the time that are left.",
    examples=[
        ("outlast show 1115-quiet-otter-7kx", "by its id; the beginning of it is enough"),
        ("outlast show mnist --json", "the newest run of that name, for programs"),
    ],
    exits=(0, 10, 12),
)
def show(run: RunRef, as_json: AsJson = False) -> None:
    client = open_client()
    view = client.runs.get(run)
    if as_json:
        print_json({**view.to_json(detail=True), "forecast": _forecast_json(view)})
        return
    from outlast.cli.curves import best_of
    from outlast.cli.evaluation_view import evaluator_lines

    ink = Ink()
    lines = [f"{ink('bold', view.id)}  {view.name}  {ink.state(view.state)}", *message_lines(view), *_facts(view, ink)]
    lines += titled("stints", stint_lines(view.stint_list, ink), ink)
    lines += titled("platforms", decision_lines(view.stint_list, ink), ink)
    lines += titled("events", event_lines(view.stint_list, ink), ink)
    lines += titled("forecast", _forecast_lines(client, view), ink)
    lines += titled("ledger", ledger_lines(view.stint_list, view.ledger, view.useful_fraction, ink), ink)
    lines += titled("checkpoints", checkpoint_lines(view.checkpoints, ink), ink)
    lines += titled("metrics", metric_lines(view.metrics, best_of(client.runs.points, view.id), ink), ink)
    lines += evaluator_lines(client.runs.evaluations(view.id), ink)
    lines += titled("results", result_lines(view), ink)
    lines += titled("next", next_lines(view, ink, besides="show"), ink)
    print("\n".join(lines))


def _forecast_json(view: RunView) -> dict[str, object] | None:
    from outlast.operations.outlook import run_outlook

    found = run_outlook(view)
    return None if found is None else dataclasses.asdict(found)


def _forecast_lines(client: Client, view: RunView) -> list[str]:
    """What is left of an open run, and what was used of the allowance of each platform that it may go to."""
    from outlast.operations.outlook import run_outlook

    found = run_outlook(view)
    lines = [f"  {line}" for line in wrap(found.sentence, 2)] if found is not None else []
    names = view.spec.get("platforms", ())
    if view.state.is_final or all(name == "local" for name in names):
        return lines
    places = [each for each in client.platforms() if each.name in names and each.allowed_s is not None]
    return lines + [f"  {each.name}: {each.use} used" for each in places]


def _facts(view: RunView, ink: Ink) -> list[str]:
    left = f"{format_duration(view.eta_s)} left" if view.eta_s is not None and not view.state.is_final else ""
    progress = ", ".join(text for text in (progress_text(view), rate_text(view), left) if text)
    spec = view.spec
    facts = {
        "progress": progress,
        "created": f"{ago(view.created_at)} by {view.user}" if view.user else ago(view.created_at),
        "platform": view.platform,
        "sweep": view.sweep,
        "evaluates": view.of,
        "script": " ".join([str(spec.get("script", "")), *map(str, spec.get("args", ()))]).strip(),
        "code": str(spec.get("code_folder", "")),
        "store": view.store,
    }
    return [f"  {ink('dim', pad(name, 9))} {value}" for name, value in facts.items() if value]
