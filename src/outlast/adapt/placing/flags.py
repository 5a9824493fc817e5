"""What is written only in starts with a flag: others find it there, or must be brought it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from outlast.adapt.arguments.namespaces import calls_of
from outlast.adapt.draft import Draft
from outlast.migrate.tree import dotted

_DEPTH = 6


def is_flagged(draft: Draft, node: cst.CSTNode, other: cst.CSTNode, options: Collection[str]) -> bool:
    """Whether a place runs only in starts with some flag, and another one in starts without it, too."""
    branches = {id(branch) for way in _ways(draft, other) for branch in way}
    return all(
        any(id(branch) not in branches and _is_flag(draft, branch, options) for branch in way)
        for way in _ways(draft, node)
    )


def _ways(draft: Draft, node: cst.CSTNode, depth: int = _DEPTH) -> Iterator[list[cst.CSTNode]]:
    """The branches around a place and around the calls that lead to it, for each way there."""
    inside: list[cst.CSTNode] = []
    at, function = node, None
    for each in draft.above(node):
        if isinstance(each, cst.FunctionDef):
            function = each
            break
        if (isinstance(each, cst.If) and each.body is at) or isinstance(each, cst.Else):
            inside.append(at if isinstance(each, cst.If) else each)
        at = each
    calls = list(calls_of(draft, function)) if function is not None and depth else []
    if not calls:
        yield inside
    for call in calls:
        yield from ([*inside, *way] for way in _ways(draft, call, depth - 1))


def _is_flag(draft: Draft, branch: cst.CSTNode, options: Collection[str]) -> bool:
    """Whether only options, or constants that are true or false, decide about a branch."""
    around = draft.parent(branch)
    if not isinstance(around, cst.If):
        return False
    nodes = [around.test, *draft.below(around.test)]
    named = [node for node in nodes if isinstance(node, cst.Name) and not _is_part(draft, node)]
    is_plain = not any(isinstance(node, cst.Call) for node in nodes)
    return (
        is_plain
        and bool(named)
        and all(name.value in ("True", "False", "None") or _is_option(draft, name, options) for name in named)
    )


def _is_part(draft: Draft, node: cst.Name) -> bool:
    parent = draft.parent(node)
    return isinstance(parent, cst.Attribute) and parent.attr is node


def _is_option(draft: Draft, name: cst.Name, options: Collection[str]) -> bool:
    parent = draft.parent(name)
    if isinstance(parent, cst.Attribute):
        return parent.attr.value in options
    lines = [line for each in draft.module.body if isinstance(each, cst.SimpleStatementLine) for line in each.body]
    set_to = [
        line.value
        for line in lines
        if isinstance(line, cst.Assign) and any(dotted(each.target) == name.value for each in line.targets)
    ]
    is_constant = len(set_to) == 1 and isinstance(set_to[0], cst.Name) and set_to[0].value in ("True", "False")
    return name.value in options or is_constant
