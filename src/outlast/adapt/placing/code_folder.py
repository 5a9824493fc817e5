"""Paths that begin where the code lies, above where it is started, or at somebody's home.

`os.path.dirname(__file__)`, `os.path.join(os.getcwd(), "..")`, `Path.home()`: what lies beside or above the code is not
there on a platform, so that such a path gives way as a whole, and not only what it begins with.
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.placing.sites import is_text, text_of
from outlast.migrate.tree import inner, positional, tail

_DEPTH = 8
_SAME_FOLDER = frozenset("dirname abspath realpath resolve absolute Path normpath str".split())

_HOMES = frozenset({"HOME", "USERPROFILE"})
HERE = frozenset({"os.getcwd", "pathlib.Path.cwd"})


class CodeFolder:
    """Knows expressions of that folder. `value_of` says what a name is made of, where that is one thing."""

    def __init__(self, draft: Draft, value_of: Callable[[cst.BaseExpression], cst.BaseExpression | None]) -> None:
        self._draft, self._value_of = draft, value_of

    def begins(self, node: cst.BinaryOperation, *, is_read: bool) -> bool:
        """`HERE / "data" / "train"`: the code's folder, and names behind it."""
        if not isinstance(node.operator, cst.Divide | cst.Add):
            return False
        if isinstance(node.left, cst.BinaryOperation) and isinstance(node.left.right, cst.SimpleString):
            return self.begins(node.left, is_read=is_read)
        return self.leads(node.left, node.right, is_read=is_read)

    def leads(self, first: cst.CSTNode | None, then: cst.CSTNode | None, *, is_read: bool) -> bool:
        """Whether a path that begins so gives way as a whole.

        What is read is told by the folders behind `os.getcwd()`, as in `"data/x.npy"`; results keep theirs, and so does
        what begins with a name, which may be that of the results, too.
        """
        is_up = inner(then).removeprefix("/").removeprefix("./").split("/")[0] == ".."
        is_whole = is_up or (is_read and isinstance(first, cst.Call))
        return self.is_it(first) or (is_whole and self._is_above(first, _DEPTH, is_up=True))

    def is_it(self, node: cst.CSTNode | None, depth: int = _DEPTH) -> bool:
        """Whether an expression is where the code lies, a folder above where it is started, or a home."""
        if depth == 0 or node is None:
            return False
        if self._is_home(node) or self._is_start(node) or self._is_above(node, depth):
            return True
        if isinstance(node, cst.Name):
            return node.value == "__file__" or self.is_it(self._value_of(node), depth - 1)
        if isinstance(node, cst.SimpleString):
            return inner(node) == "__file__"  # quoted by mistake: the folder of that name is where the script runs
        if isinstance(node, cst.Attribute | cst.Subscript):
            return self.is_it(node.value, depth - 1)
        if isinstance(node, cst.Call):
            first = positional(node, 0)
            if tail(node.func) == "join" and all(_is_dots(arg.value) for arg in node.args[1:]):
                return self.is_it(first, depth - 1)
            owner = node.func.value if isinstance(node.func, cst.Attribute) else None
            is_function = tail(node.func) == "Path" or self._draft.resolve(node.func).startswith("os.path.")
            below = first if is_function or owner is None else owner
            return tail(node.func) in _SAME_FOLDER and self.is_it(below, depth - 1)
        return False

    def _is_above(self, node: cst.CSTNode | None, depth: int, *, is_up: bool = False) -> bool:
        if depth == 0 or node is None:
            return False
        if isinstance(node, cst.Name):
            return self._is_above(self._value_of(node), depth - 1, is_up=is_up)
        if isinstance(node, cst.Attribute | cst.Subscript):
            is_parent = isinstance(node, cst.Attribute) and node.attr.value in ("parent", "parents")
            return self._is_above(node.value, depth - 1, is_up=is_up or is_parent)
        if not isinstance(node, cst.Call):
            return False
        name, last, first = self._draft.resolve(node.func), tail(node.func), positional(node, 0)
        if name in HERE:
            return is_up
        if name == "os.path.join":
            behind = [inner(arg.value) for arg in node.args[1:]]
            is_dots = all(part and not part.strip("./") for part in behind)
            return is_dots and self._is_above(first, depth - 1, is_up=is_up or any(".." in part for part in behind))
        owner = node.func.value if isinstance(node.func, cst.Attribute) and not node.args else None
        return last in _SAME_FOLDER and self._is_above(owner or first, depth - 1, is_up=is_up or last == "dirname")

    def _is_start(self, node: cst.CSTNode) -> bool:
        """`sys.path[0]`: Python puts the folder of the script there."""
        if not isinstance(node, cst.Subscript) or self._draft.resolve(node.value) != "sys.path":
            return False
        return self._draft.source(node).replace(" ", "").endswith("[0]")

    def _is_home(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Subscript):
            return self._draft.resolve(node.value) == "os.environ" and tail(node) in _HOMES
        if not isinstance(node, cst.Call):
            return False
        name, first = self._draft.resolve(node.func), inner(positional(node, 0))
        is_asked = name in ("os.environ.get", "os.getenv") and first in _HOMES
        return name == "pathlib.Path.home" or is_asked or (name == "os.path.expanduser" and first == "~")


def _is_dots(node: cst.CSTNode) -> bool:
    return is_text(node) and not text_of(node).strip("./")
