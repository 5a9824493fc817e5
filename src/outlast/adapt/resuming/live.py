"""Which functions of a script are run at all: what nobody calls any more often stands beside what is."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.migrate.tree import inner, positional, tail

#: by these a function is found that no line names
_FINDS = frozenset({"globals", "eval", "exec", "getattr", "Fire"})
_OWN = re.compile(r"__\w+__")
#: `tf.app.run()`, a script of a package: called from outside
_START = "main"


def is_live(draft: Draft, scope: Scope) -> bool:
    """Whether something that is run names a function, directly or through others; True for the module itself."""
    if not isinstance(scope, cst.FunctionDef) or _finds_by_name(draft):
        return True
    waiting: list[Scope] = [scope]
    seen: set[int] = set()
    while waiting:
        at = waiting.pop()
        if not isinstance(at, cst.FunctionDef) or _is_asked_for(draft, at):
            return True
        if id(at) not in seen:
            seen.add(id(at))
            waiting += (draft.scope(node) for node in _naming(draft, at))
    return False


def _is_asked_for(draft: Draft, function: cst.FunctionDef) -> bool:
    name = function.name.value
    is_known = name == _START or bool(_OWN.fullmatch(name)) or bool(function.decorators)
    return is_known or any(each.speaks_of(name) for each in draft.others)


def _naming(draft: Draft, function: cst.FunctionDef) -> list[cst.CSTNode]:
    """Words that are the name of a function, and texts that somebody may look it up by."""
    name = function.name.value
    words = (node for node in draft.named(name) if node is not function.name)
    return [*words, *(text for text in draft.of(cst.SimpleString) if inner(text) == name)]


def idle_functions(draft: Draft) -> list[cst.FunctionDef]:
    """Functions of a script that nothing runs, where it runs something else."""
    functions = [each for each in draft.module.body if isinstance(each, cst.FunctionDef)]
    idle = [each for each in functions if not is_live(draft, each)]
    return idle if len(idle) < len(functions) or any(map(_does_something, draft.module.body)) else []


def _does_something(line: cst.CSTNode) -> bool:
    """Whether a line of the module is more than a definition, an import or a value."""
    if isinstance(line, cst.SimpleStatementLine):
        return any(isinstance(each, cst.Expr) and isinstance(each.value, cst.Call) for each in line.body)
    return isinstance(line, cst.For | cst.While | cst.With)


def _finds_by_name(draft: Draft) -> bool:
    """`globals()[args.mode]()`, `fire.Fire()`; `model.eval()` is a method of something else."""
    return any(
        tail(call.func) in _FINDS
        and (isinstance(call.func, cst.Name) or tail(call.func) == "Fire")
        and not (tail(call.func) == "getattr" and isinstance(positional(call, 1), cst.SimpleString))
        for call in draft.calls()
    )
