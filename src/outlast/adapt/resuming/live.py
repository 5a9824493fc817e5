"""Which functions of a script are run at all: what nobody calls any more often stands beside what is."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.migrate.tree import tail

#: by these a function is found that no line names
_FINDS = frozenset({"globals", "eval", "exec", "getattr", "Fire"})
_OWN = re.compile(r"__\w+__")


def is_live(draft: Draft, scope: Scope, seen: frozenset[int] = frozenset()) -> bool:
    """Whether something that is run names a function, directly or through others; True for the module itself."""
    if not isinstance(scope, cst.FunctionDef) or _finds_by_name(draft):
        return True
    name = scope.name.value
    if scope.decorators or _OWN.fullmatch(name) or any(each.speaks_of(name) for each in draft.others):
        return True
    seen |= {id(scope)}
    named = (
        node for node in draft.nodes if isinstance(node, cst.Name) and node.value == name and node is not scope.name
    )
    return any(id(around) not in seen and is_live(draft, around, seen) for around in map(draft.scope, named))


def _finds_by_name(draft: Draft) -> bool:
    """`globals()[args.mode]()`, `fire.Fire()`; `model.eval()` is a method of something else."""
    return any(
        tail(call.func) in _FINDS and (isinstance(call.func, cst.Name) or tail(call.func) == "Fire")
        for call in draft.calls()
    )
