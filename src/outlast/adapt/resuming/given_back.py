"""Containers that a function of the program gives back: `start, losses = load(path)`, with `return 0, []` in it."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.scopes import seen_elsewhere
from outlast.migrate.tree import tail


def is_container_given_back(draft: Draft, values: Values, name: str) -> bool:
    """Whether what a name is bound to before the loop is a new list, dictionary or set, where there is nothing else."""
    functions = {**seen_elsewhere(draft, cst.FunctionDef), **{each.name.value: each for each in draft.functions()}}
    for where, value in values.bindings.get(name, ()):
        function = functions.get(tail(value.func)) if isinstance(value, cst.Call) else None
        at = _place(where, name)
        if function is None or at is None:
            continue
        given = [node.value for node in draft.home(function).below(function) if isinstance(node, cst.Return)]
        parts = [
            each.elements[at].value
            for each in given
            if isinstance(each, cst.Tuple) and at < len(each.elements)
        ] if at >= 0 else given  # fmt: skip
        if any(isinstance(each, cst.List | cst.Dict | cst.Set | cst.ListComp | cst.DictComp) for each in parts):
            return True
    return False


def _place(statement: cst.CSTNode, name: str) -> int | None:
    """Where a name stands among those that an assignment binds; -1 where it is the only one."""
    line = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    target = line.targets[0].target if isinstance(line, cst.Assign) and len(line.targets) == 1 else None
    if isinstance(target, cst.Name):
        return -1
    parts = [tail(each.value) for each in target.elements] if isinstance(target, cst.Tuple | cst.List) else []
    return parts.index(name) if name in parts else None
