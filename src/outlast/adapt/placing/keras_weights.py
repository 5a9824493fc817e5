"""Weights of Keras's own models whose name is handed on: a parameter, or an option, that may be `"imagenet"`."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.arguments.namespaces import parameters_of
from outlast.adapt.draft import Draft
from outlast.adapt.whole import files_of
from outlast.migrate.tree import argument, inner, positional, tail

FETCHED = "imagenet"


def may_be_fetched(draft: Draft, given: cst.BaseExpression) -> bool:
    """Whether a value can be the name by which Keras fetches weights."""
    if isinstance(given, cst.Name):
        return any(inner(value) == FETCHED for value in _passed(draft, given))
    if isinstance(given, cst.Attribute):
        return any(
            tail(call.func) == "add_argument" and _is_option(call, given.attr.value)
            and (default := argument(call, "default")) is not None and inner(default.value) == FETCHED
            for each in files_of(draft)
            for call in each.calls()
        )  # fmt: skip
    return False


def _passed(draft: Draft, name: cst.Name) -> list[cst.BaseExpression | None]:
    """What a parameter is by default, and what the calls of its function give for it."""
    function = draft.scope(name)
    if not isinstance(function, cst.FunctionDef) or name.value not in parameters_of(function):
        return []
    params = (*function.params.params, *function.params.kwonly_params)
    found = [param.default for param in params if param.name.value == name.value]
    names = parameters_of(function)
    place = names.index(name.value) - (names[0] in ("self", "cls"))
    owner = next((each for each in draft.above(function) if isinstance(each, cst.ClassDef)), None)
    called = owner.name.value if owner is not None and function.name.value == "__init__" else function.name.value
    for each in files_of(draft):
        for call in each.calls():
            if tail(call.func) == called:
                told = argument(call, name.value)
                found.append(told.value if told is not None else positional(call, place))
    return found


def _is_option(call: cst.Call, name: str) -> bool:
    told = argument(call, "dest")
    words = [inner(told.value)] if told is not None else [inner(arg.value) for arg in call.args if arg.keyword is None]
    return name in [word.lstrip("-").replace("-", "_") for word in words]
