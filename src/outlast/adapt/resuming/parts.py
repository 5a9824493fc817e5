"""What an assignment binds to what."""

from __future__ import annotations

import libcst as cst

from outlast.migrate.tree import dotted


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
