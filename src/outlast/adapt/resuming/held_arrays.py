"""Arrays that something else holds as well: `rows = TensorDataset(points, labels)`, where rounds set `labels[4]`."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.resuming.arrays import is_array
from outlast.adapt.resuming.loops import Values
from outlast.migrate.tree import tail


def is_held_elsewhere(values: Values, name: str) -> bool:
    """Whether an array must be filled where it lies, as what was made of it before the loop looks into it."""
    if (
        name not in values.filled
        or name in values.bound
        or not is_array(values.draft, values.bindings, values.origins.get(name))
    ):
        return False
    draft, start = values.draft, values.draft.start(values.loop.node)
    return any(
        isinstance(arg.value, cst.Name) and arg.value.value == name
        for node in draft.below(values.scope)
        if isinstance(node, cst.Assign) and draft.scope(node) is values.scope and draft.start(node) < start
        and all(tail(target.target) != name for target in node.targets)
        for call in draft.calls(node)
        for arg in call.args
    )  # fmt: skip
