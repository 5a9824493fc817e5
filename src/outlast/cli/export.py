"""`outlast export`: metrics for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson, RunRefs

app = new_app()

_FORMATS = ("csv", "parquet", "tensorboard", "mlflow", "aim")


def _complete_format(incomplete: str) -> list[str]:
    return [name for name in _FORMATS if name.startswith(incomplete)]


@verb(
    app,
    "export",
    about="Writes every metric of the runs with its stint, step, epoch and time. In csv and parquet each value is a "
    "row that says whether it is the first after a seam and whether a rollback made it obsolete (replayed); elsewhere "
    "replayed values are left out, so that a curve is one curve.",
    examples=[
        ("outlast export mnist --to csv -o mnist.csv", "for a spreadsheet or pandas"),
        ("outlast export base wide --to tensorboard -o events", "then: tensorboard --logdir events"),
        ("outlast export mnist --to mlflow -o mlflow.db", "then: mlflow ui --backend-store-uri sqlite:///mlflow.db"),
    ],
    exits=(0, 2, 10, 12),
)
def export(
    runs: RunRefs,
    to: Annotated[
        str, typer.Option("--to", "-t", metavar="FORMAT", autocompletion=_complete_format, show_default=False,
                          help=f"What to write: {', '.join(_FORMATS)} (default: csv)"),
    ] = "csv",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PATH", show_default=False,
                     help="Where to: a folder for tensorboard and aim, else a file (default: named after the format)"),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", "-a", show_default=False,
                           help="Write replayed values as well (default: only in csv and parquet)"),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Write over a file that exists (default: refuse)", show_default=False)
    ] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    def tell(words: str) -> None:
        print(words, file=sys.stderr)

    done = open_client().runs.export(
        *runs, kind=to, to=output, replayed=True if every else None, force=force, tell=tell
    )
    if as_json:
        print_json({"path": str(done.path), "format": done.kind, "runs": done.runs, "values": done.values})
        return
    print(f"wrote {done.values} values of {done.runs} run{'s' if done.runs != 1 else ''} to {done.path}")
