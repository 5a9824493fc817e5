"""Paths that begin where the code lies: `Path(__file__).resolve().parents[1]`, `os.path.dirname(__file__)`."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import inner, positional, tail

_DEPTH = 8
_SAME_FOLDER = frozenset("dirname abspath realpath resolve absolute Path normpath str".split())


class CodeFolder:
    """Knows expressions of that folder. `value_of` says what a name is made of, where that is one thing."""

    def __init__(self, draft: Draft, value_of: Callable[[cst.BaseExpression], cst.BaseExpression | None]) -> None:
        self._draft, self._value_of = draft, value_of

    def begins(self, node: cst.BinaryOperation) -> bool:
        """`HERE / "data" / "train"`: the code's folder, and names behind it."""
        if not isinstance(node.operator, cst.Divide | cst.Add):
            return False
        if isinstance(node.left, cst.BinaryOperation) and isinstance(node.left.right, cst.SimpleString):
            return self.begins(node.left)
        return self.is_it(node.left)

    def is_it(self, node: cst.CSTNode | None, depth: int = _DEPTH) -> bool:
        """Whether an expression is where the code lies."""
        if depth == 0 or node is None:
            return False
        if isinstance(node, cst.Name):
            return node.value == "__file__" or self.is_it(self._value_of(node), depth - 1)
        if isinstance(node, cst.Attribute | cst.Subscript):
            return self.is_it(node.value, depth - 1)
        if isinstance(node, cst.Call):
            first = positional(node, 0)
            if tail(node.func) == "join" and all(inner(arg.value).strip("./") == "" for arg in node.args[1:]):
                return self.is_it(first, depth - 1)
            owner = node.func.value if isinstance(node.func, cst.Attribute) else None
            is_function = tail(node.func) == "Path" or self._draft.resolve(node.func).startswith("os.path.")
            below = first if is_function or owner is None else owner
            return tail(node.func) in _SAME_FOLDER and self.is_it(below, depth - 1)
        return False
