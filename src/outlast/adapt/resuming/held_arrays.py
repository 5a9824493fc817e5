"""Arrays that something else holds as well: `rows = TensorDataset(points, labels)`, where rounds set `labels[4]`.

Others are handed in, or have two names, and are changed where they lie (`def fit(weights): … weights += step`): whoever
holds them reads them when the loop is done, so they get their content back in the same place.
"""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.arrays import is_array
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.scopes import parameters
from outlast.adapt.resuming.visible import Visible
from outlast.migrate.tree import tail

#: what gives a plain number
_NUMBERS = frozenset({"len", "int", "float", "item", "size", "time"})


def is_held_elsewhere(values: Values, name: str) -> bool:
    """Whether an array must be filled where it lies, as what was made of it before the loop looks into it."""
    if (
        name not in values.filled
        or name in values.bound
        or not is_array(values.draft, values.bindings, values.origins.get(name))
    ):
        return False
    draft, start = values.draft, values.draft.start(values.loop.node)
    return any(
        isinstance(arg.value, cst.Name) and arg.value.value == name
        for node in draft.below(values.scope)
        if isinstance(node, cst.Assign) and draft.scope(node) is values.scope and draft.start(node) < start
        and all(tail(target.target) != name for target in node.targets)
        for call in draft.calls(node)
        for arg in call.args
    )  # fmt: skip


def is_changed_in_place(values: Values, name: str) -> bool:
    """Whether rounds change what the function was handed, or what another name holds, and make nothing else of it."""
    if _is_rebound(values, name) or _only_counts(values, name):
        return False
    made = [value for _, value in values.bindings.get(name, ())]
    if made:
        return len(made) == 1 and isinstance(made[0], cst.Name) and not _is_number(values, made[0].value)
    return isinstance(values.scope, cst.FunctionDef) and name in parameters(values.scope)


def changed_parameters(draft: Draft, values: Values) -> list[str]:
    """Arrays, lists and dictionaries that the loop's function is handed, and of which rounds set parts."""
    scope = values.scope
    if not isinstance(scope, cst.FunctionDef):
        return []
    visible = Visible(draft, values)
    return [
        name for name in parameters(scope)
        if name in values.filled and is_changed_in_place(values, name) and _is_one(draft, visible.given(scope, name))
    ]  # fmt: skip


def _is_one(draft: Draft, value: cst.BaseExpression | None) -> bool:
    if isinstance(value, cst.BinaryOperation):  # `[0.0] * 9`
        return _is_one(draft, value.left) or _is_one(draft, value.right)
    return isinstance(value, cst.List | cst.Dict | cst.ListComp | cst.DictComp) or is_array(draft, {}, value)


def _is_rebound(values: Values, name: str) -> bool:
    """`w = w - step` makes another array, of which nobody else knows."""
    nodes = values.draft.below(values.loop.node.body)
    bound = (node for node in nodes if isinstance(node, cst.AssignTarget | cst.AnnAssign | cst.For | cst.NamedExpr))
    return any(isinstance(each, cst.Name) and each.value == name for node in bound for each in _targets(node.target))


def _targets(target: cst.CSTNode) -> list[cst.CSTNode]:
    if isinstance(target, cst.Tuple | cst.List):
        return [part for element in target.elements for part in _targets(element.value)]
    return [target]


def _is_number(values: Values, name: str) -> bool:
    made = [value for _, value in values.bindings.get(name, ())]
    return bool(made) and all(isinstance(each, cst.Integer | cst.Float) for each in made)


def _only_counts(values: Values, name: str) -> bool:
    """`step += 1`, `seen += len(x)`: that is a number, of which nobody holds the same one."""
    draft, body = values.draft, values.loop.node.body
    added = [node for node in draft.below(body) if isinstance(node, cst.AugAssign) and tail(node.target) == name]
    is_known = is_array(draft, values.bindings, values.origins.get(name))
    return bool(added) and not is_known and all(_counts_by(node) for node in added)


def _counts_by(node: cst.AugAssign) -> bool:
    is_call = isinstance(node.value, cst.Call) and tail(node.value.func) in _NUMBERS
    return isinstance(node.target, cst.Name) and (is_call or isinstance(node.value, cst.Integer | cst.Float))


def fill_line(draft: Draft, name: str, kept: str) -> str:
    """The line that puts back what was kept: into an array or container that is there, else under its name."""
    (fill,) = draft.once("fill_in_place", lambda: _add_helper(draft))
    return f"{name} = {fill}({name}, {kept})"


def _add_helper(draft: Draft) -> tuple[str]:
    fill = draft.free("fill_in_place")
    draft.add_on_top(
        [
            "",
            f"def {fill}(held, kept):",
            '    """What others hold, too, gets its content back where it is; a number is another one each time."""',
            "    if type(held) is not type(kept):",
            "        return kept",
            '    if isinstance(held, (list, dict, set)) or type(held).__name__ == "deque":',
            "        held.clear()",
            '        (held.update if hasattr(held, "update") else held.extend)(kept)',
            "        return held",
            '    is_array = type(held).__module__ == "numpy" and hasattr(held, "__setitem__")',
            '    is_tensor = hasattr(held, "copy_")',
            "    if not (is_array or is_tensor) or held.shape != kept.shape or held.dtype != kept.dtype:",
            "        return kept",
            "    if is_tensor:",
            "        held.detach().copy_(kept)",
            "    else:",
            "        held[...] = kept",
            "    return held",
            "",
        ]
    )
    return (fill,)
