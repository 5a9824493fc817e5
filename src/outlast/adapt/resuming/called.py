"""What calls and targets are of: a function among many of one name, the whole that a part belongs to."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import tail


def whole_of(node: cst.BaseExpression) -> cst.BaseExpression:
    """`self.history` of `self.history[key][0]`: what changes where a part of it does."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return node


def only_class(draft: Draft) -> str:
    """The class that a file finds by a name that it puts together: `getattr(import_module("models." + kind), kind)`.

    Of all that lie there, the one that is built on another of them and is no base itself; none where several are.
    """
    every = [node for each in draft.composed for node in each.module.body if isinstance(node, cst.ClassDef)]
    names = {node.name.value for node in every}
    bases = {tail(base.value) for node in every for base in node.bases}
    built = [node.name.value for node in every if any(tail(base.value) in names for base in node.bases)]
    found = [name for name in (built or names) if name not in bases]
    return found[0] if len(found) == 1 else ""
