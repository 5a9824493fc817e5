"""What a program does before its training: what rounds do is part of the checkpoint, and what follows is late."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from outlast.adapt.arguments.moments import Moments
from outlast.adapt.draft import Draft
from outlast.adapt.resuming.rounds import repeated_at
from outlast.migrate.tree import tail


class Before:
    """The trainings of a program, which are nodes of one of its files."""

    def __init__(self, drafts: Sequence[Draft], training: Draft, trainings: Sequence[cst.CSTNode]) -> None:
        self.training, self._trainings = training, trainings
        #: the training loops, and the functions that they run
        self.rounds = {node for at in trainings for node in _run_by(drafts, training, at)}
        self._moments = Moments(training)
        # What follows on one of several comes before the next.
        self._is_once = all(repeated_at(training, at) is None for at in trainings)

    def has(self, draft: Draft, node: cst.CSTNode) -> bool:
        """Whether a place may be run before the last training."""
        return not any(each in self.rounds for each in draft.above(node)) and not self._is_behind(draft, node)

    def _is_behind(self, draft: Draft, node: cst.CSTNode) -> bool:
        around = list(draft.above(node))
        # What a training is given comes before it: `model.fit(read())`.
        is_later = draft is self.training and self._is_once and not any(at in around for at in self._trainings)
        return is_later and all(self._moments.is_surely_later(node, at) for at in self._trainings)


def _run_by(drafts: Sequence[Draft], training: Draft, at: cst.CSTNode) -> set[cst.CSTNode]:
    """The training loop and the functions that it runs."""
    if not isinstance(at, cst.For | cst.While):
        return set()
    functions: dict[str, list[tuple[Draft, cst.FunctionDef]]] = {}
    for draft in drafts:
        for function in draft.functions():
            functions.setdefault(function.name.value, []).append((draft, function))
    # `self.net.train()` in a method `train` is no call of that.
    around = {each for each in training.above(at) if isinstance(each, cst.FunctionDef)}
    found: set[cst.CSTNode] = {at, *around}
    waiting: list[tuple[Draft, cst.CSTNode]] = [(training, at)]
    while waiting:
        draft, node = waiting.pop()
        for call in draft.calls(node):
            for each in functions.get(tail(call.func), []):
                if each[1] not in found:
                    found.add(each[1])
                    waiting.append(each)
    return found - around
