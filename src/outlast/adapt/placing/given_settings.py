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

    def holds(self, node: cst.Subscript | cst.Call, depth: int = _DEPTH) -> bool:
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
        return isinstance(at, cst.Name) and self._is_given(at, depth)

    def _is_given(self, node: cst.Name, depth: int) -> bool:
        scopes = (self._draft.scope(node), self._draft.module)
        values = [value for scope in scopes for value in self._assigned.get((id(scope), node.value), ())]
        if values:
            return all(self._gives_settings(value, depth - 1) for value in values)
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

    def _gives_settings(self, value: cst.BaseExpression, depth: int) -> bool:
        """A call, or a part of what one gave: `data = config["data"]`."""
        return isinstance(value, cst.Call) or (
            depth > 0 and isinstance(value, cst.Subscript) and self.holds(value, depth)
        )


def is_get(call: cst.Call) -> bool:
    """`config.get("key")`, with or without a default."""
    return isinstance(call.func, cst.Attribute) and tail(call.func) == "get" and bool(inner(positional(call, 0)))


def is_settings(draft: Draft, path: cst.BaseExpression, node: cst.BaseExpression) -> bool:
    """Whether what a call gets is a part of settings itself, and no place: this file asks it for entries by name.

    `path` is what the call gets, `node` where that comes from: `data = config["data"]`, `data["size"]`, `build(data)`.
    """
    spelled = {draft.source(node), draft.source(path)} if isinstance(path, cst.Name) else {draft.source(node)}
    return any(
        isinstance(each, cst.Subscript) and len(each.slice) == 1 and isinstance(each.slice[0].slice, cst.Index)
        and isinstance(each.slice[0].slice.value, cst.SimpleString) and draft.source(each.value) in spelled
        for each in draft.nodes
    )  # fmt: skip
