"""Values that are no copies: `best = model.state_dict()` is the weights of the model, and changes with them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import libcst as cst

from outlast.adapt.resuming.loops import Values
from outlast.migrate.tree import dotted, inner, tail

#: what gives a copy of its state
_COPIES = re.compile(r"opt|sched|scaler", re.I)


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


def with_weights(name: str, kept: str, values: Values, loaded: Collection[str]) -> str:
    """A dictionary from the checkpoint; what were the weights of a model in it before are these again.

    `state = {"model": model.state_dict(), "epoch": 0}`, of which a loop changes `state["epoch"]` and saves all.
    """
    held: dict[str, str] = {}
    for _, value in values.bindings.get(name, []):
        for each in value.elements if isinstance(value, cst.Dict) else ():
            made = each.value if isinstance(each, cst.DictElement) else None
            if isinstance(made, cst.Call) and isinstance(made.func, cst.Attribute) and tail(made.func) == "state_dict":
                model = dotted(made.func.value)
                key = inner(each.key) if isinstance(each, cst.DictElement) else ""
                held |= {key: model} if key and model in loaded and not _COPIES.search(model) else {}
    if not held:
        return kept
    pairs = ", ".join(f'"{key}": {model}.state_dict()' for key, model in held.items())
    return f"{{**{kept}, **{{key: each for key, each in {{{pairs}}}.items() if key in {kept}}}}}"
