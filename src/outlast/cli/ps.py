"""`outlast ps`: the list of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.model.query import FIELDS, Condition, named, run_values
from outlast.model.states import RunState
from outlast.model.view import RunView

app = new_app()

FINISHED_SHOWN = 20


def _complete_state(incomplete: str) -> list[str]:
    return [state for state in RunState if state.startswith(incomplete)]


@verb(
    app,
    "ps",
    about=f"Shows all open runs and the last {FINISHED_SHOWN} that ended, newest first. --where compares a parameter "
    "or the last value of a metric (best:NAME for its best one, epoch, step and stints as well); a run that has no "
    "such value is not shown. --sort by a metric puts the best run first.",
    examples=[
        ("outlast ps --state failed --all", "every failed run there is"),
        (
            "outlast ps --name 'mnist-*' --where lr=0.1 --where 'val_acc>=0.9' --sort val_acc",
            "the good ones, best first",
        ),
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
    name: Annotated[
        str,
        typer.Option("--name", "-n", metavar="GLOB", help="Show only runs of such names: 'mnist-*'",
                     show_default=False),
    ] = "",
    state: Annotated[
        list[str] | None,
        typer.Option(
            "--state", "-s", metavar="STATE", show_default=False, autocompletion=_complete_state,
            help="Show only runs in this state: queued, running, succeeded, failed, stopped; repeat for more",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where", "-w", metavar="CONDITION", show_default=False,
            help="Show only runs for which this holds: 'lr=0.1', 'val_acc>=0.9', 'best:acc>0.95'; repeat for more",
        ),
    ] = None,
    sort: Annotated[
        str,
        typer.Option("--sort", metavar="WORD", help="Sort by created, name, state, a parameter or a metric; a '-' "
                     "before it turns it round"),
    ] = "created",
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", help="Show the first N of them", show_default=False),
    ] = None,
    sweep: Annotated[
        str | None,
        typer.Option("--sweep", metavar="NAME", help="Show only the members of this sweep, all of them",
                     show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    recent = None if every or sweep or limit is not None else FINISHED_SHOWN
    where = [*(where or ()), *([f"sweep={sweep}"] if sweep else ())]
    found = open_client().runs.find(name=name, states=state or (), where=where, sort=sort, limit=limit, recent=recent)
    if as_json:
        print_json([view.to_json() for view in found.views])
        return
    if not found.views:
        filtered = bool(name or state or where)
        print("no runs like that" if filtered else "no runs yet; start one with: outlast run train.py")
        return
    _print(found.views, _asked(where, sort))
    if found.left_out:
        way = "see them with: outlast ps --all" if limit is None else "see them with a higher --limit"
        print(f"and {found.left_out} more; {way}")


def _asked(where: Sequence[str], sort: str) -> list[str]:
    """The parameters and metrics that were asked for: their values are worth a column."""
    words = [Condition.parse(text).name for text in where] + [sort.removeprefix("-")]
    return [word for word in dict.fromkeys(words) if word not in (*FIELDS, "epoch", "step", "stints", "sweep")]


def _value(view: RunView, word: str) -> str:
    found = [value for kind, name, value in run_values(vars(view)) if named(kind, name, word)]
    return "" if not found else found[0] if isinstance(found[0], str) else f"{found[0]:.6g}"


def _print(views: list[RunView], asked: list[str]) -> None:
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
        *(Column(word, right=True) for word in asked),
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
            *(_value(view, word) for word in asked),
            format_duration(view.eta_s) if view.eta_s is not None and not view.state.is_final else "",
            view.platform,
            ago(view.created_at),
            # That a running run runs is in its state already.
            (view.notice if view.state is RunState.RUNNING else view.message or view.notice).split("\n")[0],
        ]
        for view in views
    ]
    print("\n".join(table(columns, rows, ink)))
