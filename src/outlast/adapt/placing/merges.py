"""Settings that a file is merged into: `cfg.merge_from_file(args.config)`, as yacs and its kin do it.

What stands in the program is only a default; the file's values come later. So the contract's folders are set behind
the last merge, and before the settings are frozen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.namespaces import called_name, parameters_of
from outlast.adapt.draft import Draft
from outlast.migrate.tree import argument, positional, tail

_MERGES = frozenset({"merge_from_file", "merge_from_list", "merge_from_other_cfg"})


@dataclass(frozen=True)
class Merge:
    """Where settings have all their values: the last call that gives them some, or the one that freezes them."""

    name: str
    call: cst.Call
    is_ahead: bool = False  # lines must stand before it
    is_frozen: bool = False  # a function of another file has frozen them

    def put(self, draft: Draft, lines: Sequence[str]) -> None:
        test, *rest = lines
        if self.is_frozen:
            rest = [f"    {self.name}.defrost()", *rest, f"    {self.name}.freeze()"]
        line = _line(draft, self.call)
        (draft.add_before if self.is_ahead else draft.add_after)(line, [test, *rest])


def find_merges(draft: Draft) -> dict[str, Merge]:
    """Names of settings that a file is merged into, in this file or by a function that it calls."""
    found: dict[str, Merge] = {}
    for call in draft.calls():
        owner = call.func.value if isinstance(call.func, cst.Attribute) else None
        if isinstance(owner, cst.Name) and tail(call.func) in _MERGES:
            found[owner.value] = Merge(owner.value, call)
    for name, merge in list(found.items()):
        scope = draft.scope(merge.call)
        frozen = [
            call for call in draft.calls()
            if tail(call.func) == "freeze" and isinstance(call.func, cst.Attribute) and tail(call.func.value) == name
            and draft.scope(call) is scope and draft.start(call) > draft.start(merge.call)
        ]  # fmt: skip
        if frozen:
            found[name] = Merge(name, frozen[0], is_ahead=True)
    for call, given, is_frozen in _elsewhere(draft):
        found.setdefault(given, Merge(given, call, is_frozen=is_frozen))
    return found


def _elsewhere(draft: Draft) -> Iterator[tuple[cst.Call, str, bool]]:
    """Calls of functions of other files that merge a file into what they are given."""
    for other in draft.others:
        for function in other.functions():
            merged = {
                tail(call.func.value) for call in other.calls(function)
                if isinstance(call.func, cst.Attribute) and tail(call.func) in _MERGES
            } & set(parameters_of(function))  # fmt: skip
            frozen = {
                tail(call.func.value) for call in other.calls(function)
                if isinstance(call.func, cst.Attribute) and tail(call.func) == "freeze"
            }  # fmt: skip
            for call in draft.calls() if len(merged) == 1 else ():
                name = next(iter(merged))
                named = argument(call, name)
                value = named.value if named is not None else positional(call, parameters_of(function).index(name))
                if tail(call.func) == called_name(other, function) and isinstance(value, cst.Name):
                    yield call, value.value, name in frozen


def _line(draft: Draft, node: cst.CSTNode) -> cst.CSTNode:
    """The statement of a function's own block that holds a call: a merge may stand under a condition."""
    scope = draft.scope(node)
    body = scope.body if isinstance(scope, cst.FunctionDef) else None
    chain = [node, *draft.above(node)]
    for at, each in enumerate(chain):
        if each is body or isinstance(each, cst.Module):
            return chain[at - 1]
    return draft.statement(node)
