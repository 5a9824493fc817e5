"""`outlast logs`: the script's output, byte for byte."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, verb
from outlast.cli.options import RunRef
from outlast.errors import UsageError

app = new_app()


@verb(
    app,
    "logs",
    about="Prints the output of all stints in order, exactly as it was written. With -f it stays until the run ends; "
    "Ctrl-C leaves the run alone.",
    examples=[
        ("outlast logs -f mnist", "follow the newest run named mnist"),
        ("outlast logs 1115-quiet --stint 2 --tail 50", "the last 50 lines of its second stint"),
    ],
    exits=(0, 2, 10, 12, 130),
)
def logs(
    run: RunRef,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Stay and print what comes, until the run ends", show_default=False)
    ] = False,
    stint: Annotated[
        int | None, typer.Option("--stint", metavar="N", help="Only this stint (default: all)", show_default=False)
    ] = None,
    tail: Annotated[
        int | None, typer.Option("--tail", metavar="N", help="Only the last N lines (default: all)", show_default=False)
    ] = None,
) -> None:
    if tail is not None and tail < 0:
        raise UsageError(f"--tail {tail} is negative; give a number of lines from 0")
    runs = open_client().runs
    if tail is None:
        _write(runs.logs(run, stint=stint, follow=follow))
        return
    past = list(runs.logs(run, stint=stint, follow=False)) if follow else runs.logs(run, stint=stint, follow=False)
    _write([last_lines(past, tail)])
    if follow:
        already = sum(len(chunk) for chunk in past)
        _write(skip_bytes(runs.logs(run, stint=stint, follow=True), already))


def _write(chunks: Iterable[bytes]) -> None:
    for chunk in chunks:
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()


def last_lines(chunks: Iterable[bytes], count: int) -> bytes:
    """The last `count` lines; memory holds little more than those."""
    kept: deque[bytes] = deque(maxlen=count)
    half = b""
    for chunk in chunks:
        *lines, half = (half + chunk).split(b"\n")
        kept.extend(line + b"\n" for line in lines)
    if half:
        kept.append(half)
    return b"".join(kept)


def skip_bytes(chunks: Iterable[bytes], size_bytes: int) -> Iterator[bytes]:
    """All but the first `size_bytes` bytes: segments are never rewritten, so the beginning is always the same."""
    for chunk in chunks:
        if size_bytes < len(chunk):
            yield chunk[size_bytes:]
        size_bytes = max(size_bytes - len(chunk), 0)
