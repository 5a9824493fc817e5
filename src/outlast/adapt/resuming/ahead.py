"""What a round takes from before it, beside what it changes: a batch fetched ahead, a count of a checkpoint."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.parts import parts_of
from outlast.migrate.tree import dotted, tail

#: what gives the next value again and again cannot be put into a file
_ENDLESS = re.compile(r"iter|load|stream|generat|queue|^next$|^open", re.I)


def fetched_ahead(values: Values) -> dict[str, cst.Call]:
    """Fields that hold what the next round uses: set by a call before the loop, and by the same one in each round."""
    draft = values.draft
    start, (_, end) = draft.start(values.loop.node), draft.span(values.loop.node)
    before: dict[str, cst.Call] = {}
    found: dict[str, cst.Call] = {}
    for node in draft.below(values.scope) if isinstance(values.scope, cst.FunctionDef) else ():
        if not isinstance(node, cst.Assign) or not isinstance(node.value, cst.Call) or draft.start(node) >= end:
            continue
        name = tail(node.value.func)
        for target in node.targets:
            for field in parts_of(target.target, node.value, fields=True):
                if draft.start(node) < start:
                    before[field] = node.value
                elif "." in field and field in before and tail(before[field].func) == name:
                    found[field] = before[field]
    return {field: call for field, call in found.items() if not _ENDLESS.search(tail(call.func))}


def loaded_before(values: Values) -> list[str]:
    """Names that the script's own checkpoint gives another value, and that its rounds only read.

    `done = state["epochs"]`: after a stop they would come from a later checkpoint than the one the rounds count from.
    """
    draft, loop = values.draft, values.loop
    over = loop.node.iter if isinstance(loop.node, cst.For) else loop.node.test
    first = {id(each) for each in (loop.first, *draft.below(loop.first))} if loop.first is not None else set()
    read = {
        each.value
        for each in (over, *draft.below(over))
        if isinstance(each, cst.Name) and id(each) not in first
    }  # fmt: skip
    found = []
    for name, bindings in values.bindings.items():
        if name in values.changed or len(bindings) < 2 or not (name in read or values.is_used(name)):
            continue
        loaded = [where for where, value in bindings if _is_loaded(values, value)]
        if loaded and values.is_surely_there(name) and not any(map(values.is_sure, loaded)):
            found.append(name)
    return found


def _is_loaded(values: Values, value: cst.BaseExpression | None) -> bool:
    """`state["epochs"] + 1`, where `state = torch.load(path)`."""
    for node in (value, *values.draft.below(value)) if value is not None else ():
        is_part = isinstance(node, cst.Subscript) or (isinstance(node, cst.Call) and tail(node.func) == "get")
        owner = node.value if isinstance(node, cst.Subscript) else node.func if isinstance(node, cst.Call) else None
        origin = values.origins.get(dotted(owner).partition(".")[0]) if is_part and owner is not None else None
        if isinstance(origin, cst.Call) and "load" in tail(origin.func):
            return True
    return False
