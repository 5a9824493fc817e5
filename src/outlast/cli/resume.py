"""`outlast resume`: go on where a run ended."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, verb
from outlast.cli.options import Detach, RunRef
from outlast.cli.run import RUN_EXITS

app = new_app()


@verb(
    app,
    "resume",
    about="Starts the next stint from the last checkpoint, or from the one that stint N left. Earlier failures are "
    "forgiven; the code and the options stay those of the run, except a new limit. Then it watches, as run does.",
    examples=[
        ("outlast resume mnist --limit 2h", "go on, with longer stints"),
        ("outlast resume 1115-quiet --from 2 --detach", "go back to what stint 2 left, and return at once"),
    ],
    exits={**RUN_EXITS, 10: "no such run, or no checkpoint of that stint"},
)
def resume(
    run: RunRef,
    from_stint: Annotated[
        int | None,
        typer.Option("--from", metavar="N", help="Go on from the last checkpoint of stint N (default: the very last)",
                     show_default=False),
    ] = None,
    limit: Annotated[
        str | None,
        typer.Option("--limit", "-l", metavar="TIME", help="New limit of each stint (default: as before)",
                     show_default=False),
    ] = None,
    detach: Detach = False,
) -> int:  # fmt: skip
    client = open_client()
    before = client.runs.get(run)
    view = client.runs.resume(before.id, from_stint=from_stint, limit=limit)
    if detach:
        print(view.id, flush=True)
        print(f"follow it with: outlast logs -f {view.id}, stop it with: outlast stop {view.id}", file=sys.stderr)
        return 0
    from outlast.cli.live import watch_run

    where = f" from {before.last_checkpoint}" if before.last_checkpoint and from_stint is None else ""
    print(f"run {view.id} goes on{where}", flush=True)
    return watch_run(client, view, since_stint=before.stints)
