"""Assignments with a type beside them, `best: float = 0.0`, read as if the type were not there.

What a name is bound to does not depend on its type, and so no question about a tree should have to know two forms. In
the body of a class such lines declare fields, which is another thing: they stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst
from libcst.metadata import CodeSpan

from outlast.migrate.tree import children

#: what may have lines somewhere below
_HOLDERS = (cst.BaseCompoundStatement, cst.BaseSuite, cst.Else, cst.Finally, cst.ExceptHandler, cst.MatchCase)
Spans = Mapping[cst.CSTNode, CodeSpan]


def without_types(module: cst.Module, spans: Spans) -> dict[cst.CSTNode, CodeSpan]:
    """Take the types out of a tree, in place; the spans of all its nodes as they are then."""
    found = dict(spans)
    for line in _lines(module):
        plain = [_plain(each, found) for each in line.body]
        if any(new is not old for new, old in zip(plain, line.body, strict=True)):
            # Nobody else holds this tree yet, and a changed copy would have no places in the text.
            object.__setattr__(line, "body", plain)
    return found


def _lines(node: cst.CSTNode) -> Iterator[cst.SimpleStatementLine]:
    """Lines of functions and of the module, not those right in a class."""
    for each in children(node):
        if isinstance(each, cst.SimpleStatementLine):
            yield each
        elif isinstance(each, cst.ClassDef):
            for part in each.body.body:
                yield from _lines(part) if isinstance(part, cst.BaseCompoundStatement) else ()
        elif isinstance(each, _HOLDERS):
            yield from _lines(each)


def _plain(statement: cst.BaseSmallStatement, spans: dict[cst.CSTNode, CodeSpan]) -> cst.BaseSmallStatement:
    if not isinstance(statement, cst.AnnAssign):
        return statement
    if statement.value is None:
        nothing = cst.Pass(semicolon=statement.semicolon)
        spans[nothing] = spans[statement]
        return nothing
    target = cst.AssignTarget(statement.target)
    assign = cst.Assign([target], statement.value, semicolon=statement.semicolon)
    spans[target], spans[assign] = spans[statement.target], spans[statement]
    return assign
