"""`outlast reindex`: rebuild the list of runs."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.cli.waiting import Waiting

app = new_app()


@verb(
    app,
    "reindex",
    about="The list that ps prints is only an index; the truth about each run lies in the store. This reads every run "
    "folder and writes the index again. A damaged index is moved aside, not deleted.",
    examples=[
        ("outlast reindex", "after copying a store here, or when ps complains about the index"),
        ("outlast reindex --store obs://bucket/prefix", "list the runs of a store that this home has not used yet"),
    ],
    exits=(0, 2, 11, 12),
)
def reindex(
    store: Annotated[
        list[str] | None,
        typer.Option(
            "--store",
            metavar="ADDRESS",
            help="Read this store too, like obs://bucket/prefix; repeat for more (default: those in use)",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    with Waiting("reading the store"):
        rebuilt = open_client().reindex(store or ())
    if as_json:
        print_json(dataclasses.asdict(rebuilt))
        return
    if rebuilt.aside:
        print(f"the damaged index is kept as {rebuilt.aside}")
    for problem in rebuilt.problems:
        print(f"left out: {problem}")
    if rebuilt.removed:
        print(f"gone from the store, so gone from the list: {', '.join(rebuilt.removed)}")
    print(f"{rebuilt.runs} run{'' if rebuilt.runs == 1 else 's'} in the list; see them with: outlast ps")
