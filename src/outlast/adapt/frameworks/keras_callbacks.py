"""Callbacks of Keras that a script writes itself: what they gather from epoch to epoch."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.parts import parts_of, targets_in
from outlast.migrate.tree import dotted, tail

CHANGES = frozenset({"append", "extend", "add", "update", "insert", "setdefault"})
#: what is set here is set anew in each epoch
_STARTS = frozenset({"on_epoch_begin", "on_batch_begin", "on_train_batch_begin", "on_test_begin"})
_FIRST = (cst.List, cst.Dict, cst.Set, cst.Integer, cst.Float, cst.SimpleString, cst.UnaryOperation)


def own_fields(draft: Draft) -> list[str]:
    """Fields that such a callback begins with a plain value and changes while it is called: `self.losses.append(…)`."""
    found: list[str] = []
    for node in draft.nodes:
        if isinstance(node, cst.ClassDef) and any(_is_callback(base.value) for base in node.bases):
            first, changed, fresh = set(), set(), set()
            for function in draft.functions():
                if draft.parent(function) is node.body:
                    assigned = dict(assigned_fields(draft, function))
                    if function.name.value in _STARTS:
                        fresh |= set(assigned)
                    elif function.name.value != "__init__":
                        changed |= {*assigned, *changed_fields(draft, function)}
                    first |= {name for name, value in assigned.items() if is_plain(value)}
            found += sorted((first & changed) - fresh)
    return found


def _is_callback(base: cst.BaseExpression) -> bool:
    return tail(base) in ("Callback", "EarlyStopping", "ModelCheckpoint", "ReduceLROnPlateau")


def assigned_fields(draft: Draft, function: cst.FunctionDef) -> Iterator[tuple[str, cst.BaseExpression]]:
    for node in draft.below(function.body):
        if isinstance(node, cst.Assign):
            for target in node.targets:
                for place, value in parts_of(target.target, node.value, fields=True).items():
                    owner, _, name = place.partition(".")
                    if owner == "self" and name and "." not in name and value is not None:
                        yield name, value


def changed_fields(draft: Draft, function: cst.FunctionDef) -> Iterator[str]:
    """Fields of which something is changed: `self.count += 1`, `self.losses.append(…)`, `self.seen[key] = …`."""
    for node in draft.below(function.body):
        for place in [unsubscripted(node.target)] if isinstance(node, cst.AugAssign) else filled_by(node):
            owner, _, name = dotted(place).partition(".")
            if owner == "self" and name and "." not in name:
                yield name


def filled_by(node: cst.CSTNode) -> list[cst.CSTNode]:
    """What a node puts something into: `losses` of `losses.append(…)`, `seen` of `seen[key] = …`."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and tail(node.func) in CHANGES:
        return [unsubscripted(node.func.value)]
    return [unsubscripted(each) for each in targets_in(node) if isinstance(each, cst.Subscript)]


def unsubscripted(place: cst.CSTNode) -> cst.CSTNode:
    while isinstance(place, cst.Subscript):
        place = place.value
    return place


def is_plain(value: cst.BaseExpression) -> bool:
    return isinstance(value, _FIRST) or dotted(value) in ("None", "True", "False", "np.inf", "numpy.inf", "np.Inf") or (
        isinstance(value, cst.Call) and dotted(value.func) in ("list", "dict", "set", "float", "int")
    )  # fmt: skip
