"""Optimizers and schedulers that some rounds make anew for other weights: `if epoch == 5: optimizer = SGD(…)`.

After a stop the start makes the first one again, and the state of the later one does not fit into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.parts import parts_of
from outlast.adapt.resuming.refusal import Refusal
from outlast.migrate.tree import positional, tail

_CHOSEN = re.compile("requires_grad")


def refuse_replaced(draft: Draft, values: Values, names: Iterable[str]) -> None:
    """`names`: what has a state and is no model."""
    for name in names:
        before = [value for _, value in values.bindings.get(name, []) if isinstance(value, cst.Call)]
        if name not in values.bound or not before or values.is_replaced(name):
            continue
        for node in draft.below(values.loop.node.body):
            for target in node.targets if isinstance(node, cst.Assign) else ():
                made = parts_of(target.target, node.value).get(name) if isinstance(node, cst.Assign) else None
                if isinstance(made, cst.Call) and not _is_like(draft, before[-1], made):
                    said = f"some rounds make {name} anew, and its state does not fit into the one that a start makes"
                    advice = "train in a loop of its own from there on, or give one all that it will train"
                    raise Refusal(said, node, advice)


def _is_like(draft: Draft, one: cst.Call, other: cst.Call) -> bool:
    """Whether both are of a class, and for the same weights."""
    given = [positional(call, 0) for call in (one, other)]
    texts = {draft.source(each) if each is not None else "" for each in given}
    return tail(one.func) == tail(other.func) and len(texts) == 1 and not _CHOSEN.search(texts.pop())
