"""Loops that could be a training, and what counts their rounds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import dotted, positional, tail

_TRAINING = r"epochs?|steps?|iter|itr|iters|iterations?|rounds?|gen|generation|epi?|episodes?"
_ROUND = re.compile(
    rf"_|e|ep|it|trial|t|k|i|(?:\w+_)?n?(?:{_TRAINING})(?:_?(?:num|idx|index|i|id|no|count|counter))?", re.I
)
_NAMED = re.compile(rf"(?:e|it)\d*$|(?:\w+_)?(?:{_TRAINING})", re.I)
#: what a training is counted up to
_EPOCHS = re.compile(r"(?:\w+_)?(?:n|nb|num|max|total)?_?epochs|(?:n|nb|num|max|total)_?epoch", re.I)
#: What is counted around trainings, or within what they train.
_AROUND = re.compile(
    r"fold|seed|run|rep|trial|split|cv|task|client|member|model|config|param|layer|class|block|lr", re.I
)
#: Bars that are wrapped around what counts.
_BARS = frozenset("tqdm tqdm_notebook track progress progress_bar progressbar master_bar iter".split())
#: Of these a condition may be made: reading it once more changes nothing.
_READS = (
    cst.Name, cst.Attribute, cst.Integer, cst.Float, cst.Comparison, cst.ComparisonTarget, cst.BooleanOperation,
    cst.UnaryOperation, cst.BinaryOperation, cst.BaseCompOp, cst.BaseBooleanOp, cst.BaseUnaryOp, cst.BaseBinaryOp,
    cst.Subscript, cst.SubscriptElement, cst.Index, cst.SimpleString, cst.Arg,
)  # fmt: skip
_MEASURES = frozenset({"len", "int", "float", "abs"})


@dataclass(frozen=True)
class Loop:
    """`for epoch in range(…)` or `while epoch < …`: the loop, its variable, and the call that counts."""

    node: cst.For | cst.While
    variable: str
    counter: cst.Call | None  # range(…), trange(…), arange(…) or count(…); None where the loop counts by itself
    top: cst.CSTNode  # the statement that counts: the loop, or the line before it that names the counter
    is_apart: bool = False  # it counts where the loop only finds a name, with other statements in between
    numbered: cst.Call | None = None  # enumerate(range(…)), which counts beside it
    is_counted: bool = True  # False where only its condition tells that it goes on: `while not done`
    held: str = ""  # what holds a round's number where the round itself changes the variable: `epoch += 1`

    @property
    def number(self) -> str:
        """The number of a round, where that ends."""
        return self.held or self.variable

    @property
    def first(self) -> cst.BaseExpression | None:
        """Where counting starts; None for 0."""
        if self.counter is None or len(places(self.counter)) <= (0 if self.is_endless else 1):
            return None
        return positional(self.counter, 0)

    @property
    def stop(self) -> cst.BaseExpression | None:
        """Where counting ends; None where only the loop itself knows."""
        if self.counter is None or self.is_endless:
            return None
        return places(self.counter)[0 if len(places(self.counter)) == 1 else 1].value

    @property
    def stride(self) -> cst.BaseExpression | None:
        """What is added in each round; None for 1."""
        given = places(self.counter) if self.counter is not None else []
        return given[2].value if len(given) == 3 else None

    @property
    def is_endless(self) -> bool:
        """`itertools.count()`, `while True`: a `break` ends it."""
        if isinstance(self.node, cst.While):
            return _is_true(self.node.test)
        return self.counter is not None and tail(self.counter.func) == "count"


def find_loops(draft: Draft) -> list[Loop]:
    """Outermost counting loops that could be a training, those named like one first."""
    return named_first([loop for loop in find_counting(draft) if is_outermost(draft, loop.node)])


def named_first(found: list[Loop]) -> list[Loop]:
    """Those that are called like a training; all where none is."""
    return [loop for loop in found if is_named(loop)] or found


def is_named(loop: Loop) -> bool:
    """Whether its rounds are called like those of a training, or counted up to what is: `for m in range(Epochs)`."""
    stop = loop.stop
    if isinstance(stop, cst.BinaryOperation) and isinstance(stop.right, cst.Integer):
        stop = stop.left  # `range(1, epochs + 1)`
    return bool(_NAMED.match(loop.variable)) or bool(_EPOCHS.fullmatch(tail(stop)))


def find_counting(draft: Draft, *, by_any_name: bool = False) -> list[Loop]:
    """Counting loops that could be a training; loops over folds, seeds or settings may be around them."""
    found = []
    for node in draft.nodes:
        if not isinstance(node, cst.For) or not isinstance(node.body, cst.IndentedBlock) or not _is_top(draft, node):
            continue
        loop = _counted_by(draft, node)
        if loop is None or loop.counter is None:
            continue
        if not any(arg.star for arg in loop.counter.args):
            found.append(loop)
    if by_any_name:
        return [loop for loop in found if not _AROUND.search(loop.variable)]
    called = [loop for loop in found if _ROUND.fullmatch(loop.variable.strip("_") or "_") or is_named(loop)]
    # By another name (`for j in range(N)`, in another language) it may be a training, too, if there is none by these.
    return called or [loop for loop in found if not _AROUND.search(loop.variable)]


def _counted_by(draft: Draft, node: cst.For) -> Loop | None:
    over: cst.BaseExpression | None = node.iter
    top: cst.CSTNode = node
    if isinstance(node.iter, cst.Name):
        over, top = _named(draft, node, node.iter.value)
    inner = _unwrapped(node.iter)
    if isinstance(inner, cst.Name) and (over is None or inner is not node.iter):
        counter = _counter_apart(draft, node, inner.value) if isinstance(node.target, cst.Name) else None
        is_apart = counter is not None or over is None
        if is_apart:
            return Loop(node, tail(node.target), counter, node, is_apart=True) if counter is not None else None
    if over is None:
        return None
    if isinstance(node.target, cst.Name):
        return Loop(node, node.target.value, _counter(draft, over), top)
    return _counted_among(draft, node, _unwrapped(over), top)


def _counted_among(draft: Draft, node: cst.For, over: cst.BaseExpression, top: cst.CSTNode) -> Loop | None:
    """`for step, batch in zip(range(N), batches)`, `for at, epoch in enumerate(range(N))`."""
    parts = [each.value for each in node.target.elements] if isinstance(node.target, cst.Tuple) else []
    if not isinstance(over, cst.Call):
        return None
    given = [arg.value for arg in places(over)]
    if tail(over.func) == "zip" and len(parts) == len(given) == len(over.args):
        for part, each in zip(parts, given, strict=True):
            counter = _counter(draft, each)
            others = [other for other in given if other is not each]
            # A source that ends would begin anew after a stop, and the training would see more of it than without.
            if counter is not None and isinstance(part, cst.Name) and all(_is_endless(draft, one) for one in others):
                return Loop(node, part.value, counter, top)
    if tail(over.func) == "enumerate" and given and len(parts) == 2 and isinstance(parts[1], cst.Name):
        counter = _counter(draft, given[0])
        if counter is not None and _is_countable(draft, counter):
            return Loop(node, parts[1].value, counter, top, numbered=over)
    return None


def _is_countable(draft: Draft, counter: cst.Call) -> bool:
    """Whether it can be told how many rounds were before one: `range(1, N + 1)`, by ones from what can be read."""
    given = places(counter)
    is_range = tail(counter.func) != "count" and len(given) < 3
    return is_range and (len(given) == 1 or is_plain_read(draft, given[0].value))


def _is_endless(draft: Draft, source: cst.BaseExpression) -> bool:
    """`cycle(loader)`, or a function of this file that hands out for ever."""
    made = tail(source.func) if isinstance(source, cst.Call) else ""
    return made in ("cycle", "repeat") or any(
        isinstance(node, cst.While) and _is_true(node.test) and any(isinstance(e, cst.Yield) for e in draft.below(node))
        for function in draft.functions()
        if function.name.value == made
        for node in draft.below(function)
    )


def _unwrapped(node: cst.BaseExpression) -> cst.BaseExpression:
    """What a bar is wrapped around."""
    while isinstance(node, cst.Call) and tail(node.func) in _BARS and (first := positional(node, 0)) is not None:
        node = first
    return node


def _is_top(draft: Draft, node: cst.For) -> bool:
    """Whether no loop around it is a training itself."""
    for each in _within_scope(draft, node):
        if isinstance(each, cst.While):
            return False
        if isinstance(each, cst.For) and _counter(draft, each.iter) is not None and _is_counter(tail(each.target)):
            return False
    return True


def find_while_loops(draft: Draft) -> list[Loop]:
    """Outermost `while` loops that change what their condition asks for, or count; the condition changes nothing."""
    found = []
    for node in draft.nodes:
        if not isinstance(node, cst.While) or not isinstance(node.body, cst.IndentedBlock):
            continue
        if not is_outermost(draft, node) or not is_plain_read(draft, node.test):
            continue
        changed = list(dict.fromkeys(_counted(draft, node)))
        tested = {each.value for each in (node.test, *draft.below(node.test)) if isinstance(each, cst.Name)}
        names = [name for name in changed if _is_true(node.test) or name in tested]
        if names:
            found.append(Loop(node, names[0], None, node))
            continue
        # `while not done`, `while self.step < self.steps`: what is asked for goes from round to round as well.
        bound = {dotted(target) for target in _rebound(draft, node)}
        asked = [dotted(each) for each in (node.test, *draft.below(node.test)) if dotted(each)]
        fields = [name for name in asked if name.startswith("self.") and name.count(".") == 1]
        if _is_true(node.test):
            # `self.step += 1` counts as well, and a `break` asks for it.
            fields = [
                dotted(each.target) for each in draft.below(node.body)
                if isinstance(each, cst.AugAssign) and isinstance(each.operator, cst.AddAssign)
                and isinstance(each.value, cst.Integer) and draft.scope(each) is draft.scope(node)
                and dotted(each.target).startswith("self.") and dotted(each.target).count(".") == 1
            ]  # fmt: skip
        names = [name for name in asked if name in bound and "." not in name] or fields
        if names:
            found.append(Loop(node, names[0], None, node, is_counted=False))
    return found


def _rebound(draft: Draft, loop: cst.While) -> Iterator[cst.CSTNode]:
    for node in draft.below(loop.body):
        if isinstance(node, cst.AugAssign | cst.AssignTarget) and draft.scope(node) is draft.scope(loop):
            whole = node.target
            yield from [each.value for each in whole.elements] if isinstance(whole, cst.Tuple) else [whole]


def is_plain_read(draft: Draft, node: cst.BaseExpression) -> bool:
    """Whether an expression only looks at values: `step < args.steps and best > 0.1`."""
    return all(
        isinstance(each, _READS) or (isinstance(each, cst.Call) and dotted(each.func) in _MEASURES)
        for each in (node, *draft.below(node))
    )


def is_outermost(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether no other loop of its function is around a loop."""
    return not any(isinstance(each, cst.For | cst.While) for each in _within_scope(draft, node))


