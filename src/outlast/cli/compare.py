"""`outlast compare`: runs side by side."""

from __future__ import annotations

import csv
import math
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson, RunRefs
from outlast.errors import UsageError

if TYPE_CHECKING:
    from outlast.operations.comparing import ComparedRun, Comparison

app = new_app()


@verb(
    app,
    "compare",
    about="Shows the parameters that differ beside the final and the best value of each metric (the best of all runs "
    "is marked with *), how long each run had machines, how much of that was useful, and whether the code is the same.",
    examples=[
        ("outlast compare base wide deep", "three runs side by side"),
        ("outlast compare 1115-quiet-otter 1115-brave-lynx --all", "with what is equal as well"),
        ("outlast compare lr1 lr2 lr3 --sort val_loss --csv > runs.csv", "the best first, for a spreadsheet"),
    ],
    exits=(0, 2, 10, 12),
)
def compare(
    runs: RunRefs,
    sort: Annotated[
        str | None,
        typer.Option("--sort", metavar="METRIC", show_default=False,
                     help="Put the run with the best value of this metric first (default: as they are named)"),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", "-a", show_default=False,
                           help="Show what is equal as well (default: only what differs), and every metric"),
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table", show_default=False)] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    if as_csv and as_json:
        raise UsageError("--csv and --json exclude each other", hint="choose one of them")
    found = open_client().runs.compare(*runs, sort=sort)
    if as_json:
        print_json([_body(found, row) for row in found.rows])
    elif as_csv:
        _print_csv(found)
    else:
        from outlast.cli.compared import compared_lines
        from outlast.cli.paint import Ink

        print("\n".join(compared_lines(found, Ink(), every=every)))


def _body(found: Comparison, row: ComparedRun) -> dict[str, Any]:
    return {
        "run": row.run,
        "name": row.name,
        "state": row.state,
        "params": row.params,
        "conditions": row.conditions,
        "final": {name: _plain(value) for name, value in row.final.items()},
        "best": {name: {"value": _plain(value), "epoch": epoch} for name, (value, epoch) in row.best.items()},
        "is_best_in": [name for name in row.best if row.run in found.winners(name)],
        "duration_s": row.duration_s,
        "stints": row.stints,
        "useful_fraction": row.useful_fraction,
        "code": row.code,
        "code_differs": row.code_differs,
    }


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _print_csv(found: Comparison) -> None:
    parts = ("params", "conditions", "final", "best")
    columns = [(part, name) for part in parts for name in found.names(part)]
    facts = ("run", "name", "state", "duration_s", "stints", "useful_fraction", "code")
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([*facts, *(f"{part}.{name}" for part, name in columns)])
    for row in found.rows:
        cells = [getattr(row, part).get(name, "") for part, name in columns]
        values = [cell[0] if isinstance(cell, tuple) else cell for cell in cells]
        writer.writerow([*("" if getattr(row, fact) is None else getattr(row, fact) for fact in facts), *values])
