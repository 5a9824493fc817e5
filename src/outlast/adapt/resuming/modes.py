"""Models that the rounds leave in another mode than they were made in: a validation at the end calls `model.eval()`.

A training that is done is passed at once after a stop, and what follows would run with dropout; so would the next round
where none of them calls `model.train()`.
"""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.scopes import parameters
from outlast.adapt.resuming.uses import Uses
from outlast.migrate.tree import dotted, tail

#: what is the same in both modes
_SAME = frozenset({"state_dict", "parameters", "named_parameters", "to", "cpu", "save_pretrained"})


def find_modes(draft: Draft, values: Values, uses: Uses, loaded: Iterable[str]) -> tuple[str, ...]:
    """Models whose mode the rounds alone decide, and that are used behind them, or in the next round as they are."""
    blocks = [values.loop.node, *values.run_functions()]
    inside = {id(call) for block in blocks for call in draft.calls(block)}
    every = [call for each in (draft, *draft.others) for call in each.calls()]
    calls = [
        call for call in every if tail(call.func) == "eval" and isinstance(call.func, cst.Attribute) and not call.args
    ]
    told = {dotted(call.func).removesuffix(".eval") for call in calls}
    is_said = any(id(call) not in inside for call in calls)
    found = []
    for name in loaded:
        methods = uses.methods.get(name, set())
        is_left = "eval" in methods and "train" not in methods
        if is_left or (name in told and not is_said and _is_used(draft, values, name)):
            found.append(name)
    return tuple(found)


def _is_used(draft: Draft, values: Values, name: str) -> bool:
    scope, end = values.scope, draft.span(values.loop.top)[1]
    if isinstance(scope, cst.FunctionDef) and name in parameters(scope):
        return True  # whoever has passed it has it still
    for node in draft.below(scope):
        if isinstance(node, cst.Name | cst.Attribute) and dotted(node) == name and draft.start(node) > end:
            parent = draft.parent(node)
            if not (isinstance(parent, cst.Attribute) and parent.attr.value in _SAME):
                return True
    return False


def mode_pairs(modes: Iterable[str]) -> list[str]:
    return [f'"{name}.training": {name}.training' for name in modes]


def mode_lines(modes: Iterable[str], state: str) -> list[str]:
    return [f'    {name}.train({state}["{name}.training"])' for name in modes]
