"""Functions of other files of a program."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import tail


def function_elsewhere(draft: Draft, call: cst.CSTNode | None) -> tuple[Draft, cst.FunctionDef] | None:
    """The function of another file of the program that a call calls by its name, where there is just one."""
    name = tail(call.func) if isinstance(call, cst.Call) and draft.resolve(call.func) else ""
    found = [
        (other, each) for other in draft.others if name for each in other.module.body
        if isinstance(each, cst.FunctionDef) and each.name.value == name
    ]  # fmt: skip
    return found[0] if len(found) == 1 else None
