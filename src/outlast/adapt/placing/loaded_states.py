"""Files whose content a model takes over: `state = torch.load(path)`, and later `net.load_state_dict(state)`.

They are weights, whatever their folder is called.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import tail

_TAKES = "load_state_dict"
_COPIES = frozenset({"dict", "list", "OrderedDict", "deepcopy"})


def is_taken_over(draft: Draft, load: cst.Call) -> bool:
    """Whether what a call loads, or what is made of it, is given to a model in the same function."""
    scope = draft.scope(load)
    nodes = [node for node in draft.below(scope) if draft.scope(node) is scope]
    takes = [node for node in nodes if isinstance(node, cst.Call) and tail(node.func) == _TAKES]
    names: set[str] = set()
    count = -1
    while takes and len(names) > count:
        count = len(names)
        names |= {name for node in nodes for name in _made_of(draft, node, load, names)}
    return any(_is_part(arg.value, load, names) for call in takes for arg in call.args)


def _made_of(draft: Draft, node: cst.CSTNode, load: cst.Call, names: set[str]) -> Sequence[str]:
    """Names that hold what was loaded, or a part of it, behind a statement or a call."""
    if isinstance(node, cst.Assign) and _is_part(node.value, load, names):
        return [name for each in node.targets if (name := _whole(each.target))]
    if isinstance(node, cst.For) and _is_part(node.iter, load, names):
        return [each.value for each in (node.target, *draft.below(node.target)) if isinstance(each, cst.Name)]
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "update":
        is_given = any(_is_part(arg.value, load, names) for arg in node.args)
        return [name] if is_given and (name := _whole(node.func.value)) else []
    return []


def _whole(target: cst.BaseExpression) -> str:
    """The name of what is set, or of what has a part that is."""
    while isinstance(target, cst.Subscript):
        target = target.value
    return target.value if isinstance(target, cst.Name) else ""


def _is_part(value: cst.BaseExpression, load: cst.Call, names: set[str]) -> bool:
    """Whether a value is what was loaded, a part of it, or puts together parts of it; what only uses it is another."""
    if isinstance(value, cst.Name):
        return value.value in names
    if isinstance(value, cst.Subscript | cst.Attribute):
        return _is_part(value.value, load, names)
    if isinstance(value, cst.DictComp | cst.ListComp):
        return _is_part(value.for_in.iter, load, names)
    if not isinstance(value, cst.Call):
        return False
    is_copy = tail(value.func) in _COPIES and any(_is_part(arg.value, load, names) for arg in value.args)
    is_method = isinstance(value.func, cst.Attribute) and _is_part(value.func.value, load, names)
    return value is load or is_copy or is_method
