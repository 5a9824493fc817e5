"""`outlast rm`: forget a run, or remove files of a bucket or of HDFS."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.asking import agreed
from outlast.cli.carrying import Profile
from outlast.cli.command import new_app, open_client, verb
from outlast.cli.completion import complete_run
from outlast.errors import UsageError

if TYPE_CHECKING:
    from outlast.client import Client
    from outlast.operations.places import Removal

app = new_app()
_SHOWN = 10


@verb(
    app,
    "rm",
    about="With the name of a run: removes the run folder, its work folders and its entry in the list. Fetch what you "
    "need first. Files that other runs share stay; outlast gc frees the rest. An open run is refused unless --force "
    "ends it. With an address (anything with :// in it): removes that file, or with --recursive that folder, and asks "
    "first. Files of this machine are left to rm.",
    examples=[
        ("outlast rm 1115-quiet-otter-7kx", "one finished run"),
        ("outlast rm mnist-a mnist-b --force", "two runs, ending them if they are open"),
        ("outlast rm obs://lab/old/ --recursive", "a folder of a bucket"),
    ],
    exits={
        0: "done",
        1: "you said no",
        2: "the request is wrong; nothing was removed",
        10: "no such run or file",
        11: "credentials are missing or refused",
        12: "the platform or the store cannot be reached",
    },
)
def rm(
    targets: Annotated[
        list[str],
        typer.Argument(metavar="RUN|PLACE...", help="Ids, beginnings of ids or names of runs; or addresses",
                       autocompletion=complete_run),
    ],
    force: Annotated[
        bool, typer.Option("--force", help="End the run first if it is open", show_default=False)
    ] = False,
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Remove folders with all they hold", show_default=False)
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask", show_default=False)] = False,
    profile: Profile = "",
) -> int:  # fmt: skip
    places = [target for target in targets if is_place(target)]
    client = open_client()
    # All are looked up before one is removed: a typing mistake in the second must not cost the first.
    found = [client.runs.get(ref).id for ref in targets if not is_place(ref)]
    removals = [client.files.plan_removal(place, recursive=recursive, profile=profile) for place in places]
    if removals and not yes and not _agreed(removals):
        return 1
    for run in dict.fromkeys(found):
        client.runs.remove(run, force=force)
        print(f"removed {run}")
    _remove(client, removals)
    return 0


def is_place(target: str) -> bool:
    """True for an address or a path; everything else is a run."""
    return "://" in target or target.startswith(("/", ".", "~"))


def _agreed(removals: Sequence[Removal]) -> bool:
    from outlast.cli.words import count
    from outlast.model.quantities import format_size

    for removal in removals:
        if removal.is_whole_bucket:
            raise UsageError(
                f"{removal.place.address} is a whole bucket", hint="to empty it give --recursive and --yes"
            )
        for item in removal.items[:_SHOWN]:
            print(f"  {removal.place.show(item.path)}")
        if len(removal.items) > _SHOWN:
            print(f"  and {len(removal.items) - _SHOWN} more")
    sys.stdout.flush()
    files = sum(removal.file_count for removal in removals)
    size = format_size(sum(removal.size_bytes for removal in removals))
    return agreed(f"remove {count(files, 'file')}, {size}?", verb="rm")


def _remove(client: Client, removals: Sequence[Removal]) -> None:
    from outlast.cli.waiting import Waiting
    from outlast.cli.words import count

    for removal in removals:
        with Waiting(f"removing {removal.place.address}"):
            files = client.files.remove(removal)
        print(f"removed {count(files, 'file')} at {removal.place.address}")
