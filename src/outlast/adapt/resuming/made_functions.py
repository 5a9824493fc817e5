"""Functions that a function of the program makes: `rate = make_rate(0.1)`. No file can hold them."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.elsewhere import function_elsewhere
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.refusal import Refusal
from outlast.migrate.tree import dotted, tail


def refuse_functions(draft: Draft, values: Values, kept: Sequence[str]) -> None:
    """Where a round makes such a one anew, the next stint would need it."""
    for node in draft.below(values.loop.node.body):
        if not isinstance(node, cst.Assign) or not isinstance(node.value, cst.Call):
            continue
        names = {dotted(target.target) for target in node.targets} & {*kept}
        if names and _makes_function(draft, node.value):
            said = f"{min(names)} is a function that {tail(node.value.func)} makes in some rounds: no file can hold it"
            raise Refusal(said, node, "make it in each round, of values that can be saved")


def _makes_function(draft: Draft, call: cst.Call) -> bool:
    own = [(draft, each) for each in draft.functions() if each.name.value == dotted(call.func)]
    found = own[0] if len(own) == 1 else function_elsewhere(draft, call)
    if found is None:
        return False
    home, function = found
    below = list(home.below(function.body))
    inner = {node.name.value for node in below if isinstance(node, cst.FunctionDef)}
    # `func = partial(rate, first)` holds the function that it is made of.
    partial = {
        tail(target.target) for node in below if isinstance(node, cst.Assign) and _is_partial(node.value, inner)
        for target in node.targets
    }  # fmt: skip
    given = [node.value for node in below if isinstance(node, cst.Return) and home.scope(node) is function]
    return any(
        isinstance(value, cst.Lambda) or _is_partial(value, inner)
        or (isinstance(value, cst.Name) and value.value in inner | partial)
        for value in given
    )  # fmt: skip


def _is_partial(value: cst.BaseExpression | None, inner: set[str]) -> bool:
    is_call = isinstance(value, cst.Call) and tail(value.func) == "partial" and bool(value.args)
    return is_call and isinstance(value, cst.Call) and tail(value.args[0].value) in inner
