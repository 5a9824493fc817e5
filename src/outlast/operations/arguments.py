"""Which options a script accepts, read from its source without running it.

A contract passes options that the user never typed (`--train_url`, `--num_gpus`). A script that reads its arguments
strictly dies of one it does not know; this foresees it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

#: Calls that read arguments and leave what they do not know alone.
_LENIENT = frozenset({"parse_known_args", "parse_known_intermixed_args"})
_STRICT = frozenset({"parse_args", "parse_intermixed_args", "parse_args_into_dataclasses"})


@dataclass(frozen=True)
class Accepted:
    """What is known of a script's options. With `strict` false nothing can be said against any option."""

    strict: bool = False
    options: frozenset[str] = field(default_factory=frozenset)  # without their dashes

    def refuses(self, name: str) -> bool:
        """Whether this option would end the script at once. A unique beginning of an option's name is understood."""
        if not self.strict or name in self.options:
            return False
        return sum(option.startswith(name) for option in self.options) != 1


def accepted_by(script: Path) -> Accepted:
    """The options of one script. Anything unusual (imported parsers, computed names) counts as accepting everything."""
    try:
        tree = ast.parse(script.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return Accepted()
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = {_name(call) for call in calls}
    if names & _LENIENT or not names & _STRICT:
        return Accepted()
    options: set[str] = set()
    for call in calls:
        if _name(call) != "add_argument":
            continue
        for argument in call.args:
            if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                return Accepted()
            if argument.value.startswith("-"):
                options.add(argument.value.lstrip("-"))
    # A parser that is made or filled elsewhere may know more than we see here.
    made_here = "ArgumentParser" in names
    return Accepted(made_here and bool(options), frozenset(options))


def refused(script: Path, names: Iterable[str]) -> list[str]:
    """Those of the names that the script would die of, in their order."""
    accepted = accepted_by(script)
    return [name for name in names if accepted.refuses(name)]


def option_names(argv: Iterable[str]) -> Iterator[str]:
    """The names of the `--name=value` words of a command."""
    for word in argv:
        if word.startswith("--") and "=" in word:
            yield word[2:].partition("=")[0]


def _name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
