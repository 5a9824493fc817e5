"""Entries of a dictionary that are set one by one: `params = {}`, `params["saved"] = "../models/net.pth"`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.placing.shapes import part_of
from outlast.migrate.tree import dotted, inner, tail

_DEPTH = 14


class SetEntries:
    """Knows what entries of dictionaries are.

    `assigned`: what each name of a scope is bound to; `value_of` says what a name is made of, where that is one thing.
    """

    def __init__(
        self,
        draft: Draft,
        assigned: Mapping[tuple[int, str], Sequence[cst.BaseExpression]],
        value_of: Callable[[cst.BaseExpression], cst.BaseExpression | None],
    ) -> None:
        self._draft, self._value_of = draft, value_of
        # A column of a table is set alike: only what is seen to be a dictionary is one.
        self._dictionaries = {name for (_, name), values in assigned.items() if any(map(_is_dictionary, values))}
        self._set: dict[tuple[str, str], list[cst.BaseExpression]] = {}
        for node in draft.nodes if self._dictionaries else ():
            for target in node.targets if isinstance(node, cst.Assign) else ():
                if key := self._key(target.target):
                    assert isinstance(node, cst.Assign)
                    self._set.setdefault(key, []).append(node.value)

    def of(self, node: cst.Subscript | cst.Attribute, first: cst.BaseExpression | None) -> list[cst.BaseExpression]:
        """All that an entry is set to, `first` where the dictionary is written down; empty where it is never set."""
        key = self._key(node)
        values = [value for value in self._set.get(key, ()) if not self._reads(value, node)] if key else []
        return [*values, *([first] if first is not None and tail(first) != "None" else [])] if values else []

    def written(self, node: cst.Subscript | cst.Attribute) -> cst.BaseExpression | None:
        """What an entry is where its dictionary is written down, which another one may hold: `self.config["train"]`."""
        value = self.written(node.value) if isinstance(node.value, cst.Subscript) else node.value
        for _ in range(_DEPTH):
            value = self._value_of(value) if isinstance(value, cst.Name | cst.Attribute) else value
        return part_of(value, node)

    def _key(self, node: cst.CSTNode) -> tuple[str, str] | None:
        if not isinstance(node, cst.Subscript) or len(node.slice) != 1:
            return None
        index, owner = node.slice[0].slice, dotted(node.value)
        key = inner(index.value) if isinstance(index, cst.Index) else ""
        return (owner, key) if key and owner in self._dictionaries else None

    def _reads(self, value: cst.BaseExpression, node: cst.CSTNode) -> bool:
        """`params["saved"] = os.path.join(root, params["saved"])`: what it was before is a part of it."""
        return any(self._key(each) == self._key(node) for each in (value, *self._draft.below(value)))


def _is_dictionary(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Dict) or (isinstance(value, cst.Call) and tail(value.func) == "dict")
