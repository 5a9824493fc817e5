"""`outlast du`: how much lies at a place."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from outlast.cli.carrying import Profile
from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.cli.waiting import Waiting

app = new_app()


@verb(
    app,
    "du",
    about="One line for each child of the folder, with its size and its number of files, then the sum.",
    examples=[
        ("outlast du obs://lab/data/", "what takes the space in that folder"),
        ("outlast du s3://lab --json", "the same for a bucket, for programs"),
    ],
    exits=(0, 2, 10, 11, 12),
)
def du(
    place: Annotated[str, typer.Argument(metavar="[PLACE]", help="A file, a folder or a bucket")] = ".",
    profile: Profile = "",
    as_json: AsJson = False,
) -> None:
    from outlast.cli.moved import print_notices
    from outlast.cli.words import count
    from outlast.inside.move.names import as_text, shown
    from outlast.model.quantities import format_size

    with Waiting(f"measuring {place}"):
        measured = open_client().files.measure(place, profile=profile)
    print_notices(measured.notices)
    if as_json:
        children = [
            {"name": as_text(name), "files": files, "size_bytes": size} for name, files, size in measured.children
        ]
        print_json({**dataclasses.asdict(measured), "place": as_text(measured.place), "children": children})
        return
    rows = [*measured.children, (measured.place, measured.files, measured.size_bytes)]
    for name, files, size in rows:
        print(f"{format_size(size):>10}  {count(files, 'file'):>12}  {shown(name)}")
