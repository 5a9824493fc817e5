"""`outlast config`: settings, their values and where those came from."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Annotated

import typer

from outlast.cli.command import new_app, print_json, verb
from outlast.cli.completion import complete_setting
from outlast.cli.options import AsJson
from outlast.cli.paint import Column, Ink, table
from outlast.errors import UsageError
from outlast.settings import SETTINGS, Settings, without_password, write_setting

app = new_app()


@verb(
    app,
    "config",
    about="Without words it shows every setting, its value and where that came from: the default, config.toml in the "
    "home folder, or an environment variable OUTLAST_NAME (which wins). 'set NAME VALUE' writes to config.toml.",
    examples=[
        ("outlast config", "all settings"),
        ("outlast config set keep_last 5", "change one for good"),
    ],
    exits=(0, 2),
)
def config(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME | set NAME VALUE]", help="Show one setting, or change it", show_default=False,
                       autocompletion=complete_setting),
    ] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    match words or []:
        case []:
            _show(None, as_json)
        case ["set", name, value]:
            _set(name, value)
        case ["set", *_]:
            raise UsageError("set needs a name and a value", hint="for example: outlast config set keep_last 5")
        case [name]:
            _show(_known(name), as_json)
        case _:
            raise UsageError(f"cannot read {' '.join(words or [])!r}", hint="outlast config [NAME | set NAME VALUE]")


def _known(name: str) -> str:
    names = [setting.name for setting in SETTINGS]
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, n=1)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"unknown setting {name!r}{guess}", hint="see all of them with: outlast config")


def _show(only: str | None, as_json: bool) -> None:
    shown = [row for row in Settings.load().shown() if only in (None, row[0].name)]
    if as_json:
        print_json([
            {"name": setting.name, "value": value, "origin": origin, "default": setting.default,
             "sentence": setting.sentence}
            for setting, value, origin in shown
        ])  # fmt: skip
        return
    ink = Ink()
    columns = [
        Column("name", paint=lambda text: ink("bold", text)),
        Column("value", flexible=True),
        Column("origin"),
        Column("", flexible=True, paint=lambda text: ink("dim", text)),
    ]
    rows = [[setting.name, value, origin, setting.sentence] for setting, value, origin in shown]
    print("\n".join(table(columns, rows, ink)))


def _set(name: str, value: str) -> None:
    # Not through Settings.load: a config.toml with a bad value must be mendable with this very command.
    home = Path(os.environ.get("OUTLAST_HOME") or SETTINGS[0].default).expanduser().absolute()
    write_setting(home, name, value)
    if name == "database":
        from outlast.operations.database import follow_database

        follow_database(home)
    print(f"{name} = {without_password(value)} in {home / 'config.toml'}")
    variable = f"OUTLAST_{name.upper()}"
    if os.environ.get(variable):
        print(f"note: the environment variable {variable} is set and wins over it")
