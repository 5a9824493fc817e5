"""`outlast gc`: free space in the store."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.cli.planned import clean_json, clean_lines
from outlast.cli.waiting import Waiting
from outlast.errors import UsageError

app = new_app()


@verb(
    app,
    "gc",
    about="Removes old checkpoints of each run, files that nothing refers to any more, and work folders of ended "
    "stints. The last checkpoint of a run, its outputs, and whatever a stint is using now always stay; files younger "
    "than an hour wait for the next time. It shows the plan and asks first.",
    examples=[
        ("outlast gc --dry-run", "what could be freed"),
        ("outlast gc --keep-last 1 --keep-best val_acc --yes", "keep the newest and the best one of each run"),
    ],
    exits={0: "done, or nothing to do", 1: "you said no", 2: "the request is wrong", 12: "the store cannot be reached"},
)
def gc(
    keep_last: Annotated[
        int | None,
        typer.Option("--keep-last", metavar="N", min=1, show_default=False,
                     help="Checkpoints to keep of each run (default: the setting keep_last, 3)"),
    ] = None,
    keep_best: Annotated[
        str | None,
        typer.Option("--keep-best", metavar="METRIC", show_default=False,
                     help="Also keep the best one by this metric, like val_acc or min:loss (default: none)"),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan and remove nothing", show_default=False)
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask", show_default=False)] = False,
    as_json: AsJson = False,
) -> int:  # fmt: skip
    client = open_client()
    with Waiting("looking through the store"):
        plan = client.clean(keep_last=keep_last, keep_best=keep_best, dry_run=True)
    if not as_json:
        print("\n".join(clean_lines(plan)), flush=True)
    if dry_run or plan.is_empty:
        if as_json:
            print_json(clean_json(plan))
        return 0
    if not yes and not _agreed():
        return 1
    with Waiting("removing"):
        done = client.clean(keep_last=keep_last, keep_best=keep_best, dry_run=False)
    if as_json:
        print_json(clean_json(done))
    else:
        print(clean_lines(done)[-1])
    return 0


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError(
            "gc asks before it removes anything, and nobody is here to answer", hint="give --yes or --dry-run"
        )
    print("remove these? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
