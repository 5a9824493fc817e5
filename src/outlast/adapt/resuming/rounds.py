"""How often a training runs in one start of a script: a checkpoint under one name serves exactly one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.adapt.resuming.state import Refusal
from outlast.migrate.tree import dotted, tail

#: Libraries that choose the next training by what came out of those before.
_SEARCHES = frozenset("optuna hyperopt ray skopt nni ax bayes_opt keras_tuner kerastuner nevergrad deap".split())
_REPEATS = (cst.For, cst.While, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


def refuse_repeated(draft: Draft, node: cst.CSTNode) -> None:
    """A second training (the next fold, the next seed) would find the checkpoint of the first and stop at once."""
    again = repeated_at(draft, node)
    if again is not None:
        said = f"the training is done more than once (again in line {draft.line(again)}), with one checkpoint for all"
        raise Refusal(said, node, "start each one as a run of its own, or save by hand: outlast.save")


def may_count(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether trainings that follow on one another can be told apart by counting them: each start has the same ones."""
    if not draft.names.roots.isdisjoint(_SEARCHES):
        return False
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        at = waiting.pop()
        if any(isinstance(each, cst.While) for each in _within(draft, at)):
            return False
        function = draft.scope(at)
        if isinstance(function, cst.FunctionDef) and id(function) not in seen:
            seen.add(id(function))
            waiting += _calls(draft, function)
    return True


def is_called(draft: Draft, scope: Scope) -> bool:
    """Whether it can be seen how often something is run: the module, or a function that this file calls by its name."""
    if not isinstance(scope, cst.FunctionDef):
        return True
    is_method = any(isinstance(each, cst.ClassDef) for each in draft.above(scope))
    return not is_method and any(True for _ in _calls(draft, scope))


def repeated_at(draft: Draft, node: cst.CSTNode) -> cst.CSTNode | None:
    """The loop, or the second call, by which what a node does is done again; None where it is done once."""
    seen: set[int] = set()
    while True:
        function = draft.scope(node)
        around = next((each for each in _within(draft, node) if isinstance(each, _REPEATS)), None)
        if around is not None:
            return around
        if not isinstance(function, cst.FunctionDef) or id(function) in seen:
            return None
        seen.add(id(function))
        calls = list(_calls(draft, function))
        if not are_alternatives(draft, calls):
            return calls[-1]
        if not calls:
            return None
        node = calls[0]


def are_alternatives(draft: Draft, nodes: Sequence[cst.CSTNode]) -> bool:
    """Whether of these places only one is ever reached."""
    return all(_is_either(draft, *pair) for pair in itertools.combinations(nodes, 2))


def _within(draft: Draft, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    before = node
    for each in draft.above(node):
        if isinstance(each, cst.FunctionDef):
            return
        # What a loop runs over is computed once, and what follows on its end is run once.
        is_once = isinstance(each, cst.For) and before in (each.iter, each.orelse)
        if not is_once and not isinstance(before, cst.CompFor):
            yield each
        before = each


def _calls(draft: Draft, function: cst.FunctionDef) -> Iterator[cst.Call]:
    """Calls of a function of this file. Methods are told from others of their name by what they are called on."""
    name = function.name.value
    owner = next((each for each in draft.above(function) if isinstance(each, cst.ClassDef)), None)
    made = _instances(draft, owner.name.value) if owner is not None else set()
    for call in draft.calls():
        if tail(call.func) != name or draft.scope(call) is function or not draft.is_reached(call):
            continue
        if owner is None:
            if isinstance(call.func, cst.Name):
                yield call
        elif isinstance(call.func, cst.Attribute):
            on = call.func.value
            is_new = isinstance(on, cst.Call) and tail(on.func) == owner.name.value
            is_self = dotted(on) == "self" and any(each is owner for each in draft.above(call))
            if is_new or is_self or dotted(on) in made:
                yield call


def _instances(draft: Draft, name: str) -> set[str]:
    return {
        dotted(node.targets[0].target)
        for node in draft.nodes
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call) and tail(node.value.func) == name
    }


def _is_either(draft: Draft, one: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Whether two places lie in different branches of one `if`, or one where the other has failed."""
    branches = {id(each): branch for each, branch in _branches(draft, one)}
    return any(branches.get(id(each), branch) is not branch for each, branch in _branches(draft, other))


def _branches(draft: Draft, node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    before = node
    for each in draft.above(node):
        if isinstance(each, cst.If) or (isinstance(each, cst.Try) and before is not each.finalbody):
            yield each, before
        before = each
