"""What no file can hold: iterators, open files, functions without a name, and lists and dictionaries of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.visible import Visible
from outlast.migrate.tree import dotted, tail

#: calls whose values are not put into a file
NOT_KEPT = frozenset(
    "open iter DataLoader SummaryWriter writer tqdm Thread Process socket connect Session getLogger map zip filter "
    "enumerate Popen urlopen reader File ZipFile VideoCapture VideoWriter".split()
)
_OF_MACHINE = frozenset({"Stream", "Event", "Lock"})
#: of these, what a list cannot hold either when it is put into a file; some loaders, and what goes over a list, can
_NEVER = _OF_MACHINE | NOT_KEPT - {"DataLoader", "map", "zip", "filter", "enumerate", "connect"}
_PUTS = frozenset({"append", "add", "appendleft", "insert", "put", "push"})


def is_no_value(value: cst.BaseExpression | None) -> bool:
    """`iter(loader)`, an open file, a function without a name."""
    made = tail(value.func) if isinstance(value, cst.Call) else ""
    return isinstance(value, cst.Lambda | cst.GeneratorExp) or made in NOT_KEPT | _OF_MACHINE


def unkept_in(draft: Draft, values: Values, name: str) -> set[str]:
    """What a list or dictionary of the loop's function is filled with that no file can hold: `{"iter"}`."""
    held = [each for _, value in values.bindings.get(name, []) for each in _held(value)]
    return _never([*held, *_put(draft.below(values.scope), name)])


def unkept_in_field(uses: Visible, name: str) -> set[str]:
    """The same of the field of an object, which methods of its class fill."""
    holder, _, field = name.rpartition(".")
    nodes = [node for home in uses.holders.get(holder, []) for node in uses.draft.below(home)]
    held = [each for value in uses.field_values(name) for each in _held(value)]
    return _never([*held, *_put(nodes, f"self.{field}")])


def _never(values: Iterable[cst.BaseExpression]) -> set[str]:
    return {made for each in values if isinstance(each, cst.Call) and (made := tail(each.func)) in _NEVER}


def _held(value: cst.BaseExpression | None) -> Iterator[cst.BaseExpression]:
    """What a list or dictionary is written with."""
    if isinstance(value, cst.List | cst.Tuple | cst.Set | cst.Dict):
        yield from (each.value for each in value.elements)
    elif isinstance(value, cst.ListComp | cst.SetComp):
        yield value.elt
    elif isinstance(value, cst.DictComp):
        yield value.value


def _put(nodes: Iterable[cst.CSTNode], name: str) -> Iterator[cst.BaseExpression]:
    """What is put into something later: `batches.append(iter(each))`, `batches[at] = iter(loaders[at])`."""
    for node in nodes:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and tail(node.func) in _PUTS:
            yield from (arg.value for arg in node.args if dotted(node.func.value) == name)
        elif isinstance(node, cst.Assign):
            places = [each.target for each in node.targets if isinstance(each.target, cst.Subscript)]
            yield from (node.value for place in places if dotted(place.value) == name)
