"""What made an object: the class of a Trainer, wherever it is built in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.libraries import is_library
from outlast.migrate.tree import argument, dotted, positional, tail

_DEPTH = 6


def makers(draft: Draft, node: cst.BaseExpression, depth: int = _DEPTH) -> Iterator[cst.Call]:
    """The calls that an expression may come from, through names, fields, parameters and functions of this file."""
    if depth == 0:
        return
    if isinstance(node, cst.Call):
        function = _function(draft, node)
        if function is None:
            yield node
        else:
            for value in _returned(draft, function):
                yield from makers(draft, value, depth - 1)
    elif isinstance(node, cst.IfExp):
        yield from makers(draft, node.body, depth - 1)
        yield from makers(draft, node.orelse, depth - 1)
    elif isinstance(node, cst.Name | cst.Attribute):
        for value in _values(draft, node):
            yield from makers(draft, value, depth - 1)


def may_run(draft: Draft, node: cst.CSTNode) -> bool:
    """False in a function that nothing in this file names; methods are called on what nobody can follow."""
    function = draft.scope(node)
    is_method = any(isinstance(each, cst.ClassDef) for each in draft.above(function))
    return is_method or draft.is_reached(node)


def class_path(draft: Draft, call: cst.Call) -> str:
    """The full name of the class that a call makes something of; for one of this file that of its base.

    Other ways to make one (`Trainer.from_argparse_args(…)`) count as the class. Empty where nobody can tell.
    """
    return _path(draft, call.func, _DEPTH)


def _path(draft: Draft, node: cst.BaseExpression, depth: int) -> str:
    name = tail(node)
    if isinstance(node, cst.Attribute) and re.match("from_|get_cls", name):
        return _path(draft, node.value, depth)
    own = next((each for each in draft.of(cst.ClassDef) if each.name.value == name), None)
    if own is None or not isinstance(node, cst.Name) or depth == 0:
        found = draft.resolve(node)
        return _base_elsewhere(draft, node, depth) or found or _aliased(draft, node, depth)
    bases = [_path(draft, base.value, depth - 1) for base in own.bases]
    return next((base for base in bases if tail_of(base).endswith("Trainer")), bases[0] if bases else name)


def _base_elsewhere(draft: Draft, node: cst.BaseExpression, depth: int) -> str:
    """The library's class that one of another file of the program is made from; empty where there is none."""
    found = _classes_elsewhere(draft, tail(node)) if depth and not is_library(draft.resolve(node)) else []
    paths = [_path(other, base.value, depth - 1) for other, own in found[:1] for base in own.bases]
    return next((path for path in paths if "." in path[1:] and path[0] != "."), "") if len(found) == 1 else ""


def _classes_elsewhere(draft: Draft, name: str) -> list[tuple[Draft, cst.ClassDef]]:
    return [
        (other, each) for other in draft.others for each in other.of(cst.ClassDef) if each.name.value == name
    ]  # fmt: skip


def is_of_program(draft: Draft, path: str) -> bool:
    """Whether a class, by what `class_path` says of it, is one of another file that is made from no library's."""
    return bool(_classes_elsewhere(draft, tail_of(path)))


def _aliased(draft: Draft, node: cst.BaseExpression, depth: int) -> str:
    """`trainer_cls = Trainer if … else Other`: the first that it may be."""
    for value in _values(draft, node) if isinstance(node, cst.Name) and depth else ():
        first = value.body if isinstance(value, cst.IfExp) else value
        if isinstance(first, cst.Name | cst.Attribute):
            return _path(draft, first, depth - 1)
    return ""


def tail_of(path: str) -> str:
    return path.rpartition(".")[2]


def _function(draft: Draft, call: cst.Call) -> cst.FunctionDef | None:
    """The function or method of this file that a call runs."""
    func = call.func
    is_own = isinstance(func, cst.Name) or (isinstance(func, cst.Attribute) and dotted(func.value) in ("self", "cls"))
    found = [each for each in draft.functions() if is_own and each.name.value == tail(func)]
    return found[0] if len(found) == 1 else None


def _returned(draft: Draft, function: cst.FunctionDef) -> Iterator[cst.BaseExpression]:
    for node in draft.below(function.body):
        if isinstance(node, cst.Return) and node.value is not None and draft.scope(node) is function:
            # `return trainer, model`: what it is unpacked to is found by its name.
            values = [each.value for each in node.value.elements] if isinstance(node.value, cst.Tuple) else [node.value]
            yield from values


def _values(draft: Draft, node: cst.Name | cst.Attribute) -> Iterator[cst.BaseExpression]:
    """Everything that a name, or a field of that spelling, is given in the scopes where it can be seen."""
    wanted, home = dotted(node), draft.scope(node)
    if not wanted:
        return
    for each in draft.bindings:
        if isinstance(each, cst.Assign):
            is_here = isinstance(node, cst.Attribute) or draft.scope(each) in (home, draft.module)
            if is_here and any(_is_target(target.target, wanted) for target in each.targets):
                yield each.value
        elif isinstance(each, cst.AnnAssign | cst.NamedExpr):
            if each.value is not None and dotted(each.target) == wanted:
                yield each.value
        elif isinstance(each, cst.WithItem) and each.asname is not None and dotted(each.asname.name) == wanted:
            yield each.item
    if isinstance(node, cst.Name) and isinstance(home, cst.FunctionDef):
        yield from _given(draft, home, node.value)


def _is_target(target: cst.BaseExpression, wanted: str) -> bool:
    parts = [each.value for each in target.elements] if isinstance(target, cst.Tuple) else [target]
    return any(dotted(part) == wanted for part in parts)


def _given(draft: Draft, function: cst.FunctionDef, name: str) -> Iterator[cst.BaseExpression]:
    """What calls in this file give to a parameter."""
    params = [param.name.value for param in (*function.params.params, *function.params.kwonly_params)]
    if name not in params:
        return
    is_method = params[:1] == ["self"]
    at = params.index(name) - is_method
    for call in draft.calls_named(function.name.value):
        named = argument(call, name)
        value = named.value if named is not None else positional(call, at)
        if value is not None:
            yield value
