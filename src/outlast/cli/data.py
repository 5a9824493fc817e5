"""`outlast data`: pack, unpack, look into, compare and shrink data sets."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.carrying import Profile, Quiet
from outlast.cli.command import new_group, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.cli.waiting import Waiting
from outlast.errors import INTERRUPTED_EXIT_CODE, UsageError

if TYPE_CHECKING:
    from outlast.operations.data_packing import Repacked

_MOVING = {
    0: "done",
    2: "the request is wrong; nothing was moved",
    10: "there is nothing at the source",
    11: "credentials are missing or refused",
    12: "a store cannot be reached, a disk is full, or bytes are damaged",
    130: "interrupted; the same command goes on",
}
_LOOKING = (0, 2, 10, 11, 12)

app = new_group(
    "data",
    about="Places are paths of this machine, s3://bucket/key, obs://bucket/key and hdfs://host:port/path. Tens of "
    "thousands of small files move fastest as a few tar shards: a packed place is a folder of them with an index.",
    examples=[
        ("outlast data pack images obs://lab/images.packed", "many small files become a few large ones"),
        ("outlast data mini coco coco-mini --keep 40", "a small copy for debugging"),
    ],
    exits=_MOVING,
)

Source = Annotated[str, typer.Argument(metavar="SRC", help="What to read; never changed", show_default=False)]
PackedSource = Annotated[str, typer.Argument(metavar="PACKED", help="A packed place", show_default=False)]


@verb(
    app,
    "pack",
    sentence="Pack a folder of many small files into tar shards with an index",
    about="DST becomes a folder of shard-000000.tar, shard-000001.tar, … and index.jsonl; ordinary tar can read the "
    "shards. The same files always give the same shards, so an interrupted packing skips those that are there "
    "already. The index comes last: without it the place is not finished.",
    examples=[
        ("outlast data pack images obs://lab/images.packed", "straight into a bucket"),
        ("outlast data pack images packed --shard-size 256MB", "in larger shards, on this machine"),
    ],
    exits=_MOVING,
)
def pack(
    source: Source,
    target: Annotated[str, typer.Argument(metavar="DST", help="The folder for the shards", show_default=False)],
    shard_size: Annotated[
        str,
        typer.Option("--shard-size", metavar="SIZE", show_default=False,
                     help="Cut all shards at this size (default: 8MB for the first ones, growing to 64MB)"),
    ] = "",
    profile: Profile = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:  # fmt: skip
    from outlast.cli.moving import Watch
    from outlast.model.quantities import parse_size

    try:
        shard_bytes = parse_size(shard_size) if shard_size else None
    except ValueError as error:
        raise UsageError(f"--shard-size: {error}") from None
    with Watch(quiet or as_json) as watch:
        watch.begin()
        done = open_client().data.pack(source, target, shard_bytes=shard_bytes, profile=profile, report=watch)
    return _tell(done, "packed", "shard", quiet, as_json)


@verb(
    app,
    "unpack",
    sentence="Unpack a packed place",
    about="Each file appears under its name only when it is whole and its checksum is right; what is there already "
    "with the same size and time is skipped. A path or a link that would leave DST is refused.",
    examples=[
        ("outlast data unpack obs://lab/images.packed images", "into a folder of this machine"),
        ("outlast data unpack packed s3://lab/images", "file by file into a bucket"),
    ],
    exits=_MOVING,
)
def unpack(
    source: PackedSource,
    target: Annotated[str, typer.Argument(metavar="DST", help="The folder for the files", show_default=False)],
    profile: Profile = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    from outlast.cli.moving import Watch

    with Watch(quiet or as_json) as watch:
        watch.begin()
        done = open_client().data.unpack(source, target, profile=profile, report=watch)
    return _tell(done, "unpacked", "file", quiet, as_json)


@verb(
    app,
    "ls",
    sentence="List what is in a packed place",
    about="One line for each: size, checksum, path. Only the index is read.",
    examples=[
        ("outlast data ls obs://lab/images.packed", "every file in it"),
        ("outlast data ls packed --json", "with shard and offset, for programs"),
    ],
    exits=_LOOKING,
)
def ls(source: PackedSource, profile: Profile = "", as_json: AsJson = False) -> None:
    from outlast.inside.move.names import shown
    from outlast.model.quantities import format_size

    with Waiting(f"reading the index of {source}"):
        members = open_client().data.list(source, profile=profile)
    if as_json:
        print_json([member._asdict() for member in members])
        return
    for member in members:
        size = format_size(member.size_bytes) if member.kind == "file" else ""
        slash = "/" if member.kind == "folder" else ""
        arrow = f" -> {shown(member.target)}" if member.target else ""
        print(f"{size:>10}  {member.crc32:8}  {shown(member.path)}{slash}{arrow}")


@verb(
    app,
    "cat",
    sentence="Write one file of a packed place to standard output",
    about="Reads the index and then just that file, by range out of its shard.",
    examples=[
        ("outlast data cat obs://lab/images.packed labels.csv", "show a file"),
        ("outlast data cat packed cat/001.jpg > 001.jpg", "take one out"),
    ],
    exits=_LOOKING,
)
def cat(
    source: PackedSource,
    member: Annotated[str, typer.Argument(metavar="PATH", help="Of the file in it", show_default=False)],
    profile: Profile = "",
) -> None:
    for piece in open_client().data.read(source, member, profile=profile):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


@verb(
    app,
    "check",
    sentence="Compare two places, packed or not",
    about="Says what is missing in B, what is extra there, and what differs: in kind, in size, in checksum where both "
    "places know one. --full reads every byte of both instead.",
    examples=[
        ("outlast data check images obs://lab/images.packed", "did everything arrive?"),
        ("outlast data check a b --full --json", "byte by byte, for programs"),
    ],
    exits={
        0: "equal",
        1: "different",
        2: "the request is wrong",
        10: "there is nothing at a place",
        11: "credentials are missing or refused",
        12: "a store cannot be reached",
    },
)
def check(
    first: Annotated[str, typer.Argument(metavar="A", help="What should be there", show_default=False)],
    second: Annotated[str, typer.Argument(metavar="B", help="What is there", show_default=False)],
    full: Annotated[
        bool, typer.Option("--full", help="Read every byte (default: sizes and known checksums)", show_default=False)
    ] = False,
    profile: Profile = "",
    as_json: AsJson = False,
) -> int:  # fmt: skip
    from outlast.cli.datatables import comparison_json, comparison_lines

    with Waiting(f"comparing {first} and {second}") as waiting:
        found = open_client().data.check(first, second, full=full, profile=profile, tell=waiting.note)
    if as_json:
        print_json(comparison_json(found))
    else:
        print("\n".join(comparison_lines(found)))
    return 0 if found.equal else 1


@verb(
    app,
    "mini",
    sentence="Make a small copy of a data set for debugging",
    about="Keeps the folders, every class and every split, files that belong together (image, label, mask), and "
    "trims lists, tables and JSON to what was kept. --keep counts samples in total, or takes a share like 5%; each "
    "class keeps at least one. MNIST files, npy, npz, TFRecord, zip and tar are cut too. SRC is never written to.",
    examples=[
        ("outlast data mini coco coco-mini --keep 40", "40 images with their annotations"),
        ("outlast data mini obs://lab/flowers flowers-mini --keep 2% --seed 7", "fetches only what it keeps"),
    ],
    exits={**_MOVING, 130: "interrupted; nothing was written"},
)
def mini(
    source: Source,
    target: Annotated[str, typer.Argument(metavar="DST", help="A new or empty folder", show_default=False)],
    keep: Annotated[
        str, typer.Option("--keep", metavar="N|N%", help="Samples to keep in total (default: 40)", show_default=False)
    ] = "40",
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Another seed keeps other samples (default: 0)",
                          show_default=False)
    ] = 0,
    force: Annotated[
        bool, typer.Option("--force", help="Write into a folder that is not empty", show_default=False)
    ] = False,
    profile: Profile = "",
    as_json: AsJson = False,
) -> None:  # fmt: skip
    from outlast.cli.datatables import mini_json, mini_lines

    with Waiting(f"looking through {source}") as waiting:
        made = open_client().data.mini(
            source, target, keep=keep, seed=seed, force=force, profile=profile, tell=waiting.note
        )
    if as_json:
        print_json(mini_json(made))
    else:
        print("\n".join(mini_lines(made)))


def _tell(done: Repacked, what: str, skipped: str, quiet: bool, as_json: bool) -> int:
    from dataclasses import asdict

    from outlast.cli.moved import print_notices
    from outlast.cli.words import count
    from outlast.model.quantities import format_size

    if as_json:
        print_json(asdict(done))
    elif not quiet:
        print_notices(done.notices)
        were = "was" if done.skipped == 1 else "were"
        there = f", {count(done.skipped, skipped)} {were} there already" if done.skipped else ""
        shards = f" in {count(done.shards, 'shard')}" if what == "packed" else ""
        print(f"{what} {count(done.files, 'file')}, {format_size(done.size_bytes)}{shards}: {done.place}{there}")
    if not done.complete:
        print("stopped; the same command goes on where it ended", file=sys.stderr)
        return INTERRUPTED_EXIT_CODE
    return 0
