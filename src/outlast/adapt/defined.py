"""Names that a file gives to what it defines, kept as long as its parts stay the same."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import libcst as cst

from outlast.migrate.tree import tail

_KEPT = ("function_names", "class_names", "assigned_names", "star_imports")


class Defined:
    """A file by its nodes."""

    nodes: list[cst.CSTNode]

    def functions(self) -> Iterator[cst.FunctionDef]:
        return (node for node in self.nodes if isinstance(node, cst.FunctionDef))

    @functools.cached_property
    def function_names(self) -> frozenset[str]:
        """Functions and methods."""
        return frozenset(function.name.value for function in self.functions())

    @functools.cached_property
    def class_names(self) -> frozenset[str]:
        return frozenset(node.name.value for node in self.nodes if isinstance(node, cst.ClassDef))

    @functools.cached_property
    def assigned_names(self) -> frozenset[str]:
        return frozenset(tail(node.target) for node in self.nodes if isinstance(node, cst.AssignTarget))

    @functools.cached_property
    def star_imports(self) -> tuple[cst.ImportFrom, ...]:
        """`from data import *`."""
        found = (node for node in self.nodes if isinstance(node, cst.ImportFrom))
        return tuple(node for node in found if isinstance(node.names, cst.ImportStar))

    def forget_names(self) -> None:
        """After some nodes are gone."""
        for name in _KEPT:
            self.__dict__.pop(name, None)
