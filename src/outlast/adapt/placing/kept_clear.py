"""Options of places where nothing may lie yet, so no data: `if args.root.exists(): parser.error("it is there")`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.whole import files_of
from outlast.migrate.tree import positional, tail

_ASKS = frozenset({"exists", "lexists", "isdir", "is_dir"})
_ENDS = frozenset({"exit", "_exit", "quit", "error"})


def kept_clear(draft: Draft) -> frozenset[str]:
    """The names of such options and other places."""
    return frozenset(
        name
        for each in files_of(draft)
        for node in each.nodes
        if isinstance(node, cst.If) and _ends(each, node)
        for name in _asked(each, node.test)
    )


def _ends(draft: Draft, node: cst.If) -> bool:
    inside = list(draft.below(node.body))
    is_left = any(isinstance(each, cst.Raise) for each in inside)
    return is_left or any(isinstance(each, cst.Call) and tail(each.func) in _ENDS for each in inside)


def _asked(draft: Draft, test: cst.BaseExpression) -> Iterator[str]:
    for call in (each for each in (test, *draft.below(test)) if isinstance(each, cst.Call)):
        around = draft.parent(call)
        is_negated = isinstance(around, cst.UnaryOperation) and isinstance(around.operator, cst.Not)
        if tail(call.func) in _ASKS and isinstance(call.func, cst.Attribute) and not is_negated:
            yield tail(positional(call, 0) or call.func.value)
