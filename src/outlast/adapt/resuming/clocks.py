"""What tells the time, and texts of it."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import dotted, tail

_CLOCKS = frozenset(
    {
        "time.time", "time.localtime", "time.gmtime", "time.strftime", "time.ctime", "time.asctime", "time.time_ns",
        "datetime.datetime.now", "datetime.datetime.today", "datetime.datetime.utcnow", "datetime.date.today",
    }
)  # fmt: skip
_TEXTS = frozenset({"strftime", "isoformat", "ctime", "asctime"})
#: name → what it is bound to
Bound = dict[str, list[cst.BaseExpression]]


def is_stamp(draft: Draft, call: cst.Call, bound: Bound) -> bool:
    """Whether a call makes a text of the time."""
    own = next((each for each in draft.functions() if each.name.value == dotted(call.func)), None)
    if own is not None and not call.args:  # `def stamp(): return datetime.now().strftime("%H%M")`
        given = [node.value for node in draft.below(own) if isinstance(node, cst.Return)]
        return bool(given) and all(isinstance(each, cst.Call) and is_stamp(draft, each, {}) for each in given)
    if draft.resolve(call.func) == "str":
        return has_clock(draft, call)
    if tail(call.func) == "format" and call.args:
        return all(isinstance(arg.value, cst.Attribute) and is_clock(draft, arg.value, bound) for arg in call.args)
    is_named = isinstance(call.func, cst.Attribute) and is_clock(draft, call.func.value, bound)
    return tail(call.func) in _TEXTS and (has_clock(draft, call) or is_named)


def has_clock(draft: Draft, node: cst.CSTNode) -> bool:
    calls = [*([node] if isinstance(node, cst.Call) else []), *draft.calls(node)]
    return any(draft.resolve(call.func) in _CLOCKS for call in calls)


def is_clock(draft: Draft, node: cst.CSTNode, bound: Bound) -> bool:
    """`now`, `now.year`, where `now = datetime.now()`."""
    values = bound.get(dotted(node).partition(".")[0], [])
    return bool(values) and all(
        isinstance(each, cst.Call) and has_clock(draft, each) and not is_stamp(draft, each, {}) for each in values
    )
