"""Values that are no copies: `best = model.state_dict()` is the weights of the model, and changes with them."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from outlast.adapt.resuming.loops import Values
from outlast.migrate.tree import dotted, tail


def weights_of(name: str, values: Values, models: Iterable[str]) -> str:
    """The one of these models whose weights every round that sets a value gives to it as they are; else nothing."""
    set_to = [
        node.value
        for node in values.draft.below(values.loop.node.body)
        if isinstance(node, cst.Assign) and any(dotted(each.target) == name for each in node.targets)
    ]
    owners = {
        dotted(value.func.value) if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) else ""
        for value in set_to
    }
    is_state = all(isinstance(each, cst.Call) and tail(each.func) == "state_dict" for each in set_to)
    return next(iter(owners)) if is_state and len(owners) == 1 and owners <= set(models) else ""
