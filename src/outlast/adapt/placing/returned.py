"""Functions of the file that give back the path they were given, one that begins with it, or one of their own."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from outlast.adapt.arguments.namespaces import parameters_of
from outlast.adapt.draft import Draft
from outlast.adapt.placing.shapes import asks_for_absolute, leading
from outlast.migrate.tree import dotted, inner, tail

_DEPTH = 6


class Returned:
    """Finds them. `value_of` says what a name is made of, where that is one thing."""

    def __init__(self, draft: Draft, value_of: Callable[[cst.BaseExpression], cst.BaseExpression | None]) -> None:
        self._draft, self._value_of = draft, value_of
        self._functions: dict[str, list[cst.FunctionDef]] = {}
        for function in draft.functions():
            self._functions.setdefault(function.name.value, []).append(function)

    def of(self, call: cst.Call) -> tuple[cst.FunctionDef, list[cst.BaseExpression]] | None:
        """The function that is called and what it returns, where that begins with parameters, or with a text."""
        functions = self._functions.get(dotted(call.func), [])
        if len(functions) != 1 or any(arg.star for arg in call.args):
            return None
        [function] = functions
        nodes = [node for node in self._draft.below(function) if isinstance(node, cst.Return)]
        values = [node.value for node in nodes if self._draft.scope(node) is function and node.value is not None]
        known = parameters_of(function)
        if any(isinstance(node, cst.If) and asks_for_absolute(node.test) for node in self._draft.below(function)):
            # `if path.is_absolute(): return path`: what is joined with another folder is for the other case.
            values = [value for value in values if self._lead(value) in known]
            nodes = nodes[: len(values)]
        is_led = len(values) == len(nodes) and all(self._lead(value) in known for value in values)
        is_own = len(values) == len(nodes) == 1 and self._is_text(values[0])
        return (function, values) if values and (is_led or is_own) else None

    def _is_text(self, node: cst.BaseExpression) -> bool:
        """Whether an expression begins with a literal of the function: `folder = "run"`, `join(folder, "x")`."""
        for _ in range(_DEPTH):
            first = [*leading(node)][-1:]
            if first and isinstance(first[0], cst.SimpleString):
                return "/" in inner(first[0])  # a bare word is the start of a name
            value = self._value_of(first[0]) if first and isinstance(first[0], cst.Name) else None
            if value is None or self._draft.scope(value) is not self._draft.scope(node):
                return False
            node = value
        return False

    def _lead(self, node: cst.BaseExpression) -> str:
        """The name that an expression begins with, through names of the function."""
        name = ""
        for _ in range(_DEPTH):
            names = [each for each in leading(node) if isinstance(each, cst.Name)]
            if not names:
                return ""
            name = names[-1].value
            value = self._value_of(names[-1])
            if value is None or self._draft.scope(value) is not self._draft.scope(node):
                return name
            node = value
        return name


def told_by(draft: Draft, call: cst.Call) -> tuple[cst.BaseExpression, cst.Call]:
    """The function that a call gives arguments, and these: `partial(load, folder="a")` does so for whoever calls it."""
    first = call.args[0].value if call.args and not call.args[0].star else None
    if first is None or tail(call.func) != "partial" or draft.resolve(call.func) != "functools.partial":
        return call.func, call
    return first, call.with_changes(args=call.args[1:])
