"""Dictionaries of settings that a call gave, or that another file hands in: `config["data"]["root"]`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.libraries import is_library
from outlast.adapt.placing.shapes import is_argument
from outlast.migrate.tree import dotted, inner, positional, tail

_DEPTH = 6


class GivenSettings:
    """Knows such dictionaries.

    `value_of` says what a name is made of, where that is one thing; `assigned` all that a name of a scope is bound to;
    `is_parameter` whether a name is one of a function.
    """

    def __init__(
        self,
        draft: Draft,
        value_of: Callable[[cst.BaseExpression], cst.BaseExpression | None],
        assigned: Mapping[tuple[int, str], Sequence[cst.BaseExpression]],
        is_parameter: Callable[[cst.Name], bool],
    ) -> None:
        self._draft, self._value_of = draft, value_of
        self._assigned, self._is_parameter = assigned, is_parameter

    def holds(self, node: cst.Subscript | cst.Call) -> bool:
        """Whether a value is an entry of one: `config["data"]["root"]`, `config["data"].get("root", "data")`."""
        if is_argument(self._draft, node):
            return True
        at: cst.BaseExpression = node
        while isinstance(at, cst.Subscript | cst.Call):
            if isinstance(at, cst.Call):
                if not is_get(at):
                    break
                assert isinstance(at.func, cst.Attribute)
                at = at.func.value
                continue
            index = at.slice[0].slice
            if len(at.slice) != 1 or not isinstance(index, cst.Index) or not inner(index.value):
                return False
            at = at.value
        if isinstance(at, cst.Attribute):
            return self._draft.is_module and dotted(at.value) == "self"
        return isinstance(at, cst.Name) and self._is_given(at)

    def _is_given(self, node: cst.Name) -> bool:
        scopes = (self._draft.scope(node), self._draft.module)
        values = [value for scope in scopes for value in self._assigned.get((id(scope), node.value), ())]
        if values:
            return all(isinstance(value, cst.Call) for value in values)
        if not self._is_parameter(node):
            made = self._draft.resolve(node)
            return "." in made and not is_library(made.lstrip("."))  # `from settings import cfg`
        if self._draft.is_module:
            return True  # whoever calls it hands them in
        value: cst.BaseExpression | None = node
        for _ in range(_DEPTH):
            value = self._value_of(value) if isinstance(value, cst.Name) else None
            if isinstance(value, cst.Call):
                return True
        return False


def is_get(call: cst.Call) -> bool:
    """`config.get("key")`, with or without a default."""
    return isinstance(call.func, cst.Attribute) and tail(call.func) == "get" and bool(inner(positional(call, 0)))
