"""`outlast init`: a commented outlast.toml to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from outlast.cli.command import new_app, verb
from outlast.errors import SpecError

app = new_app()

FILE_NAME = "outlast.toml"
#: Names that training scripts usually have, most likely first.
_USUAL = ("train.py", "main.py", "run.py", "train.sh")


@verb(
    app,
    "init",
    about="Writes outlast.toml with every key explained, and the script filled in when the folder shows which it is. "
    "An existing file is kept unless --force is given.",
    examples=[
        ("outlast init", "in the folder of the script"),
        ("outlast init experiments/mnist --script train_mnist.py", "for another folder, naming the script"),
        ("outlast init --like free-train --bucket obs://my-bucket/free_train --stints 24", "a chain of one-hour jobs"),
    ],
    exits=(0, 2),
)
def init(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Folder of the script (default: here)",
                                           show_default=False)] = Path(),
    script: Annotated[
        str | None,
        typer.Option("--script", metavar="FILE", help="The script, relative to the folder (default: the likely one)",
                     show_default=False),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option("--like", metavar="PRESET", show_default=False,
                     help="Write the set-up of a known way of working: free-train (default: every key, explained)"),
    ] = None,
    bucket: Annotated[
        str | None,
        typer.Option("--bucket", metavar="ADDRESS", show_default=False,
                     help="With --like: where its folders lie (default: obs://my-bucket/free_train)"),
    ] = None,
    stints: Annotated[
        str | None,
        typer.Option("--stints", metavar="N", show_default=False,
                     help="With --like: number of stints; -1: one, and probe says how far it comes (default: auto)"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file", show_default=False)] = False,
) -> None:  # fmt: skip
    from outlast.operations.presets import Asked, make_preset
    from outlast.operations.tomlfile import render_template
    from outlast.operations.tomltext import write_new

    if like is None and (bucket is not None or stints is not None):
        raise SpecError("--bucket and --stints belong to a preset", hint="add --like free-train")
    if not folder.is_dir():
        raise SpecError(
            f"no such folder: {folder}", hint="make it first, or run outlast init inside the script's folder"
        )
    if script is not None and not (folder / script).is_file():
        raise SpecError(f"no such file: {folder / script}", hint="--script is relative to the folder")
    path = folder / FILE_NAME
    chosen = script or likely_script(folder)
    preset = make_preset(like, Asked(folder, chosen, bucket, stints)) if like is not None else None
    write_new(path, preset.text if preset else render_template(chosen), force=force)
    print(f"wrote {path}" + (f" for {chosen}" if chosen else ""))
    if chosen is None:
        print("no likely script found; set 'script' in it")
    if preset is None:
        print(f"check the plan with: outlast run {folder} --dry-run")
        return
    print("\n" + preset.text)
    print("next:")
    print("\n".join(f"  {step}" for step in preset.steps))


def likely_script(folder: Path) -> str | None:
    """The script that is probably meant: a usual name, else the only file that has a main part, else the only one."""
    for name in _USUAL:
        if (folder / name).is_file():
            return name
    candidates = sorted(folder.glob("*.py"))
    with_main = [path for path in candidates if "__main__" in path.read_text(encoding="utf-8", errors="replace")]
    for group in (with_main, candidates):
        if len(group) == 1:
            return group[0].name
    return next((path.name for path in with_main if "train" in path.stem), None)
