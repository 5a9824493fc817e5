"""`outlast cat`: the bytes of a file on standard output."""

from __future__ import annotations

import re
import sys
from typing import Annotated

import typer

from outlast.cli.carrying import Profile
from outlast.cli.command import new_app, open_client, verb
from outlast.errors import UsageError

app = new_app()


@verb(
    app,
    "cat",
    about="Writes the bytes as they are, so that a pipe gets exactly the file.",
    examples=[
        ("outlast cat obs://lab/run7/log.txt", "read a log"),
        ("outlast cat s3://lab/data.tar --range 0-511", "its first 512 bytes"),
    ],
    exits=(0, 2, 10, 11, 12),
)
def cat(
    place: Annotated[str, typer.Argument(metavar="PLACE", help="A file")],
    part: Annotated[
        str,
        typer.Option("--range", metavar="A-B", show_default=False,
                     help="Only bytes A to B, both included and counted from 0; without B up to the end"),
    ] = "",
    profile: Profile = "",
) -> None:  # fmt: skip
    start, length = _read_range(part)
    for piece in open_client().files.read(place, start=start, length=length, profile=profile):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def _read_range(text: str) -> tuple[int, int | None]:
    if not text:
        return 0, None
    match = re.fullmatch(r"(\d+)-(\d*)", text)
    if match is None or (match[2] and int(match[2]) < int(match[1])):
        raise UsageError(f"--range {text!r} cannot be read", hint="write it like 0-511, or 512- for all from there on")
    start = int(match[1])
    return start, int(match[2]) - start + 1 if match[2] else None
