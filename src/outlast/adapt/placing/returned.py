"""Functions of the file that give back the path they were given, one that begins with it, or one of their own.

A method may also give back one that begins with a field of its object.
"""

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
        """The function that is called and what it returns, where that begins with parameters, fields or a text."""
        function = self._called(call)
        if function is None or any(arg.star for arg in call.args):
            return None
        nodes = [node for node in self._draft.below(function) if isinstance(node, cst.Return)]
        values = [node.value for node in nodes if self._draft.scope(node) is function and node.value is not None]
        known = parameters_of(function)
        if any(isinstance(node, cst.If) and asks_for_absolute(node.test) for node in self._draft.below(function)):
            # `if path.is_absolute(): return path`: what is joined with another folder is for the other case.
            values = [value for value in values if self._lead(value) in known]
            nodes = nodes[: len(values)]
        is_all = len(values) == len(nodes)
        is_led = is_all and all(self._lead(value) in known or self._is_field(value) for value in values)
        is_own = is_all and len(nodes) == 1 and self._is_text(values[0])
        return (function, values) if values and (is_led or is_own) else None

    def _called(self, call: cst.Call) -> cst.FunctionDef | None:
        """The one function that a call can mean: of that name, or a method: `self.path_of(index)`."""
        functions = self._functions.get(tail(call.func), [])
        if isinstance(call.func, cst.Attribute):
            homes = self._kin(self._class_of(call.func.value))
            functions = [each for each in functions if any(home in homes for home in self._draft.above(each))]
        return functions[0] if len(functions) == 1 else None

    def _class_of(self, owner: cst.BaseExpression) -> str:
        """The class of an object: the one around `self`, or the one whose call has made it."""
        if dotted(owner) == "self":
            around = (each for each in self._draft.above(owner) if isinstance(each, cst.ClassDef))
            return next((each.name.value for each in around), "")
        made = self._value_of(owner) if isinstance(owner, cst.Name | cst.Attribute) else None
        return made.func.value if isinstance(made, cst.Call) and isinstance(made.func, cst.Name) else ""

    def _kin(self, name: str) -> list[cst.ClassDef]:
        """A class of the file, and those of the file that it is built on."""
        found: list[cst.ClassDef] = []
        waiting = {name}
        while waiting:
            kin = [each for each in self._draft.of(cst.ClassDef) if each.name.value in waiting and each not in found]
            found += kin
            waiting = {tail(base.value) for each in kin for base in each.bases}
        return found

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

    def _is_field(self, node: cst.BaseExpression) -> bool:
        """Whether an expression begins with a field, through names of the function: `join(self.folder, name)`."""
        for _ in range(_DEPTH):
            first = [*leading(node)][-1]
            if isinstance(first, cst.Attribute):
                return dotted(first.value).partition(".")[0] == "self"
            value = self._value_of(first) if isinstance(first, cst.Name) else None
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
