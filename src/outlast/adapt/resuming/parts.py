"""What an assignment binds to what."""

from __future__ import annotations

import libcst as cst

from outlast.migrate.tree import dotted


def targets_in(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """What a node assigns to, each place by itself: `losses[i]` and `best` of `losses[i], best = run()`."""
    waiting: list[cst.BaseExpression] = [node.target] if isinstance(node, cst.AssignTarget | cst.AugAssign) else []
    found: list[cst.BaseExpression] = []
    while waiting:
        target = waiting.pop(0)
        if isinstance(target, cst.Tuple | cst.List):
            waiting = [*(each.value for each in target.elements), *waiting]
        else:
            found.append(target)
    return found


def parts_of(
    target: cst.CSTNode, value: cst.BaseExpression | None, *, fields: bool = False
) -> dict[str, cst.BaseExpression | None]:
    """Names that an assignment binds, each with its part of the value where that can be told apart."""
    if isinstance(target, cst.Name) or (fields and isinstance(target, cst.Attribute)):
        return {dotted(target): value}
    if isinstance(target, cst.Tuple | cst.List):
        same = isinstance(value, cst.Tuple) and len(value.elements) == len(target.elements)
        found = {}
        for at, element in enumerate(target.elements):
            part = value.elements[at].value if same and isinstance(value, cst.Tuple) else value
            found.update(parts_of(element.value, part, fields=fields))
        return found
    return {}


def is_none(value: cst.CSTNode | None) -> bool:
    return isinstance(value, cst.Name) and value.value == "None"


def has_none(value: cst.CSTNode | None) -> bool:
    return is_none(value) or (isinstance(value, cst.IfExp) and (has_none(value.body) or has_none(value.orelse)))


def chosen(value: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """What a value is when it is made: the call in `Scaler() if fast else None`."""
    if isinstance(value, cst.IfExp):
        return next((each for each in (value.body, value.orelse) if isinstance(each, cst.Call)), value)
    return value
