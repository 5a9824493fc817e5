"""Containers in containers: what a loop over them fills, `for loss, seen in zip(losses, lists): seen.append(loss)`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import positional, tail

_MAKERS = frozenset("list dict set deque defaultdict Counter OrderedDict".split())
#: Calls that hand on the elements of what they are given, one beside the other.
_BESIDE = frozenset({"zip", "izip", "zip_longest"})
_SAME = frozenset({"reversed", "sorted", "list", "tuple", "tqdm"})


def filled_through(
    draft: Draft,
    node: cst.CSTNode,
    origins: Mapping[str, cst.BaseExpression | None],
    *,
    of_tensors: bool = False,
) -> Iterator[str]:
    """Names of the containers that hold what a loop around this place calls `node`, where that is a container, too.

    `of_tensors`: it is a tensor, `for mean, weight in zip(means, net.parameters()): mean.mul_(0.9)`.
    """
    if not isinstance(node, cst.Name):
        return
    for around in draft.above(node):
        if isinstance(around, cst.For | cst.CompFor):
            for each in _sources(around.target, around.iter, node.value):
                made = origins.get(each)
                if _holds(made) or (of_tensors and isinstance(made, cst.List | cst.Dict | cst.ListComp | cst.DictComp)):
                    yield each


def _sources(target: cst.CSTNode, iterated: cst.BaseExpression, name: str) -> Iterator[str]:
    """Where a loop takes what it gives to a name from."""
    called = tail(iterated.func) if isinstance(iterated, cst.Call) else ""
    first = positional(iterated, 0) if isinstance(iterated, cst.Call) else None
    parts = [each.value for each in target.elements] if isinstance(target, cst.Tuple | cst.List) else []
    if called == "enumerate" and len(parts) == 2 and first is not None:
        yield from _sources(parts[1], first, name)
    elif called in _BESIDE and isinstance(iterated, cst.Call) and len(parts) == len(iterated.args):
        for part, arg in zip(parts, iterated.args, strict=True):
            yield from _sources(part, arg.value, name)
    elif called in _SAME and first is not None:
        yield from _sources(target, first, name)
    elif called in ("items", "values") and isinstance(iterated, cst.Call) and isinstance(iterated.func, cst.Attribute):
        value = parts[1] if called == "items" and len(parts) == 2 else target
        yield from _sources(value, iterated.func.value, name)
    elif isinstance(target, cst.Name) and target.value == name:
        # Those that are written down in the loop are filled under their own names.
        written = iterated.elements if isinstance(iterated, cst.Tuple | cst.List) else ()
        yield from (each.value.value for each in written if isinstance(each.value, cst.Name))
        if isinstance(iterated, cst.Name):
            yield iterated.value


def _holds(made: cst.BaseExpression | None) -> bool:
    """Whether something was made as a container; as one of containers, if anything is in it."""
    if isinstance(made, cst.BinaryOperation):  # `[[]] * 4`
        return _holds(made.left) or _holds(made.right)
    if isinstance(made, cst.ListComp):
        return _is_container(made.elt)
    if isinstance(made, cst.DictComp):
        return _is_container(made.value)
    if isinstance(made, cst.List | cst.Tuple | cst.Dict):
        parts = [each.value for each in made.elements]
        return all(_is_container(each) for each in parts)
    return _is_container(made)


def _is_container(node: cst.CSTNode | None) -> bool:
    made = tail(node.func) if isinstance(node, cst.Call) else ""
    return isinstance(node, cst.List | cst.Dict | cst.Set) or made in _MAKERS


def unpacked(target: cst.CSTNode, value: cst.BaseExpression | None) -> dict[str, cst.BaseExpression | None]:
    """Names that an assignment binds, each with its part of the value: `models[1]` for `b` in `[a, b] = models`."""
    if isinstance(target, cst.Name):
        return {target.value: value}
    if not isinstance(target, cst.Tuple | cst.List):
        return {}
    found: dict[str, cst.BaseExpression | None] = {}
    is_written = isinstance(value, cst.Tuple | cst.List) and len(value.elements) == len(target.elements)
    has_star = any(isinstance(each, cst.StarredElement) for each in target.elements)
    for at, element in enumerate(target.elements):
        part = value
        if is_written and isinstance(value, cst.Tuple | cst.List):
            part = value.elements[at].value
        elif isinstance(value, cst.Name | cst.Attribute) and not has_star:
            part = cst.Subscript(value, [cst.SubscriptElement(cst.Index(cst.Integer(str(at))))])
        found.update(unpacked(element.value, part))
    return found


def index_of(part: cst.Subscript) -> int | None:
    """The number that an element is asked for by."""
    first = part.slice[0].slice if len(part.slice) == 1 else None
    number = first.value if isinstance(first, cst.Index) else None
    return number.evaluated_value if isinstance(number, cst.Integer) else None
