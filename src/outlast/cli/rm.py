"""`outlast rm`: forget a run."""

from __future__ import annotations

from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, verb
from outlast.cli.completion import complete_run

app = new_app()


@verb(
    app,
    "rm",
    about="Removes the run folder, its work folders and its entry in the list. Fetch what you need first. Files that "
    "other runs share stay; outlast gc frees the rest. An open run is refused unless --force ends it.",
    examples=[
        ("outlast rm 1115-quiet-otter-7kx", "one finished run"),
        ("outlast rm mnist-a mnist-b --force", "two runs, ending them if they are open"),
    ],
    exits=(0, 2, 10, 12),
)
def rm(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Ids, beginnings of ids, or names", autocompletion=complete_run),
    ],
    force: Annotated[
        bool, typer.Option("--force", help="End the run first if it is open", show_default=False)
    ] = False,
) -> None:  # fmt: skip
    client = open_client()
    # All are looked up before one is removed: a typing mistake in the second must not cost the first.
    found = [client.runs.get(ref).id for ref in runs]
    for run in dict.fromkeys(found):
        client.runs.remove(run, force=force)
        print(f"removed {run}")
