"""Folders that lie beside one of data, below the code: where one follows the option, the other must do so as well.

LABELS = os.path.join(HERE, "corpus", "labels")
SOUNDS = os.path.join(HERE, "corpus", "sounds")
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.roles import RESULTS
from outlast.adapt.placing.sources import Use
from outlast.migrate.tree import inner

if TYPE_CHECKING:
    from outlast.adapt.placing.paths import Paths

_SUFFIX = re.compile(r"\.[A-Za-z]\w{0,5}$")


def add_siblings(draft: Draft, found: Paths) -> None:
    """Take what is only kept under a name for data, where it lies in one folder with data and nothing else does."""
    uses = {key: use for use in found.others.get(Role.DATA, ()) if (key := _folder_of(draft, use.other))}
    taken = {_folder_of(draft, use.other) for role in (Role.OUTPUT, Role.WEIGHTS) for use in found.others.get(role, ())}
    known = {id(node) for node in found.nodes()}
    for node in draft.nodes:
        value = node.value if isinstance(node, cst.Assign | cst.AnnAssign) else None
        folder = _folder_of(draft, value)
        if not folder or folder not in uses or folder in taken or id(value) in known:
            continue
        last = _parts(draft, value)[-1]
        is_result = RESULTS.search(last) is not None
        is_seen = any(id(each) in known | found.known for each in draft.below(node))
        if isinstance(value, cst.BaseExpression) and not is_result and not is_seen:
            found.others[Role.DATA].append(_like(uses[folder], value, is_folder=not _SUFFIX.search(last)))


def _like(use: Use, value: cst.BaseExpression, *, is_folder: bool) -> Use:
    return replace(use, other=value, is_folder=is_folder)


def _folder_of(draft: Draft, node: cst.CSTNode | None) -> tuple[str, ...]:
    """What a path begins with and the folders that are written behind it; empty where no folder is."""
    parts = _parts(draft, node)
    return tuple(parts[:-1]) if len(parts) > 2 else ()


def _parts(draft: Draft, node: cst.CSTNode | None) -> list[str]:
    """`HERE`, `corpus`, `labels` of a path that is put together from one expression and texts."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide):
        before = _parts(draft, node.left) or [draft.source(node.left)]
        return [*before, inner(node.right).strip("/")] if inner(node.right) else []
    if isinstance(node, cst.Call) and draft.resolve(node.func) == "os.path.join" and node.args:
        first, *rest = (arg.value for arg in node.args)
        texts = [part for each in rest for part in inner(each).strip("/").split("/")]
        return [draft.source(first), *texts] if all(map(inner, rest)) and not inner(first) else []
    return []