def _is_true(test: cst.BaseExpression) -> bool:
    return isinstance(test, cst.Name | cst.Integer) and test.value in ("True", "1")


def _counted(draft: Draft, loop: cst.While) -> Iterator[str]:
    """Names called like a counter that the loop makes from what they were: `step += 1`, `a, step = b, step + 1`."""
    scope = draft.scope(loop)
    for node in draft.below(loop.body):
        if draft.scope(node) is not scope:
            continue
        if isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name):
            if isinstance(node.operator, cst.AddAssign) and _is_counter(node.target.value):
                yield node.target.value
        elif isinstance(node, cst.Assign):
            whole = node.targets[0].target
            parts = [element.value for element in whole.elements] if isinstance(whole, cst.Tuple) else [whole]
            names = [part.value for part in parts if isinstance(part, cst.Name)]
            read = {each.value for each in (node.value, *draft.below(node.value)) if isinstance(each, cst.Name)}
            yield from (name for name in names if name in read and _is_counter(name))


def _is_counter(name: str) -> bool:
    return bool(_ROUND.fullmatch(name) and _NAMED.match(name))


def _counter(draft: Draft, node: cst.BaseExpression) -> cst.Call | None:
    if isinstance(node, cst.NamedExpr):  # for epoch in (bar := tqdm(range(N)))
        return _counter(draft, node.value)
    if not isinstance(node, cst.Call):
        return None
    name = tail(node.func)
    if name in ("range", "trange", "xrange"):
        return node if name != "xrange" and len(places(node)) in (1, 2, 3) else None
    if draft.resolve(node.func) == "numpy.arange":
        return node if _counts_whole(node) else None
    if draft.resolve(node.func) == "itertools.count":
        return node if len(node.args) == len(places(node)) < 2 else None
    first = positional(node, 0)
    return _counter(draft, first) if name in _BARS and first is not None else None


