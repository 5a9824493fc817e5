"""`outlast ps`: the list of runs."""

from __future__ import annotations

from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.errors import UsageError
from outlast.model.states import RunState
from outlast.model.view import RunView

app = new_app()

FINISHED_SHOWN = 20


def _complete_state(incomplete: str) -> list[str]:
    return [state for state in RunState if state.startswith(incomplete)]


@verb(
    app,
    "ps",
    about=f"Shows all open runs and the last {FINISHED_SHOWN} that ended, newest first.",
    examples=[
        ("outlast ps --state failed --all", "every failed run there is"),
        ("outlast ps --json | jq '.[].id'", "for programs"),
    ],
    exits=(0, 2, 12),
)
def ps(
    every: Annotated[
        bool,
        typer.Option("--all", "-a", help=f"Show every run (default: open ones and the last {FINISHED_SHOWN})",
                     show_default=False),
    ] = False,
    state: Annotated[
        list[str] | None,
        typer.Option(
            "--state", "-s", metavar="STATE", show_default=False, autocompletion=_complete_state,
            help="Show only runs in this state: queued, running, succeeded, failed, stopped; repeat for more",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    wanted = {_state(word) for word in state or ()}
    views = [view for view in open_client().runs.list() if not wanted or view.state in wanted]
    views.sort(key=lambda view: view.created_at, reverse=True)
    shown = views if every else _recent(views)
    if as_json:
        print_json([view.to_json() for view in shown])
        return
    if not shown:
        print("no runs" + (" in that state" if wanted else " yet; start one with: outlast run train.py"))
        return
    _print(shown, len(views) - len(shown))


def _state(word: str) -> RunState:
    try:
        return RunState(word.lower())
    except ValueError:
        raise UsageError(f"unknown state {word!r}", hint="states: " + ", ".join(RunState)) from None


def _recent(views: list[RunView]) -> list[RunView]:
    ended = {view.id for view in [view for view in views if view.state.is_final][:FINISHED_SHOWN]}
    return [view for view in views if not view.state.is_final or view.id in ended]


def _print(views: list[RunView], hidden: int) -> None:
    from outlast.cli.paint import Column, Ink, ago, table
    from outlast.cli.sections import progress_text
    from outlast.model.quantities import format_duration

    ink = Ink()
    columns = [
        Column("id", paint=lambda text: ink("bold", text)),
        Column("name", flexible=True),
        Column("state", paint=ink.state),
        Column("stints", right=True),
        Column("progress"),
        Column("left", right=True),
        Column("platform"),
        Column("created", paint=lambda text: ink("dim", text)),
        Column("message", flexible=True, paint=lambda text: ink("dim", text)),
    ]
    rows = [
        [
            view.id,
            view.name,
            str(view.state),
            str(view.stints),
            progress_text(view),
            format_duration(view.eta_s) if view.eta_s is not None and not view.state.is_final else "",
            view.platform,
            ago(view.created_at),
            # That a running run runs is in its state already.
            (view.notice if view.state is RunState.RUNNING else view.message or view.notice).split("\n")[0],
        ]
        for view in views
    ]
    print("\n".join(table(columns, rows, ink)))
    if hidden:
        print(ink("dim", f"and {hidden} older; see them with: outlast ps --all"))
