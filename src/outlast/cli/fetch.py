"""`outlast fetch`: bring files of a run home."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson, RunRef
from outlast.cli.waiting import Waiting
from outlast.errors import UsageError

if TYPE_CHECKING:
    from outlast.operations.fetch import What

app = new_app()

KINDS: tuple[What, ...] = ("outputs", "checkpoint", "logs", "all")


@verb(
    app,
    "fetch",
    about="Copies verified files of a run into a folder. A file that exists there and differs is never overwritten "
    "unless --force is given; identical ones are skipped. A run without outputs gives those of its last checkpoint.",
    examples=[
        ("outlast fetch mnist", "its outputs, into ./mnist-outputs"),
        ("outlast fetch 1115-quiet --what checkpoint --to ./ckpt", "its last checkpoint, into ./ckpt"),
    ],
    exits=(0, 2, 10, 12),
)
def fetch(
    run: RunRef,
    to: Annotated[
        Path | None,
        typer.Option("--to", "-t", metavar="FOLDER", help="Where to put the files (default: ./NAME-WHAT)",
                     show_default=False),
    ] = None,
    what: Annotated[
        str,
        typer.Option("--what", metavar="|".join(KINDS), help="Which files (default: outputs)", show_default=False,
                     autocompletion=lambda incomplete: [kind for kind in KINDS if kind.startswith(incomplete)]),
    ] = "outputs",
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite files that differ", show_default=False)
    ] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    kind = next((known for known in KINDS if known == what), None)
    if kind is None:
        raise UsageError(f"--what {what!r} is unknown; possible: {', '.join(KINDS)}")
    client = open_client()
    view = client.runs.get(run)
    folder = to if to is not None else Path(f"{view.name}-{what}")
    with Waiting(f"fetching {what} of {view.id}"):
        fetched = client.runs.fetch(view.id, to=folder, what=kind, force=force)
    from outlast.cli.planned import fetched_json, fetched_lines

    if as_json:
        print_json(fetched_json(fetched))
    else:
        print("\n".join(fetched_lines(fetched, folder)))