def _counts_whole(call: cst.Call) -> bool:
    """`np.arange(0, epochs)`: by whole numbers, as fractions would add up to something else after a stop."""
    given = [arg.value for arg in places(call)]
    is_whole = not any(isinstance(each, cst.Float) for each in given)
    is_step = len(given) < 3 or isinstance(given[2], cst.Integer)
    return len(given) == len(call.args) in (1, 2, 3) and is_whole and is_step


def _named(draft: Draft, loop: cst.For, name: str) -> tuple[cst.BaseExpression | None, cst.CSTNode]:
    """`bar = trange(N)` in the line before `for _ in bar`, or `with trange(N) as bar` around it.

    Nothing can happen between the two.
    """
    block = draft.parent(loop)
    around = draft.parent(block) if block is not None else None
    if isinstance(around, cst.With) and isinstance(block, cst.IndentedBlock) and block.body[0] is loop:
        item = around.items[0]
        is_bar = len(around.items) == 1 and item.asname is not None and tail(item.asname.name) == name
        return (item.item, around) if is_bar else (None, loop)
    lines = list(block.body) if isinstance(block, cst.IndentedBlock | cst.Module) else []
    at = next((index for index, line in enumerate(lines) if line is loop), 0)
    line = lines[at - 1] if at else None
    named = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
    if line is None or not isinstance(named, cst.Assign) or len(named.targets) != 1:
        return None, loop
    is_counter = tail(named.targets[0].target) == name and isinstance(_unwrapped(named.value), cst.Call)
    return (named.value, line) if is_counter else (None, loop)


