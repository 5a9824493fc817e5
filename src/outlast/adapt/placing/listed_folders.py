"""Folders that a script lists: what it puts behind their names lies where the folder was found.

`folder = os.path.join(ROOT, kind)`, `for name in os.listdir(folder): paths.append(os.path.join(folder, name))`.
"""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import dotted, tail

_LISTS = frozenset({"listdir", "scandir"})
_LOOPS = (cst.For, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


def is_listed(call: cst.Call) -> bool:
    return tail(call.func) in _LISTS


def every_mention(draft: Draft, path: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What must be looked for so that all that is put together with a listed folder is found there.

    The one value that its name is given, else each expression that is spelled like it where that means the same.
    """
    name = dotted(path)
    bound = _bindings(draft, path, name) if name else []
    if len(bound) > 1:
        return [path]
    if bound and isinstance(bound[0], cst.Assign):
        return [bound[0].value] if len(bound[0].targets) == 1 else [path]
    return spelled_alike(draft, path)


def spelled_alike(draft: Draft, path: cst.BaseExpression) -> list[cst.BaseExpression]:
    source, name = draft.source(path), dotted(path)
    bound = _bindings(draft, path, name) if name else []
    home = _home(draft, path, name)
    around = bound[0] if len(bound) == 1 and isinstance(bound[0], _LOOPS) else home
    return [
        each for each in draft.below(around)
        if isinstance(each, cst.BaseExpression) and isinstance(each, type(path)) and draft.source(each) == source
        and (name.startswith("self.") or _home(draft, each, "") is home) and not _is_bound(draft, each)
    ]  # fmt: skip


def longer_paths(draft: Draft, path: cst.BaseExpression) -> list[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """`os.path.join(root, kind, name)` beside the listed `os.path.join(root, kind)`: its first and its last name."""
    if not isinstance(path, cst.Call) or draft.resolve(path.func) != "os.path.join":
        return []
    names, home = [draft.source(each.value) for each in path.args], _home(draft, path, "")
    return [
        (call.args[0].value, call.args[len(names) - 1].value) for call in draft.calls(home)
        if draft.resolve(call.func) == "os.path.join" and len(call.args) > len(names) and _home(draft, call, "") is home
        and [draft.source(each.value) for each in call.args[: len(names)]] == names
    ]  # fmt: skip


def _bindings(draft: Draft, path: cst.BaseExpression, name: str) -> list[cst.CSTNode]:
    """What gives a name its values: parameters, assignments, and loops whose variable it is."""
    found: list[cst.CSTNode] = []
    home = _home(draft, path, name)
    for node in draft.below(home):
        is_whole = isinstance(node, cst.Name | cst.Attribute) and dotted(node) == name
        if not is_whole or not _is_bound(draft, node) or (name[:5] != "self." and _home(draft, node, "") is not home):
            continue
        above = list(draft.above(node))
        found += [each for each in above if isinstance(each, (cst.Assign, cst.Param, *_LOOPS))][:1] or above[:1]
    return found


def _home(draft: Draft, path: cst.CSTNode, name: str) -> cst.CSTNode:
    """Where a name holds: the function, or for one of `self` the class."""
    kinds = cst.ClassDef if name.startswith("self.") else cst.FunctionDef
    return next((each for each in draft.above(path) if isinstance(each, kinds)), draft.module)


def _is_bound(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether a name is only given a value here, or is a part of another one."""
    around = draft.parent(node)
    while isinstance(around, cst.Element | cst.StarredElement | cst.Tuple | cst.List):
        node, around = around, draft.parent(around)
    if isinstance(around, cst.For | cst.CompFor | cst.AugAssign | cst.AnnAssign | cst.NamedExpr):
        return around.target is node
    if isinstance(around, cst.Arg):
        return around.keyword is node
    return isinstance(around, cst.AssignTarget | cst.Attribute | cst.Param | cst.Del | cst.AsName | cst.NameItem)


def fitting(draft: Draft, node: cst.CSTNode, text: str) -> str:
    """Text for a place that may stand within an f-string, whose own quotes it must not have."""
    strings = [each for each in draft.above(node) if isinstance(each, cst.FormattedString)]
    return text.replace('"', "'") if any('"' in each.start for each in strings) else text
