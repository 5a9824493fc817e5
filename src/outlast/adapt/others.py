"""Paths that come from a configuration elsewhere: they give way to the contract's option where they are used."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.flow import Use
from outlast.adapt.needs import Role
from outlast.adapt.setup import Value
from outlast.adapt.sites import enclosed
from outlast.migrate.engine import Kind
from outlast.migrate.tree import inner, tail


def replace_others(draft: Draft, role: Role, uses: Sequence[Use], given: Value, name: str) -> None:
    """One folder is the option's; a file, or one of several folders, is what has its name there."""
    nodes = {id(use.other): use.other for use in uses if use.other is not None}
    folders = {id(use.other) for use in uses if use.is_folder}
    spelled = {draft.source(node) for node in nodes.values()}
    if role is Role.WEIGHTS and len(spelled) > 1:
        first = next(iter(nodes.values()))
        said = f"{', '.join(sorted(spelled))} each take weights, and --{name} is one place"
        draft.say(Kind.DIFFERS, "paths", first, said, "set them in the configuration")
        return
    for key, node in nodes.items():
        source, value = draft.source(node), given.at(node)
        whole = role is Role.WEIGHTS or (key in folders and len(spelled) == 1)
        draft.replace(node, enclosed(draft, node, _instead(draft, node, value, whole=whole)))
        how = "can be replaced by" if whole else "is looked for by its last name in" if role is Role.DATA else "goes to"
        draft.say(Kind.CHANGED, "paths", node, f"{_short(source)} {how} --{name}")


def _instead(draft: Draft, node: cst.CSTNode, value: str, *, whole: bool) -> str:
    source, made = draft.source(node), _maker(draft, node)
    if whole and not made:
        return f"{value} or {source}"
    new, condition = value, value
    if not whole:
        draft.need_import("os")
        last = _last(node)
        name = draft.source(last) if last is not None else f"os.path.basename(os.path.normpath({source}))"
        new = f"os.path.join({value}, {name})"
        condition = f"{value} and {source}" if isinstance(node, cst.Attribute | cst.Subscript | cst.Name) else value
    return f"{f'{made}({new})' if made else new} if {condition} else {source}"


def _maker(draft: Draft, node: cst.CSTNode) -> str:
    """What makes a path of a text, where the expression is one that may be divided."""
    if "pathlib" not in draft.names.roots or (isinstance(node, cst.Call) and tail(node.func) == "join"):
        return ""
    if isinstance(node, cst.BinaryOperation):
        module = draft.names.name_for("pathlib", [draft.module])
        known = draft.names.name_for("pathlib.Path", [draft.module]) or (f"{module}.Path" if module else "")
        if known:
            return known
    return f"type({draft.source(node)})"


def _last(node: cst.CSTNode) -> cst.BaseExpression | None:
    """The last part of a joined path, where it is one name."""
    if isinstance(node, cst.BinaryOperation):
        last: cst.BaseExpression | None = node.right
    else:
        last = node.args[-1].value if isinstance(node, cst.Call) and len(node.args) > 1 else None
    return last if isinstance(last, cst.SimpleString) and "/" not in inner(last) else None


def _short(source: str) -> str:
    return source if len(source) < 60 else source[:57] + "…"
