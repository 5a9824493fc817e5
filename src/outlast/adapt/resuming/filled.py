"""Lists and dictionaries that the function of a loop is handed, and that its rounds fill.

Whoever has handed them in reads them when the loop is done (`fit(model, history)`, then `plot(history)`), so they get
what they had back where they are, and not under another value by the same name.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.elsewhere import function_elsewhere
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.scopes import is_method, own_classes, parameters, seen_elsewhere
from outlast.adapt.resuming.visible import Visible
from outlast.migrate.tree import tail

_FILLS = frozenset("append extend insert setdefault appendleft extendleft".split())
#: Meters have these too, so they tell something only of what is known to be a set or a dictionary.
_MAY_FILL = frozenset({"add", "update"})
_HELD = (cst.List, cst.Dict, cst.Set, cst.ListComp, cst.DictComp)
_MAKERS = frozenset({"list", "dict", "set", "defaultdict", "deque", "OrderedDict", "Counter"})


def filled_parameters(draft: Draft, values: Values) -> list[str]:
    """Parameters of the loop's function that are containers, and that a round, or a function that it calls, fills."""
    scope = values.scope
    if not isinstance(scope, cst.FunctionDef):
        return []
    visible = Visible(draft, values)
    names = [name for name in parameters(scope) if name != "self" and name not in values.bound]
    return [
        name for name in names
        if not values.bindings.get(name) and _is_container(visible, scope, name, _fillings(draft, values, name))
    ]  # fmt: skip


def _is_container(visible: Visible, scope: cst.FunctionDef, name: str, fillings: list[cst.BaseExpression]) -> bool:
    """Whether what is filled is a container: it is made as one, or as one of such, which an object of a class is not.

    `logger.append(row)` may be a method of the program or of a library: that alone says nothing.
    """
    if not fillings or name in visible.holders:
        return False
    made = visible.given(scope, name)
    if isinstance(made, cst.Call):
        classes = {**own_classes(visible.draft), **seen_elsewhere(visible.draft, cst.ClassDef)}
        is_known = tail(made.func) in _MAKERS
        return is_known or (tail(made.func) not in classes and _are_parts(fillings))
    return isinstance(made, _HELD) or _are_parts(fillings)


def _are_parts(fillings: list[cst.BaseExpression]) -> bool:
    """`history["loss"].append(loss)`: who is asked for a part, and then to take something, is no object of a class."""
    return any(isinstance(each, cst.Subscript) for each in fillings)


def _fillings(draft: Draft, values: Values, name: str) -> list[cst.BaseExpression]:
    """What rounds put something into of what a name stands for: the whole, or parts of it."""
    return list(_filled_in(draft, values.loop.node.body, name, set()))


def _filled_in(draft: Draft, body: cst.CSTNode, name: str, seen: set[tuple[int, str]]) -> Iterator[cst.BaseExpression]:
    if (id(body), name) in seen:
        return
    seen.add((id(body), name))
    for call in draft.calls(body):
        if isinstance(call.func, cst.Attribute) and _fills(call.func) and _root(call.func.value) == name:
            yield call.func.value
        home, function = _called(draft, call) if _hands_on(call, name) else (draft, None)
        if function is None:
            continue
        for at, arg in enumerate(call.args):
            given = arg.keyword.value if arg.keyword else "".join(parameters(function)[at : at + 1])
            if given and not arg.star and _root(arg.value) == name:
                found = list(_filled_in(home, function.body, given, seen))
                yield from [arg.value] if found and isinstance(arg.value, cst.Subscript) else found


def _fills(method: cst.Attribute) -> bool:
    return tail(method) in _FILLS or (tail(method) in _MAY_FILL and isinstance(method.value, cst.Name))


def _called(draft: Draft, call: cst.Call) -> tuple[Draft, cst.FunctionDef | None]:
    own = (each for each in draft.functions() if each.name.value == tail(call.func) and not is_method(draft, each))
    function = next(own, None) if isinstance(call.func, cst.Name) else None
    return (draft, function) if function is not None else function_elsewhere(draft, call) or (draft, None)


def _hands_on(call: cst.Call, name: str) -> bool:
    return any(_root(arg.value) == name for arg in call.args)


def _root(node: cst.CSTNode) -> str:
    while isinstance(node, cst.Subscript):
        node = node.value
    return node.value if isinstance(node, cst.Name) else ""
