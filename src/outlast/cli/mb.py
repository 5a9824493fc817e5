"""`outlast mb`: make a bucket or a folder."""

from __future__ import annotations

from typing import Annotated

import typer

from outlast.cli.carrying import Profile
from outlast.cli.command import new_app, open_client, verb

app = new_app()


@verb(
    app,
    "mb",
    about="An address without a key makes the bucket; with one it makes an empty folder in it. What is there already "
    "is left as it is.",
    examples=[
        ("outlast mb obs://lab", "a new bucket"),
        ("outlast mb hdfs://namenode:9870/user/me/data", "a folder, and what is missing above it"),
    ],
    exits=(0, 2, 11, 12),
)
def mb(
    place: Annotated[str, typer.Argument(metavar="PLACE", help="The bucket or folder to make")],
    profile: Profile = "",
) -> None:
    made, is_new = open_client().files.make(place, profile=profile)
    print(f"made {made}" if is_new else f"{made} is there already")
