"""`outlast chart`: the curves of runs, in the terminal or as a picture."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson, RunRefs

if TYPE_CHECKING:
    from outlast.client import Client
    from outlast.track.drawing.figure import Figure

app = new_app()

#: Lines of curve: one panel may be tall, several share the screen.
_TALLEST, _LOWEST = 16, 6


@verb(
    app,
    "chart",
    about="Draws each metric as one curve over all stints; several runs lie over each other in colours. A dotted "
    "line shows where a stint begins; what a rollback made obsolete is pale. Without --metric it chooses the most "
    "telling ones: losses, validation, accuracies.",
    examples=[
        ("outlast chart mnist", "the newest run of that name, here in the terminal"),
        ("outlast chart mnist -m loss --log --smooth 0.6", "one metric, logarithmic and smoothed"),
        ("outlast chart base wide -m 'val*' --x epoch --svg val.svg", "two runs over each other, as a picture"),
    ],
    exits=(0, 2, 10, 12),
)
def chart(
    runs: RunRefs,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", metavar="NAME", show_default=False,
                     help="Draw this metric, or all that match, like 'val*'; repeat for more"),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option("--x", metavar="WHAT", show_default=False,
                     help="Draw over step, epoch or time on the machine (default: steps if all curves have them)"),
    ] = None,
    smooth: Annotated[
        float, typer.Option("--smooth", metavar="SHARE", show_default=False,
                            help="Smooth the curves: from 0 to less than 1, like 0.6 (default: 0)"),
    ] = 0.0,
    log: Annotated[bool, typer.Option("--log", help="Make the upright axis logarithmic", show_default=False)] = False,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Write a picture as SVG", show_default=False)
    ] = None,
    png: Annotated[
        Path | None, typer.Option("--png", metavar="FILE", help="Write a picture as PNG", show_default=False)
    ] = None,
    dark: Annotated[
        bool, typer.Option("--dark", show_default=False,
                           help="Make pictures dark (default: an SVG follows its reader, a PNG is light)"),
    ] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    client = open_client()
    if as_json:
        print_json(_points(client, runs, metric or []))
        return
    figure = client.runs.chart(*runs, metrics=metric or (), x=x, smooth=smooth, log=log)
    for path in (svg, png):
        if path is not None:
            _save(figure, path, "svg" if path is svg else "png", dark)
    if svg is None and png is None:
        _print(figure)
    for note in figure.notes:
        print(f"note: {note}", file=sys.stderr)


def _save(figure: Figure, path: Path, kind: str, dark: bool) -> None:
    from outlast.errors import UsageError
    from outlast.operations.chart import save_picture

    if path.suffix.lower() != f".{kind}":
        better = path.with_suffix(f".{kind}")
        raise UsageError(f"--{kind} writes {kind.upper()}, but {path.name!r} ends otherwise", hint=f"try {better}")
    print(f"wrote {save_picture(figure, path, theme='dark' if dark else 'auto')}")


def _print(figure: Figure) -> None:
    import shutil

    from outlast.cli.paint import Ink, terminal_width
    from outlast.track.drawing.terminal import Pen, draw_text

    ink = Ink()
    screen_rows = shutil.get_terminal_size((100, 30)).lines
    # A panel's title, seams, axis, its labels and the line between two panels take five more.
    rows = max(_LOWEST, min(_TALLEST, screen_rows // len(figure.panels) - 5))
    coding = sys.stdout.encoding or "ascii"
    braille = "⡇⠶".encode(coding, "ignore")
    pen = Pen(letters=figure.is_overlay and not ink.on, ascii=not braille)
    for spans in draw_text(figure, terminal_width(), rows, pen):
        line = "".join(ink(span.style, span.text) if span.style else span.text for span in spans).rstrip()
        print(line.encode(coding, "replace").decode(coding))


def _points(client: Client, refs: list[str], metrics: list[str]) -> list[dict[str, Any]]:
    """Every point of the chosen metrics; what JSON cannot hold (nan, inf) comes as text."""
    return [
        {
            "run": one.run,
            "name": one.name,
            "metric": metric,
            "points": [
                {
                    "stint": point.stint,
                    "at_s": point.at_s,
                    "epoch": point.epoch,
                    "step": point.step,
                    "value": point.value if math.isfinite(point.value) else str(point.value),
                    "replayed": point.replayed,
                }
                for point in one.series[metric].points
            ],
        }
        for one, names in client.runs.curves(*refs, metrics=metrics)
        for metric in names
    ]
