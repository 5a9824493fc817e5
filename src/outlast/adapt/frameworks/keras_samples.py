"""The samples that `fit` of Keras goes through: whether they come in the same order after a stop, and what is said."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.frameworks.makers import makers
from outlast.adapt.resuming.state import RULE
from outlast.adapt.whole import words_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, positional, tail

#: methods that give a dataset of TensorFlow again
_SAME = frozenset("shuffle batch map prefetch repeat take skip filter unbatch padded_batch with_options".split())
_SEEDS = frozenset({"set_seed", "set_random_seed"})


def tell_order(draft: Draft, call: cst.Call) -> None:
    """Say what comes in another order after a stop, unless nothing does."""
    shuffles = argument(call, "shuffle")
    if shuffles is not None and draft.source(shuffles.value) == "False":
        return
    named = argument(call, "x") or argument(call, "generator")
    given = named.value if named is not None else positional(call, 0)
    own = _generator(draft, given)
    if own:
        said = f"what {own} yields begins anew in each stint: samples come in another order after a stop"
        draft.say(Kind.DIFFERS, RULE, call, f"{said} than without one")
        return
    made = list(makers(draft, given)) if given is not None else []
    if not made or not all(_is_ordered(draft, each) for each in made):
        said = "samples that Keras shuffles come in another order after a stop than without one"
        draft.say(Kind.DIFFERS, RULE, call, said)


def _generator(draft: Draft, node: cst.BaseExpression | None) -> str:
    """The function of this file that yields the samples, which Keras takes as they come."""
    if isinstance(node, cst.Name):
        values = [
            each.value for each in draft.nodes
            if isinstance(each, cst.Assign) and any(tail(one.target) == node.value for one in each.targets)
        ]  # fmt: skip
        node = values[0] if len(values) == 1 else None
    name = tail(node.func) if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) else ""
    own = [function for function in draft.functions() if name and function.name.value == name]
    is_yielding = any(isinstance(each, cst.Yield) for function in own for each in draft.below(function.body))
    return name if is_yielding else ""


def _is_ordered(draft: Draft, call: cst.Call) -> bool:
    """Whether each start gives the same order: then it goes on, for passes are counted."""
    name = draft.resolve(call.func)
    if name.endswith("_dataset_from_directory"):
        seed, shuffles = argument(call, "seed"), argument(call, "shuffle")
        is_fixed = shuffles is not None and draft.source(shuffles.value) == "False"
        return is_fixed or (seed is not None and tail(seed.value) != "None")
    words = words_of(draft)
    is_dataset = name.startswith("tensorflow.data.") or (not name and tail(call.func) in _SAME)
    # What is cached keeps the order of the pass that filled it.
    return is_dataset and "cache" not in words and ("shuffle" not in words or bool(_SEEDS & words))
