"""`outlast report`: a run on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, verb
from outlast.cli.options import RunRef
from outlast.cli.words import is_chinese
from outlast.model.quantities import format_size

app = new_app()


@verb(
    app,
    "report",
    about="Writes one page with the summary, the curves, where the time of each stint went, parameters, environment, "
    "checkpoints, the end of the output and the command to do it again. It needs nothing else and loads nothing, so "
    "it can be mailed. Values of parameters that are named like secrets are masked.",
    examples=[
        ("outlast report mnist -o mnist.html", "open it in any browser"),
        ("outlast report mnist -o mnist.pdf --lang zh", "in Chinese, printed by chromium"),
    ],
    exits=(0, 2, 10, 12),
)
def report(
    run: RunRef,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", show_default=False,
                           help="Where to: a name that ends with .html or .pdf (default: report.html)"),
    ] = Path("report.html"),
    lang: Annotated[
        str | None, typer.Option("--lang", metavar="LANG", show_default=False,
                                 help="Language of the page: en or zh (default: that of your locale)"),
    ] = None,
) -> None:  # fmt: skip
    path = open_client().runs.report(run, output, lang=lang or ("zh" if is_chinese() else "en"))
    print(f"wrote {path} ({format_size(path.stat().st_size)})")
