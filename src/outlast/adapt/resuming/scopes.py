"""Classes and functions of a program by their names, and the names that a function has."""

from __future__ import annotations

from typing import TypeVar

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.migrate.tree import tail

_Named = TypeVar("_Named", cst.ClassDef, cst.FunctionDef)


def own_classes(draft: Draft) -> dict[str, cst.ClassDef]:
    return {each.name.value: each for each in draft.of(cst.ClassDef)}


def seen_elsewhere(draft: Draft, kind: type[_Named]) -> dict[str, _Named]:
    """Classes or functions that other files of the program have at their top and run, where only one has that name."""
    found: dict[str, list[_Named]] = {}
    for other in draft.others:
        for node in other.of(kind):
            if isinstance(other.parent(node), cst.Module):
                found.setdefault(node.name.value, []).append(node)
    return {name: nodes[0] for name, nodes in found.items() if len(nodes) == 1}


def parameters(function: cst.FunctionDef) -> list[str]:
    return [param.name.value for param in (*function.params.params, *function.params.kwonly_params)]


def is_method(draft: Draft, function: cst.FunctionDef) -> bool:
    around = draft.parent(function)
    home = draft.parent(around) if around is not None else None
    is_static = any(tail(each.decorator) == "staticmethod" for each in function.decorators)
    return isinstance(home, cst.ClassDef) and not is_static


def global_names(draft: Draft, scope: Scope) -> set[str]:
    return {
        tail(item.name)
        for node in draft.below(scope)
        if isinstance(node, cst.Global) and draft.scope(node) is scope
        for item in node.names
    }
