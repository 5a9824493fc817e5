"""Whether a name has a value behind branches, whichever of them was taken."""

from __future__ import annotations

import re
from collections.abc import Collection

import libcst as cst

from outlast.migrate.tree import tail

#: calls behind which nothing is run: `sys.exit(…)`, `parser.error(…)`
_ENDS = re.compile(r"_?exit|quit|error|abort|fail|usage")


def is_made_by(node: cst.CSTNode, made: Collection[int]) -> bool:
    """Whether a statement that is run runs one of these (by id) too, or ends."""
    if id(node) in made:
        return True
    if isinstance(node, cst.If):
        return node.orelse is not None and is_made_by(node.body, made) and is_made_by(node.orelse, made)
    if isinstance(node, cst.Else | cst.With):
        return is_made_by(node.body, made)
    if isinstance(node, cst.Try):
        each = [is_made_by(handler.body, made) for handler in node.handlers]
        return is_made_by(node.body, made) and all(each)
    if isinstance(node, cst.IndentedBlock):
        return any(is_made_by(each, made) or _ends(each) for each in node.body)
    return False


def _ends(statement: cst.CSTNode) -> bool:
    lines = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
    return any(
        isinstance(line, cst.Raise | cst.Return)
        or (
            isinstance(line, cst.Expr)
            and isinstance(line.value, cst.Call)
            and bool(_ENDS.fullmatch(tail(line.value.func)))
        )
        for line in lines
    )
