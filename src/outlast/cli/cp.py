"""`outlast cp`: copy files and folders between any two places."""

from __future__ import annotations

from typing import Annotated

import typer

from outlast.cli.carrying import (
    EXITS,
    Checksum,
    DryRun,
    Force,
    Profile,
    Quiet,
    Verify,
    Way,
    Workers,
    carry,
    carry_packed,
)
from outlast.cli.command import new_app, verb
from outlast.cli.options import AsJson
from outlast.errors import UsageError

app = new_app()


@verb(
    app,
    "cp",
    about="Places are paths of this machine, s3://bucket/key, obs://bucket/key and hdfs://host:port/path. A slash "
    "after DST means: into this folder. A slash after SRC means: what is in it. Folders are copied whole. What is "
    "there already is skipped, what arrived is verified, and an interrupted copy goes on with the same command.",
    examples=[
        ("outlast cp data obs://lab/mnist", "obs://lab/mnist becomes a copy of the folder data"),
        ("outlast cp data obs://lab/", "the folder data goes into the bucket, as obs://lab/data"),
        ("outlast cp s3://lab/run7/ results/ --dry-run", "what is in run7 would go into the folder results"),
    ],
    exits=EXITS,
)
def cp(
    places: Annotated[
        list[str], typer.Argument(metavar="SRC... DST", help="What to copy, and where to; several need DST/")
    ],
    dry_run: DryRun = False,
    force: Force = False,
    checksum: Checksum = False,
    verify: Verify = False,
    pack: Annotated[
        bool,
        typer.Option("--pack", show_default=False,
                     help="Move a folder of many small files as shards: packed on the way out, unpacked on the way "
                          "home"),
    ] = False,
    single: Annotated[
        bool,
        typer.Option("--single", show_default=False,
                     help="The sources are files, also where a folder of a bucket has the same name"),
    ] = False,
    workers: Workers = 0,
    profile: Profile = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:  # fmt: skip
    if len(places) < 2:
        raise UsageError("cp needs a source and a destination", hint="for example: outlast cp data/ obs://lab/data/")
    *sources, destination = places
    way = Way(dry_run, as_json, quiet)
    words = {"force": force, "checksum": checksum, "verify": verify, "workers": workers, "profile": profile}
    if not pack:
        return carry(sources, destination, way, {**words, "single": single})
    if len(sources) > 1:
        raise UsageError("--pack takes one folder", hint="copy them one after the other")
    return carry_packed(sources[0], destination, way, words)
