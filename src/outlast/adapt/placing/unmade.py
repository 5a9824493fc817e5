"""Folders of options that other files write to, and nobody makes: beside the code they lie ready.

Below the contract's folder they are missing, and the first log would end the script.
"""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from outlast.adapt.arguments.setup import Setup
from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.paths import Paths
from outlast.adapt.placing.sources import Use
from outlast.migrate.tree import tail


def find_unmade(every: Iterable[Paths]) -> set[str]:
    """Names of options below whose values some file writes, where no file makes that folder."""
    written = [use for paths in every for use, _ in paths.written]
    made = {_named(use) for use in written if use.sink.makes}
    return {name for use in written if not use.sink.makes and (name := _named(use)) and use.after} - made


def _named(use: Use) -> str:
    is_held = isinstance(use.other, cst.Attribute | cst.Subscript)
    return use.option or (tail(use.other) if is_held else "")


def make_unmade(draft: Draft, setup: Setup, paths: Paths, value: str) -> list[str]:
    """Lines that make those that give way to the contract's folder and are no files; below it each has its own name."""
    given_way = paths.options.get(Role.OUTPUT, {})
    here = {use.option for use, _ in paths.written}
    lines: list[str] = []
    for name in sorted((paths.unmade - here) & set(given_way) & set(setup.options)):
        if not given_way[name] and not setup.options[name].default.endswith("/"):
            continue
        target = setup.own_value(name)
        asked = setup.options[name].asked(target, is_set=True)
        line = f"os.makedirs({target}, exist_ok=True)"
        lines += [f"    if {asked}:", f"        {line}"] if asked else [f"    {line}"]
    if lines:
        draft.need_import("os")
    return [f"if {value}:", *lines] if lines else []
