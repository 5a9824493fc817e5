"""How a module of a program reads the contract's options: the script that is started leaves them in the environment.

A module may be read before the script has parsed its arguments, and processes that are started anew parse none. So a
value is read where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.setup import Setup
from outlast.adapt.needs import variable


@dataclass
class EnvironmentSetup(Setup):
    """A module; `inner` is a parser that it has itself."""

    kind: str = "environment"
    inner: Setup | None = None

    def __post_init__(self) -> None:
        if self.inner is not None:
            self.options, self.holders, self.parameters = self.inner.options, self.inner.holders, self.inner.parameters

    def value(self, name: str, at: cst.CSTNode | None = None) -> str:
        return f'os.environ.get("{variable(name)}")'

    def own_value(self, name: str) -> str:
        return self.inner.own_value(name) if self.inner is not None else self.value(name)

    def is_read(self, name: str) -> bool:
        return variable(name) in self.draft.text

    def reaches(self, node: cst.CSTNode) -> bool:
        return True

    def declare(self, options: Sequence[tuple[str, str]]) -> None:
        """Nothing to add: the script has them."""

    def follow(self, lines: Sequence[str]) -> None:
        if self.inner is None:
            self.draft.add_on_top(lines)
        else:
            self.inner.follow(lines)
