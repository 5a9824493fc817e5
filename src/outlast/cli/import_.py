"""`outlast import`: job files of other systems become an outlast.toml."""

from __future__ import annotations

from typing import Annotated

import typer

from outlast.cli.command import new_group, open_client, print_json, verb
from outlast.cli.options import AsJson

_EXITS = {0: "written", 2: "the file is wrong, or the target exists already; nothing was written"}

app = new_group(
    "import",
    about="The file is read and checked as its own system would do it; what is written can be changed by hand and is "
    "run with `outlast run`.",
    examples=[
        ("outlast import openpai new_job.pai.json", "writes outlast.toml beside the code"),
        ("outlast import openpai job.yaml -o lab/outlast.toml", "somewhere else"),
    ],
    exits=_EXITS,
)

Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write there (default: outlast.toml beside the code)",
                 show_default=False),
]  # fmt: skip
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file", show_default=False)]


@app.callback()
def _keep_the_group() -> None:
    # Without this, an app of one sub-command would be taken for that command itself.
    pass


@verb(
    app,
    "openpai",
    sentence="Write an outlast.toml from an OpenPAI job file",
    about="FILE is a job config v1 (JSON, comments allowed) or a protocol v2 job (YAML). A job of one instance that "
    "runs a Python script becomes an ordinary run of it; any other keeps the job file as its script, and every role "
    "runs as before.",
    examples=[
        ("outlast import openpai new_job.pai.json", "a job written with the VS Code client"),
        ("outlast import openpai job.yaml --force", "replace what was written before"),
    ],
    exits=_EXITS,
)
def openpai(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The job file; never changed", show_default=False)],
    output: Output = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    made = open_client().import_openpai(file, output, force=force)
    if as_json:
        print_json({"path": str(made.path), "script": made.script, "needs_job_file": made.why})
        return
    print(f"wrote {made.path} for {made.script}")
    if made.why:
        print(f"it still needs the job file: {made.why}")
    print(f"check the plan with: outlast run {made.path} --dry-run")
