"""Callbacks that libraries bring for MindSpore, and what they gather: the best value, rounds without a better one."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.state import RULE
from outlast.adapt.whole import calls_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import tail

#: class → fields that its epochs change
_FIELDS = {
    "ValAccMonitor": ("best_res",),
    "EarlyStopping": ("best", "wait"),
    "ReduceLROnPlateau": ("best", "cooldown_counter", "wait"),
}
_ROOTS = ("mindspore", "mindvision")
#: they begin these anew where a training begins, which a second stint does as well
_RESET = frozenset({"EarlyStopping", "ReduceLROnPlateau"})


def library_fields(draft: Draft) -> list[str]:
    """Fields of such callbacks that the program makes."""
    return sorted({field for name in _made(draft) for field in _FIELDS[name]})


def are_begun_anew(draft: Draft) -> bool:
    return any(name in _RESET for name in _made(draft))


def say_unknown(draft: Draft, statement: cst.CSTNode, callbacks: cst.BaseExpression | None) -> None:
    """Name those of other libraries: what they count and compare is not known."""
    for element in callbacks.elements if isinstance(callbacks, cst.List) else ():
        made = element.value.func if isinstance(element.value, cst.Call) else None
        root = draft.resolve(made).partition(".")[0]
        if root and root not in (*_ROOTS, *draft.seen):
            said = f"what {tail(made)} of another library counts and compares starts anew in each stint"
            draft.say(Kind.DIFFERS, RULE, statement, said, "look at its first results after a stop")


def _made(draft: Draft) -> Iterator[str]:
    for name, call in calls_of(draft):
        if tail(call.func) in _FIELDS and name.partition(".")[0] in _ROOTS:
            yield tail(call.func)
