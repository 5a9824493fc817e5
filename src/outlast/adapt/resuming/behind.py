"""What is read behind a loop: names that get another value there first need none of the loop's."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from outlast.adapt.draft import Draft


def is_variable(draft: Draft, node: cst.Name) -> bool:
    """Whether a name is that of a variable: neither a field (`batch.loss`) nor a keyword (`f(loss=1)`)."""
    parent = draft.parent(node)
    is_field = isinstance(parent, cst.Attribute) and parent.attr is node
    return not is_field and not (isinstance(parent, cst.Arg) and parent.keyword is node)


def bound_anew(draft: Draft, uses: Sequence[cst.Name]) -> bool:
    """Whether the first of these uses of one name binds it, in the block of all the others.

    `for images, labels in test_loader:` does so, and in its block `outputs = model(images)`.
    """
    uses = sorted(uses, key=draft.start)
    binder = _binder(draft, uses[0])
    if binder is None:
        return False
    block = draft.parent(draft.statement(binder))
    given = (
        binder.iter
        if isinstance(binder, cst.For)
        else binder.item
        if isinstance(binder, cst.WithItem)
        else binder.value
    )
    read = {id(node) for node in (given, *draft.below(given))}
    return not any(id(use) in read for use in uses) and all(
        any(each is block for each in draft.above(use)) for use in uses
    )


def _binder(draft: Draft, node: cst.Name) -> cst.Assign | cst.For | cst.WithItem | None:
    """The assignment, loop or `with` whose target a name is, or a part of: `a`, `(a, b)`, no `a[0]`."""
    before: cst.CSTNode = node
    for each in draft.above(node):
        if isinstance(each, cst.AssignTarget):
            parent = draft.parent(each)
            return parent if isinstance(parent, cst.Assign) else None
        if isinstance(each, cst.AsName):
            parent = draft.parent(each)
            return parent if isinstance(parent, cst.WithItem) else None
        if isinstance(each, cst.For):
            return each if each.target is before else None
        if not isinstance(each, cst.Tuple | cst.List | cst.Element):
            return None
        before = each
    return None
