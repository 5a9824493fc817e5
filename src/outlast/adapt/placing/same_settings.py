"""Settings that functions hand to each other: `config["data"]` there is `loaded["data"]` here."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.arguments.namespaces import Namespaces
from outlast.adapt.draft import Draft
from outlast.migrate.tree import inner


def settings_name(draft: Draft, node: cst.CSTNode) -> str:
    """An entry of settings by the name that they have where the file gets them; as it is written for anything else."""
    keys: list[str] = []
    at = node
    while isinstance(at, cst.Subscript):
        index = at.slice[0].slice if len(at.slice) == 1 else None
        if not isinstance(index, cst.Index) or not inner(index.value):
            return draft.source(node)
        keys.insert(0, inner(index.value))
        at = at.value
    if not keys or not isinstance(at, cst.Name):
        return draft.source(node)
    function = draft.scope(node)
    name = at.value
    if isinstance(function, cst.FunctionDef) and any(each.name.value == name for each in function.params.params):
        name = next((target for target, call in _got(draft) if Namespaces(draft, call).at(node) == name), name)
    return f"{name}[{']['.join(map(repr, keys))}]"


def _got(draft: Draft) -> Iterator[tuple[str, cst.Call]]:
    """Names that are given what a call returns."""
    for node in draft.nodes:
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call) and len(node.targets) == 1:
            target = node.targets[0].target
            yield from [(target.value, node.value)] if isinstance(target, cst.Name) else []
