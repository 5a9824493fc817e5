"""What only some rounds make and the others go on with: `if step % size == 0: batches = iter(loader)`.

Nothing can save an iterator that is half read, and after a stop in between there would be none at all. So such a
training leaves its checkpoints where the next round makes it anew; it then goes on as without a stop. Other values
(`if epoch % 5 == 0: score = evaluate()`) are saved as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.counters import is_plain_read
from outlast.adapt.resuming.loops import Values, targets_of
from outlast.adapt.resuming.refusal import Refusal
from outlast.migrate.tree import tail

#: calls that make what no file should hold: `DataLoader(…)`, `make_loader(…)`, `iter(…)`
_OBJECTS = re.compile(r"[A-Z]|iter$|cycle$|\w*(?:loader|dataset|generator|sampler|iterator)s?(?:_|$)")


def is_due_next(draft: Draft, values: Values) -> str:
    """An expression for "the next round makes all of it anew"; empty where every round has what it needs."""
    tests = {draft.source(test): test for name, test in renewed(draft, values) if _is_read_on(draft, values, name)}
    return " and ".join(f"({_next(draft, values, test)})" for test in tests.values())


def changes_counter(values: Values) -> bool:
    """Whether a round changes what counts it: `for epoch in range(N): epoch += 1`."""
    return values.loop.counter is not None and values.loop.variable in values.bound


def keep_renewed(draft: Draft, values: Values) -> None:
    """Keep what only some rounds make; refuse an iterator of which nobody can tell in which rounds that is."""
    for name, test in renewed(draft, values):
        if not _is_read_on(draft, values, name):
            values.occasional.add(name)
            continue
        names = {each.value for each in draft.below(test) if isinstance(each, cst.Name)}
        is_known = is_plain_read(draft, test) and not (names - {values.loop.variable}) & values.changed
        if not is_known or values.loop.counter is None:
            said = f"{name} is made in some rounds and used in all, and is not there before the loop"
            raise Refusal(said, values.loop.node, "make it before the loop, or in each round")


def renewed(draft: Draft, values: Values) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Names that are bound only under a condition on the count, and used in each round, with that condition."""
    body = values.loop.node.body
    for branch in body.body:
        if not isinstance(branch, cst.If) or branch.orelse is not None or not _is_counted(draft, values, branch.test):
            continue
        inside = {id(node) for node in draft.below(branch)}
        bound = {name for node in draft.below(branch.body) for name in targets_of(node)} - set(values.origins)
        rest = [node for node in draft.below(body) if id(node) not in inside]
        bound -= {name for node in rest for name in targets_of(node)}
        for name in sorted(bound):
            uses = [node for node in rest if isinstance(node, cst.Name) and node.value == name]
            if any(not isinstance(each, cst.If) for each in _lines_of(values, draft, uses)):
                yield name, branch.test


def _is_read_on(draft: Draft, values: Values, name: str) -> bool:
    """Whether a name is an iterator, of which each round takes the next piece, or an object that holds such things."""
    taken = (call for call in draft.calls(values.loop.node.body) if tail(call.func) == "next" and call.args)
    made = (
        node.value for node in draft.below(values.loop.node.body)
        if isinstance(node, cst.Assign) and any(name in targets_of(target) for target in node.targets)
    )  # fmt: skip
    is_object = any(isinstance(value, cst.Call) and _OBJECTS.match(tail(value.func)) for value in made)
    return is_object or any(tail(call.args[0].value) == name for call in taken)


def _lines_of(values: Values, draft: Draft, uses: list[cst.Name]) -> Iterator[cst.CSTNode]:
    """The statements of the loop's own body that hold these uses."""
    for use in uses:
        above = [use, *values.above_in_loop(use)]
        yield next(each for each in above if draft.parent(each) is values.loop.node.body)


def _is_counted(draft: Draft, values: Values, test: cst.BaseExpression) -> bool:
    """Whether a condition is true in every n-th round: `step % size == 0`."""
    return any(
        isinstance(node, cst.BinaryOperation)
        and isinstance(node.operator, cst.Modulo)
        and values.loop.variable in {each.value for each in draft.below(node) if isinstance(each, cst.Name)}
        for node in (test, *draft.below(test))
    )


def _next(draft: Draft, values: Values, test: cst.BaseExpression) -> str:
    """A condition as the next round asks it."""
    loop = values.loop
    stride = draft.source(loop.stride) if loop.stride is not None else "1"
    start, text = draft.start(test), draft.source(test)
    places = [
        draft.span(node) for node in (test, *draft.below(test))
        if isinstance(node, cst.Name) and node.value == loop.variable
        and not isinstance(draft.parent(node), cst.Attribute)
    ]  # fmt: skip
    for begin, end in sorted(places, reverse=True):
        text = f"{text[: begin - start]}({loop.variable} + {stride}){text[end - start :]}"
    return text
