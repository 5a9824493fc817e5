"""Shell completion: commands, options, and the ids and names of the user's runs.

The shell asks by starting `outlast` with `_OUTLAST_COMPLETE` set; then every verb is loaded, because any of them
may be the one that is being typed.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import Any

import typer
import typer.main

from outlast.cli.entry import COMPLETE_VARIABLE
from outlast.cli.verbs import VERBS

SHELLS = ("bash", "zsh", "fish")


def _root() -> Any:
    """One command that holds all verbs."""
    root = typer.Typer(name="outlast", add_completion=True, rich_markup_mode=None)
    for module, _, _ in VERBS.values():
        root.add_typer(importlib.import_module(module).app)
    return typer.main.get_command(root)


def answer() -> int:
    """Answer the shell's question in the environment."""
    return _ask([])


def set_up(option: str, rest: Sequence[str]) -> int:
    """`--install-completion` and `--show-completion [SHELL]`."""
    from outlast.cli.failures import complain

    if not rest:
        return _ask([option])
    if option == "--show-completion" and len(rest) == 1 and rest[0] in SHELLS:
        return _ask([], f"source_{rest[0]}")
    known = ", ".join(SHELLS)
    hint = f"outlast --show-completion SHELL prints the script of {known}; --install-completion takes no value"
    return complain(f"cannot set up completion for {' '.join(rest)!r}", hint)


def _ask(arguments: list[str], instruction: str | None = None) -> int:
    """Let typer answer; it takes the instruction from the environment and nowhere else."""
    before = os.environ.get(COMPLETE_VARIABLE)
    if instruction is not None:
        os.environ[COMPLETE_VARIABLE] = instruction
    try:
        _root().main(args=arguments, prog_name="outlast", complete_var=COMPLETE_VARIABLE)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 0
    finally:
        # Whoever calls us as a library goes on with the environment it had.
        if instruction is not None and before is None:
            del os.environ[COMPLETE_VARIABLE]
    return 0


def complete_run(incomplete: str) -> list[tuple[str, str]]:
    """Ids and names of runs that begin so, newest first; a broken home completes nothing rather than failing."""
    from outlast.cli.command import open_client

    try:
        runs = open_client().runs.list()
    except Exception:  # noqa: BLE001 - a completion must never print a traceback into the user's prompt
        return []
    found = [(run.id, f"{run.name} · {run.state}") for run in runs if run.id.startswith(incomplete)]
    names = {run.name: f"{run.id} · {run.state}" for run in reversed(runs) if run.name.startswith(incomplete)}
    return found + list(names.items())


def complete_setting(incomplete: str) -> list[tuple[str, str]]:
    """Names of settings that begin so, and the word `set`."""
    from outlast.settings import SETTINGS

    words = [("set", "change a setting"), *((setting.name, setting.sentence) for setting in SETTINGS)]
    return [(name, sentence) for name, sentence in words if name.startswith(incomplete)]
