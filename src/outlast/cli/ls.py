"""`outlast ls`: what lies at a place."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.cli.carrying import Profile
from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.cli.waiting import Waiting

if TYPE_CHECKING:
    from outlast.inside.move.base import Item
    from outlast.operations.places import Listing

app = new_app()


@verb(
    app,
    "ls",
    about="One line for each: size, time of the last change, name. A folder's name ends with a slash. s3:// or obs:// "
    "alone lists the buckets.",
    examples=[
        ("outlast ls obs://lab/data/", "what lies in that folder"),
        ("outlast ls s3://lab --recursive --json", "every object of a bucket, for programs"),
    ],
    exits=(0, 2, 10, 11, 12),
)
def ls(
    place: Annotated[str, typer.Argument(metavar="[PLACE]", help="A file, a folder or a bucket")] = ".",
    recursive: Annotated[
        bool,
        typer.Option("--recursive", "-r", help="Everything below, not only the children", show_default=False),
    ] = False,
    profile: Profile = "",
    as_json: AsJson = False,
) -> None:  # fmt: skip
    from outlast.cli.moved import print_notices
    from outlast.inside.move.names import shown
    from outlast.model.quantities import format_size

    with Waiting(f"listing {place}"):
        listing = open_client().files.list(place, recursive=recursive, profile=profile)
    print_notices(listing.notices)
    if as_json:
        print_json([_entry(listing, item) for item in listing.items])
        return
    for item in listing.items:
        size = format_size(item.size_bytes) if item.kind == "file" else ""
        name = shown(listing.name(item)) + (f" -> {shown(item.target)}" if item.target else "")
        print(f"{size:>10}  {_time(item):16}  {name}")


def _time(item: Item) -> str:
    if not item.modified_ns or item.kind == "folder":
        return ""
    return datetime.datetime.fromtimestamp(item.modified_ns / 1e9).strftime("%Y-%m-%d %H:%M")


def _entry(listing: Listing, item: Item) -> dict[str, Any]:
    from outlast.inside.move.names import as_text

    moment = datetime.datetime.fromtimestamp(item.modified_ns / 1e9, datetime.UTC) if item.modified_ns else None
    return {
        "name": as_text(listing.name(item)),
        "kind": item.kind,
        "size_bytes": item.size_bytes,
        "modified_at": moment.isoformat(timespec="milliseconds") if moment else None,
        "digest": item.digest,
    }
