"""Samples that rounds put in another order where they lie: `random.shuffle(rows)`, also in a function that gets them.

Each round begins with the order that the last one left.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.elsewhere import function_elsewhere
from outlast.adapt.resuming.parts import parts_of
from outlast.adapt.resuming.scopes import parameters
from outlast.migrate.tree import dotted, tail

_SHUFFLES = frozenset({"random.shuffle", "numpy.random.shuffle"})
_GENERATORS = frozenset({"default_rng", "RandomState", "Random"})
_DEPTH = 3


def is_shuffled(draft: Draft, block: cst.CSTNode, name: str, depth: int = _DEPTH) -> bool:
    """Whether a block shuffles what has this name there."""
    for call in draft.calls(block) if depth else ():
        mine = [
            (at, arg) for at, arg in enumerate(call.args) if isinstance(arg.value, cst.Name) and arg.value.value == name
        ]
        if mine and (draft.resolve(call.func) in _SHUFFLES or _is_by_generator(draft, call)):
            return True
        if any(
            is_shuffled(home, function.body, inside, depth - 1) for home, function, inside in _taken(draft, call, mine)
        ):
            return True
    return False


def _is_by_generator(draft: Draft, call: cst.Call) -> bool:
    """`order.shuffle(rows)`, where `order` draws random numbers of its own."""
    if not isinstance(call.func, cst.Attribute) or tail(call.func) != "shuffle":
        return False
    name = dotted(call.func.value)
    made = [
        parts_of(target.target, node.value, fields=True).get(name)
        for node in draft.nodes
        if isinstance(node, cst.Assign)
        for target in node.targets
    ]
    return any(isinstance(each, cst.Call) and tail(each.func) in _GENERATORS for each in made)


def _taken(
    draft: Draft, call: cst.Call, given: list[tuple[int, cst.Arg]]
) -> Iterator[tuple[Draft, cst.FunctionDef, str]]:
    """By which names a function of the program takes what it is given."""
    own = [each for each in draft.functions() if isinstance(call.func, cst.Name) and each.name.value == call.func.value]
    found = (draft, own[0]) if len(own) == 1 else function_elsewhere(draft, call)
    names = parameters(found[1]) if found is not None and given else []
    for at, arg in given:
        inside = arg.keyword.value if arg.keyword else names[at] if at < len(names) else ""
        if found is not None and inside in names:
            yield (*found, inside)
