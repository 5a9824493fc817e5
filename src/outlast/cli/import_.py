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
        ("outlast import modelarts job.json -o lab/outlast.toml", "a job of ModelArts, written somewhere else"),
    ],
    exits=_EXITS,
)

Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write there (default: outlast.toml beside the code)",
                 show_default=False),
]  # fmt: skip
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file", show_default=False)]


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


@verb(
    app,
    "modelarts",
    sentence="Write an outlast.toml from a training job of ModelArts",
    about="FILE is a request body of the first or second generation, what the service shows of a job, or the fields of "
    "the PyCharm ToolKit's form, as JSON or as lines like 'Boot File Path: train.py'. What has no meaning here is "
    "named in comments; values that look like secrets are left out.",
    examples=[
        ("outlast import modelarts job.json", "writes outlast.toml beside the code, and says what is left to do"),
        ("outlast import modelarts form.txt --force", "replace what was written before"),
    ],
    exits=_EXITS,
)
def modelarts(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The job; never changed", show_default=False)],
    output: Output = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    from outlast.cli.paint import Ink
    from outlast.cli.planned import notice_lines

    made = open_client().import_modelarts(file, output, force=force)
    if as_json:
        print_json({
            "path": str(made.path), "script": made.script, "notices": list(made.notices), "steps": list(made.steps),
        })  # fmt: skip
        return
    print("\n".join([f"wrote {made.path} for {made.script}", *notice_lines(made.notices, Ink())]))
    print("next:")
    print("\n".join(f"  {step}" for step in made.steps))
