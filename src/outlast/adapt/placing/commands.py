"""Commands that name a folder of results: `os.system("cp train.py checkpoints/" + name)`. They stay, and are told."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.fetched import RUNS
from outlast.adapt.placing.paths import Paths
from outlast.adapt.placing.sites import text_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import inner, positional

_SEPARATORS = re.compile(r"[\s;&|>'\"]+")
#: makes what is made in its new place as well
_MAKES = re.compile(r"(?:mkdir|md)\b")
_SHOWN = 60


def tell_commands(draft: Draft, paths: Paths, name: str) -> None:
    """Name each command that goes on using a folder whose place the contract's option `name` takes in Python."""
    sites = paths.sites.get(Role.OUTPUT, ())
    folders, changed = {_top(site.text) for site in sites} - {""}, {id(site.literal) for site in sites}
    for call in draft.calls():
        command = positional(call, 0) if folders and draft.resolve(call.func) in RUNS else None
        if command is None:
            continue
        texts = [_text(node) for node in (command, *draft.below(command)) if id(node) not in changed]
        words = [word for text in texts for word in _SEPARATORS.split(text) if not word.startswith("-")]
        used = next((word for word in words if _top(word) in folders), "")
        if used and not _MAKES.match(next((text for text in texts if text), "")):
            said = f"{draft.source(call)[:_SHOWN]} goes on using {_top(used)!r}, of which --{name} takes the place"
            draft.say(
                Kind.DIFFERS, "paths", call, said, f"do it in Python (shutil.copy), or put --{name} into the command"
            )


def _text(node: cst.CSTNode) -> str:
    return text_of(node) if isinstance(node, cst.SimpleString | cst.FormattedString) else inner(node)


def _top(path: str) -> str:
    """The first folder of a path that begins where the script runs."""
    return path.removeprefix("./").partition("/")[0].strip(".")
