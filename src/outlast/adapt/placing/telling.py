"""Whether a value is only shown to somebody: it is printed or logged, or stands in what an error says."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.context import is_prose_call
from outlast.migrate.tree import tail


def is_told(draft: Draft, node: cst.CSTNode) -> bool:
    at = node
    for each in draft.above(node):
        is_printed = isinstance(each, cst.Call) and (is_prose_call(tail(each.func)) or _is_teller(draft, each))
        if is_printed or isinstance(each, cst.Raise) or (isinstance(each, cst.Assert) and each.msg is at):
            return True
        at = each
    return False


def _is_teller(draft: Draft, call: cst.Call) -> bool:
    """Whether a function of the program only tells what it is given: `def log(text): print(text)`."""
    name = tail(call.func)
    found = [
        (home, function)
        for home in (draft, *draft.others)
        for function in home.functions()
        if function.name.value == name
    ]
    return bool(found) and all(_only_tells(home, function) for home, function in found)


def _only_tells(home: Draft, function: cst.FunctionDef) -> bool:
    given = {param.name.value for param in function.params.params} - {"self", "cls"}
    loads = [
        each for each in home.below(function.body)
        if isinstance(each, cst.Name) and each.value in given and not isinstance(home.parent(each), cst.AssignTarget)
    ]  # fmt: skip
    return bool(loads) and all(_is_shown(home, function, each) for each in loads)


def _is_shown(home: Draft, function: cst.FunctionDef, node: cst.CSTNode) -> bool:
    for each in home.above(node):
        if each is function:
            return False
        if isinstance(each, cst.Call) and each.args and (is_prose_call(tail(each.func)) or tail(each.func) == "write"):
            # `path.write(text)` is written to.
            return not any(below is node for below in home.below(each.func))
    return False
