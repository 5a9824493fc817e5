"""`outlast environments`: named environments, those of other platforms and your own."""

from __future__ import annotations

from typing import Annotated

import typer

from outlast.cli.command import new_group, open_client, print_json, verb
from outlast.cli.options import AsJson

_EXITS = {0: "done", 2: "the request is wrong; nothing was changed", 10: "no such environment"}

app = new_group(
    "environments",
    about="Lists what ModelArts and Xihe offer and what you have added; the last column says which of them a run on "
    "this machine can use. Pin one with outlast run --environment NAME: its packages are installed once and shared, "
    "and the project's own requirements are added on top.",
    examples=[
        ("outlast environments list", "all of them; the word list may be left out"),
        ("outlast environments add torch-cpu --requirements torch.txt", "one of your own"),
    ],
    exits=_EXITS,
    default="list",
)

#: What the platforms give with an environment is shown where there is room for it.
_WIDE = 150

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the environment", show_default=False)]


def _option(name: str, metavar: str, help: str) -> typer.models.OptionInfo:
    info: typer.models.OptionInfo = typer.Option(name, metavar=metavar, help=help, show_default=False)
    return info


@verb(
    app,
    "list",
    sentence="List every environment",
    about="Your own come first. Environments of another platform that pip can install are marked with yes, or with the "
    "Python that is missing; image only: nothing but that platform has it.",
    examples=[
        ("outlast environments list", "as a table"),
        ("outlast environments list --json", "for programs, with the requirements of each"),
    ],
    exits=_EXITS,
)
def list_(as_json: AsJson = False) -> None:
    from outlast.cli.paint import Column, Ink, table, table_width

    found = open_client().environments.list()
    if as_json:
        print_json([each.to_json() for each in found])
        return
    ink = Ink()
    columns = [
        Column("name", flexible=True, paint=lambda text: ink("bold", text)),
        Column("framework", flexible=True), Column("device", flexible=True), Column("python"), Column("by"),
        Column("usable here"), Column("comes with", flexible=True, paint=lambda text: ink("dim", text)),
    ]  # fmt: skip
    wide = table_width(ink) >= _WIDE
    rows = [
        [each.name, f"{each.framework} {each.version}".strip(), each.device, each.python, each.platform, each.here,
         each.resources if wide else ""]
        for each in found
    ]  # fmt: skip
    print("\n".join(table(columns, rows, ink)))


@verb(
    app,
    "add",
    sentence="Keep an environment under a name",
    about="An environment is the packages of a requirements file, which is read now and kept, or an image, which only "
    "OpenPAI jobs use so far. A file of exact versions (a lock) gives every run the same packages. Framework and "
    "version are read from the file unless you say them.",
    examples=[
        ("outlast environments add torch-cpu --requirements torch.txt --python 3.11", "packages for one Python"),
        ("outlast environments add lab --image lab/pytorch:2.4 --framework 'PyTorch 2.4' --device GPU", "an image"),
    ],
    exits=_EXITS,
)
def add(
    name: Name,
    requirements: Annotated[str | None, _option("--requirements", "FILE", "Packages, as pip takes them")] = None,
    image: Annotated[str | None, _option("--image", "IMAGE", "An image that podman or docker has here")] = None,
    framework: Annotated[str, _option("--framework", "TEXT", "What it is for, like 'PyTorch 2.4'")] = "",
    device: Annotated[str, _option("--device", "TEXT", "What it runs on, like CPU or 'GPU, CUDA 12'")] = "",
    python: Annotated[str, _option("--python", "X.Y", "The Python that it needs (default: any)")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace one of that name", show_default=False)] = False,
    as_json: AsJson = False,
) -> None:
    made = open_client().environments.add(
        name, requirements=requirements, image=image, framework=framework, device=device, python=python, force=force
    )
    if as_json:
        print_json(made.to_json())
        return
    count = len(made.requirements)
    what = f"image {made.image}" if made.image else f"{count} requirement{'' if count == 1 else 's'}"
    print(f"added {made.name}: {what}; usable here: {made.here}")
    print(f"pin a run to it with: outlast run train.py --environment {made.name}")


@verb(
    app,
    "remove",
    sentence="Forget an environment that you added",
    about="Runs that are pinned to it carry their own copy and go on.",
    examples=[
        ("outlast environments remove torch-cpu", "by its name"),
        ("outlast environments remove lab --json", "for programs"),
    ],
    exits=_EXITS,
)
def remove(name: Name, as_json: AsJson = False) -> None:
    gone = open_client().environments.remove(name)
    if as_json:
        print_json(gone.to_json())
    else:
        print(f"removed {gone.name}")
