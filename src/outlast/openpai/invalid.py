"""A job file that OpenPAI's server would refuse, in its words and in ours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from outlast.errors import SpecError

PARAMETERS, PROTOCOL = "InvalidParametersError", "InvalidProtocolError"


class Problem(NamedTuple):
    """One thing that is wrong, and where: `("taskRoles", 0, "memoryMB")`."""

    path: tuple[str | int, ...]
    words: str
    is_unknown: bool = False  # a key that the server does not know

    @property
    def field(self) -> str:
        """`taskRoles[0].memoryMB`."""
        shown = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return shown.lstrip(".") or "the document"


class InvalidJob(SpecError):
    """`kind` is the code that OpenPAI answers with, `server_message` the message that comes with it."""

    kind: ClassVar[str]

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        lines = [f"{source}: {each.field} {each.words} ({self.kind})" for each in problems]
        super().__init__("\n".join(dict.fromkeys(lines)))
        self.problems = tuple(problems)

    @property
    def server_message(self) -> str:
        raise NotImplementedError


class InvalidParameters(InvalidJob):
    """A job config v1 that breaks the server's rules. The server stops at the first problem; we name them all."""

    kind = PARAMETERS

    @property
    def server_message(self) -> str:
        first = self.problems[0]
        return _nested(first.path, first)


class InvalidProtocol(InvalidJob):
    """A protocol v2 document that breaks the server's rules; it lists all problems as JSON."""

    kind = PROTOCOL

    @property
    def server_message(self) -> str:
        return json.dumps([{"dataPath": _data_path(each.path), "message": each.words} for each in self.problems])


def _nested(path: tuple[str | int, ...], problem: Problem, label: str = "value") -> str:
    """The server's validator wraps each level in the next: child "a" fails because ["a" at position 0 fails …]."""
    if not path:
        return f'"{label}" {problem.words}'
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        if not rest:
            return f'"{label}" at position {step} fails because ["{step}" {problem.words}]'
        return f'"{label}" at position {step} fails because [{_nested(rest, problem, str(step))}]'
    if not rest and problem.is_unknown:
        return f'"{step}" {problem.words}'
    return f'child "{step}" fails because [{_nested(rest, problem, step)}]'


def _data_path(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
