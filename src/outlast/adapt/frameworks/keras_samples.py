"""The samples that `fit` of Keras goes through: whether they come in the same order after a stop, and what is said."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.arguments.namespaces import parameters_of
from outlast.adapt.draft import Draft
from outlast.adapt.frameworks.makers import makers
from outlast.adapt.resuming.scopes import is_method
from outlast.adapt.resuming.state import RULE
from outlast.adapt.whole import words_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, keyword_or_place, positional, tail

#: methods that give a dataset of TensorFlow again
_SAME = frozenset("shuffle batch map prefetch repeat take skip filter unbatch padded_batch with_options".split())
_SEEDS = frozenset({"set_seed", "set_random_seed"})
#: what an ImageDataGenerator deals, in an order that is kept
_FLOWS = frozenset({"flow", "flow_from_directory", "flow_from_dataframe"})


def tell_order(draft: Draft, call: cst.Call) -> None:
    """Say what comes in another order after a stop, unless nothing does."""
    shuffles = argument(call, "shuffle")
    if shuffles is not None and draft.source(shuffles.value) == "False":
        return
    named = argument(call, "x") or argument(call, "generator")
    given = named.value if named is not None else positional(call, 0)
    if _is_yielded(draft, given):
        return  # what a generator has yielded is passed over
    if argument(call, "steps_per_epoch") is not None and _repeats_without_end(draft):
        said = "a dataset that repeats without end begins anew after a stop: its samples come in another order"
        advice = "leave out repeat() and steps_per_epoch, and set a seed, to have the order as without a stop"
        draft.say(Kind.DIFFERS, RULE, call, said, advice)
        return
    made = list(makers(draft, given)) if given is not None else []
    # One that is told its steps may be ahead of them, by another batch each time.
    is_whole = not any(argument(call, each) is not None for each in ("steps_per_epoch", "workers"))
    ordered = (_is_ordered(draft, each) or (is_whole and tail(each.func) in _FLOWS) for each in made)
    if not made or not all(ordered):
        said = "samples that Keras shuffles come in another order after a stop than without one"
        draft.say(Kind.DIFFERS, RULE, call, said)


def _repeats_without_end(draft: Draft) -> bool:
    """`rows.shuffle(100).repeat()`: Keras goes through it once in all epochs, and each of them ends somewhere in it."""
    return "Dataset" in words_of(draft) and any(
        tail(call.func) == "repeat" and all(file.source(arg.value) in ("-1", "None") for arg in call.args)
        for file in (draft, *draft.others)
        for call in file.calls()
    )


def _is_yielded(draft: Draft, node: cst.BaseExpression | None) -> bool:
    """Whether a generator of the program yields the samples, which Keras takes as they come."""
    given = list(_given(draft, node)) if node is not None else []
    return bool(given) and all(_yields(draft, each) for each in given)


def _given(draft: Draft, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What a name stands for: its one value, or what the program's calls give for the parameter that it is."""
    function = draft.scope(node)
    values = [
        each.value for each in draft.nodes
        if isinstance(each, cst.Assign) and any(tail(one.target) == tail(node) for one in each.targets)
    ]  # fmt: skip
    if isinstance(node, cst.Name) and isinstance(function, cst.FunctionDef) and node.value in parameters_of(function):
        place = parameters_of(function).index(node.value) - is_method(draft, function)
        for call in (each for file in (draft, *draft.others) for each in file.calls()):
            if tail(call.func) == function.name.value:
                yield keyword_or_place(call, node.value, place) or call
    elif isinstance(node, cst.Name) and len(values) == 1:
        yield values[0]
    elif not isinstance(node, cst.Name):
        yield node


def _yields(draft: Draft, node: cst.BaseExpression) -> bool:
    name = tail(node.func) if isinstance(node, cst.Call) else ""
    own = [
        (file, each) for file in (draft, *draft.others) for each in file.functions() if each.name.value == name
    ]  # fmt: skip
    return bool(own) and all(
        any(isinstance(each, cst.Yield) for each in file.below(function.body)) for file, function in own
    )


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
