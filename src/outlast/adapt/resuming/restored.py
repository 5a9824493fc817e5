"""Numbers that a script's own way to go on finds out, and its rounds ask for: a stint has those of the first one.

`if manager.latest_checkpoint:` `step = int(…)`, and then `if i < step: continue` in the rounds: where the lines that go
on here have put back an earlier state, that would leave out rounds that are still to be run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.behind import is_variable
from outlast.migrate.tree import tail

#: calls that bring back what was saved
LOADS = frozenset({"load_state_dict", "load_weights", "restore", "load_param_into_net", "load_checkpoint", "load"})
_NUMBERS = (cst.Integer, cst.Float, cst.UnaryOperation)


def found_out(
    draft: Draft,
    body: Sequence[cst.CSTNode],
    bindings: Mapping[str, Sequence[tuple[cst.CSTNode, cst.BaseExpression | None]]],
) -> set[str]:
    """Names that the rounds read, are numbers by themselves, and are others where something was loaded."""
    read = {node.value for node in body if isinstance(node, cst.Name) and is_variable(draft, node)}
    return {
        name for name, bound in bindings.items()
        if name in read and any(isinstance(value, _NUMBERS) for _, value in bound)
        and any(_is_loaded_with(draft, where) for where, value in bound if not isinstance(value, _NUMBERS))
    }  # fmt: skip


def _is_loaded_with(draft: Draft, where: cst.CSTNode) -> bool:
    """Whether a statement stands in a branch that loads."""
    for each in draft.above(where):
        if isinstance(each, cst.FunctionDef):
            return False
        if isinstance(each, cst.If) and any(tail(call.func) in LOADS for call in draft.calls(each.body)):
            return True
    return False