def _counter_apart(draft: Draft, loop: cst.For, name: str) -> cst.Call | None:
    """`rounds = range(N)`, later perhaps `rounds = tqdm(rounds)`, and then the loop over it.

    What is counted must still be so where the loop stands: none of it is bound again in between.
    """
    scope, end = draft.scope(loop), draft.start(loop)
    before = [
        node
        for node in draft.below(scope)
        if isinstance(node, cst.Assign) and draft.scope(node) is scope and draft.start(node) < end
    ]
    bound = [node for node in before if any(tail(target.target) == name for target in node.targets)]
    made = [node for node in bound if tail(_unwrapped(node.value)) != name]
    counter = _counter(draft, made[0].value) if len(made) == 1 and bound[0] is made[0] else None
    block = draft.parent(draft.statement(made[0])) if counter is not None else None
    if counter is None or len(places(counter)) == 3 or not any(each is block for each in draft.above(loop)):
        return None
    read = {each.value for each in draft.below(counter) if isinstance(each, cst.Name)}
    again = (node for node in before if draft.start(node) > draft.start(made[0]))
    is_same = not any(tail(target.target) in read for node in again for target in node.targets)
    return counter if is_same and all(is_plain_read(draft, arg.value) for arg in places(counter)[:-1]) else None


def places(call: cst.Call) -> list[cst.Arg]:
    """Arguments without a name."""
    return [arg for arg in call.args if arg.keyword is None]


def _within_scope(draft: Draft, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for each in draft.above(node):
        if isinstance(each, cst.FunctionDef | cst.ClassDef):
            return
        yield each
