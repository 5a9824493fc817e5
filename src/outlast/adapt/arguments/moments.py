"""Which of two places of a script runs first, through the functions that call them."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.arguments.namespaces import calls_of
from outlast.adapt.draft import Draft
from outlast.migrate.tree import dotted, tail

_DEPTH = 6


class Moments:
    """The order of a file's places, as far as it can be read."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft

    def is_later(self, node: cst.CSTNode, other: cst.CSTNode) -> bool:
        """Whether a place runs after another one has; False where that cannot be told."""
        mine, theirs = dict(self._path(node)), dict(self._path(other))
        for scope, start in mine.items():
            if scope in theirs:
                return start > theirs[scope]
        return False

    def is_surely_later(self, node: cst.CSTNode, other: cst.CSTNode, depth: int = _DEPTH) -> bool:
        """The same, by whichever call a place is reached."""
        scope, theirs = self._draft.scope(node), dict(self._path(other))
        if id(scope) in theirs:
            return self._moment(node, is_called=depth < _DEPTH) > theirs[id(scope)]
        if not isinstance(scope, cst.FunctionDef):
            return False
        if any(each.speaks_of(scope.name.value) for each in self._draft.others):
            return False
        calls = list(self._calls(scope)) if depth else []
        return bool(calls) and all(self.is_surely_later(call, other, depth - 1) for call in calls)

    def _path(self, node: cst.CSTNode) -> Iterator[tuple[int, int]]:
        """Scope → byte in it at which a place is reached: its own, then that of the first call of its function."""
        at: cst.CSTNode | None = node
        for step in range(_DEPTH):
            if at is None:
                return
            scope = self._draft.scope(at)
            yield id(scope), self._moment(at, is_called=step > 0)
            if not isinstance(scope, cst.FunctionDef):
                return
            at = next(self._calls(scope), None)

    def _calls(self, function: cst.FunctionDef) -> Iterator[cst.Call]:
        yield from calls_of(self._draft, function)
        owner = self._draft.parent(self._draft.parent(function) or function)
        if function.name.value != "__call__" or not isinstance(owner, cst.ClassDef):
            return
        # `stop = Stopping(5)`, and later `stop(loss, net)`.
        made = (node for node in self._draft.all_assigns if isinstance(node.value, cst.Call))
        objects = {
            dotted(target.target)
            for node in made
            for target in node.targets
            if isinstance(node.value, cst.Call) and tail(node.value.func) == owner.name.value
        } - {""}
        yield from (call for call in self._draft.calls() if dotted(call.func) in objects)

    def _moment(self, node: cst.CSTNode, *, is_called: bool) -> int:
        """What a function is given is made before it runs: `main(parser.parse_args())`."""
        start, end = self._draft.span(node)
        return end if is_called else start
