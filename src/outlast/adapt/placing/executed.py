"""Places that the text of another file may set anew: `exec(open("settings.py").read())` behind `out_dir = "out"`."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.arguments.setup import Value
from outlast.adapt.draft import Draft
from outlast.migrate.tree import dotted


def set_again(draft: Draft, literal: cst.BaseExpression, value: Value) -> None:
    """Let a name that is the contract's folder be that one behind such a line, too."""
    line = draft.parent(literal)
    target = line.targets[0].target if isinstance(line, cst.Assign) and len(line.targets) == 1 else None
    if not isinstance(target, cst.Name) or not isinstance(draft.scope(literal), cst.Module):
        return
    behind = [each for each in draft.module.body if draft.start(each) > draft.start(literal) and _executes(draft, each)]
    if behind:
        given = value.at(behind[-1])
        draft.add_after(behind[-1], [f"if {given}:", f"    {target.value} = {given}"])


def _executes(draft: Draft, statement: cst.CSTNode) -> bool:
    """Whether a line of the script itself runs a text among the script's own names."""
    return any(
        dotted(call.func) == "exec" and len(call.args) == 1 and isinstance(draft.scope(call), cst.Module)
        for call in draft.calls(statement)
    )
