"""`outlast logs`: the script's output, byte for byte."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, verb
from outlast.cli.options import RunRef
from outlast.errors import UsageError
from outlast.model.view import RunView

app = new_app()


@verb(
    app,
    "logs",
    about="Prints the output of all stints in order, exactly as it was written. With -f it stays until the run ends; "
    "Ctrl-C leaves the run alone.",
    examples=[
        ("outlast logs -f mnist", "follow the newest run named mnist"),
        ("outlast logs 1115-quiet --stint 2 --tail 50", "the last 50 lines of its second stint"),
        ("outlast logs mnist --node 1", "what its second machine printed, when its stints have several"),
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
    node: Annotated[
        int, typer.Option("--node", metavar="N", help="Of this machine of each stint (default: 0)", show_default=False)
    ] = 0,
    tail: Annotated[
        int | None, typer.Option("--tail", metavar="N", help="Only the last N lines (default: all)", show_default=False)
    ] = None,
) -> None:
    if tail is not None and tail < 0:
        raise UsageError(f"--tail {tail} is negative; give a number of lines from 0")
    client = open_client()
    read = partial(client.runs.logs, run, stint=stint, node=node)
    if tail is None:
        if not _write(read(follow=follow)):
            _say_events(client.runs.get(run), stint)
        return
    past = list(read()) if follow else read()
    _write([last_lines(past, tail)])
    if follow:
        already = sum(len(chunk) for chunk in past)
        _write(skip_bytes(read(follow=True), already))


def _write(chunks: Iterable[bytes]) -> int:
    """Print what comes, and say how many bytes came."""
    size_bytes = 0
    for chunk in chunks:
        size_bytes += len(chunk)
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
    return size_bytes


def _say_events(view: RunView, number: int | None) -> None:
    """Without a single line of output: what the platform says, aside from what the script would."""
    asked = [each for each in view.stint_list if number in (None, each.number) and each.events]
    for line in asked[-1].events if asked else ():
        print(f"{asked[-1].platform}: {line}", file=sys.stderr)


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
