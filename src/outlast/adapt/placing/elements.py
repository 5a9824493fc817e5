"""What a loop goes over, where that is written in the file: `for name in ["a.csv", "b.csv"]`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import positional, tail

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
#: what gives the same elements again
_SAME = frozenset("sorted list tuple set reversed tqdm track".split())
_DEPTH = 6
_Loop = cst.For | cst.CompFor


class Elements:
    """Knows them. `value_of` says what a name is made of, where that is one thing."""

    def __init__(self, draft: Draft, value_of: Callable[[cst.BaseExpression], cst.BaseExpression | None]) -> None:
        self._draft, self._value_of = draft, value_of

    def of(self, node: cst.Name) -> list[cst.BaseExpression]:
        """What a name stands for in the rounds of the loop around it; nothing where that is not visible."""
        for loop in self._loops(node):
            way = _way(loop.target, node.value)
            if way is not None:
                return list(self._taken(loop.iter, way, _DEPTH))
        return []

    def _loops(self, node: cst.CSTNode) -> Iterator[_Loop]:
        before: cst.CSTNode = node
        for each in self._draft.above(node):
            if isinstance(each, cst.For) and before is each.body:
                yield each
            elif isinstance(each, _COMPREHENSIONS):
                at: cst.CompFor | None = each.for_in
                while at is not None:
                    yield at
                    at = at.inner_for_in
            elif isinstance(each, cst.FunctionDef):
                return
            before = each

    def _taken(self, node: cst.BaseExpression | None, way: Sequence[int], depth: int) -> Iterator[cst.BaseExpression]:
        """The elements of an expression, each followed down to its part that a name takes."""
        if depth == 0 or node is None:
            return
        if isinstance(node, cst.List | cst.Tuple | cst.Set):
            for element in node.elements:
                part = _part(element.value, way)
                yield from (part,) if part is not None else ()
        elif isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp):
            part = _part(node.elt, way)
            yield from (part,) if part is not None else ()
        elif isinstance(node, cst.Dict):
            return  # its keys are names for something
        elif isinstance(node, cst.Call):
            yield from self._of_call(node, way, depth)
        elif isinstance(node, cst.Name | cst.Attribute | cst.Subscript):
            yield from self._taken(self._value_of(node), way, depth - 1)

    def _of_call(self, call: cst.Call, way: Sequence[int], depth: int) -> Iterator[cst.BaseExpression]:
        last, first = tail(call.func), positional(call, 0)
        if last in _SAME:
            yield from self._taken(first, way, depth - 1)
        elif last == "enumerate" and way[:1] == [1]:
            yield from self._taken(first, way[1:], depth - 1)
        elif last == "zip" and way:
            yield from self._taken(positional(call, way[0]), way[1:], depth - 1)
        elif isinstance(call.func, cst.Attribute) and last in ("values", "items") and not call.args:
            made = self._value_of(call.func.value)
            rest = way[1:] if last == "items" else way
            if isinstance(made, cst.Dict) and (last == "values" or way[:1] == [1]):
                for each in made.elements:
                    part = _part(each.value, rest)
                    yield from (part,) if part is not None else ()


def _way(target: cst.CSTNode, name: str) -> list[int] | None:
    """Where a name stands in the target of a loop; an empty way for the target itself."""
    if isinstance(target, cst.Name):
        return [] if target.value == name else None
    if isinstance(target, cst.Tuple | cst.List):
        for index, element in enumerate(target.elements):
            below = _way(element.value, name)
            if below is not None:
                return [index, *below]
    return None


def _part(node: cst.BaseExpression, way: Sequence[int]) -> cst.BaseExpression | None:
    for index in way:
        if not isinstance(node, cst.List | cst.Tuple) or index >= len(node.elements):
            return None
        node = node.elements[index].value
    return node
