"""What some rounds bind and later ones may read: `best_net = deepcopy(net)` of the best one, `bad = 0` and `bad += 1`.

Such a name need not be there before the loop, as the script knows that its first round binds it. After a stop the
first round is another one, so it is kept from round to round like what is there before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.behind import is_variable
from outlast.adapt.resuming.loops import Values, targets_of
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.renewed import renewed
from outlast.adapt.resuming.unkept import NOT_KEPT
from outlast.migrate.tree import tail

#: calls that make what no file should hold, beside those of `NOT_KEPT`
_OPEN = re.compile(r"iter|cycle|(?:\w*_)?(?:data)?(?:loader|iterator)s?", re.I)
#: likewise, of what rounds make when they draw it
_DRAWN = re.compile(r"figure|subplots?")
#: true in the first round of a loop that counts from 0: `i % 5 == 0`
_AT_FIRST = re.compile(r"\(?(\w+)\)?(?:%[\w.]+)?==0")
_ENDS = (cst.Continue, cst.Break, cst.Return, cst.Raise)


def keep_earlier(draft: Draft, values: Values) -> None:
    """Keep what a round may read of an earlier one; refuse where that is an iterator, a figure or an open file."""
    known = {name for name, _ in renewed(draft, values)}
    for name in (each for each in _read_later(draft, values) if each not in known):
        given = _given(draft, values, name)
        is_drawn = any(_DRAWN.fullmatch(tail(value.func)) for value in given if isinstance(value, cst.Call))
        if is_drawn and not _is_always_read(draft, values, name):
            continue  # read under a condition, which may well be that under which it is made
        if is_drawn or any(_is_open(draft, value) for value in given):
            said = f"{name} is made in some rounds and used in others, and is not there before the loop"
            raise Refusal(said, values.loop.node, "make it before the loop, or in each round")
        values.occasional.add(name)


def _read_later(draft: Draft, values: Values) -> list[str]:
    """Names that the loop alone binds, and that are read where this round may not have bound them."""
    alone = values.bound - set(values.origins) - {values.loop.variable, "_"}
    reads = (
        node
        for node in draft.below(values.loop.node.body)
        if isinstance(node, cst.Name) and node.value in alone and draft.scope(node) is values.scope
    )
    found: dict[str, None] = {}
    for node in reads:
        if node.value not in found and _is_read(draft, node) and not _is_bound_at(draft, values, node):
            found[node.value] = None
    return list(found)


def _is_always_read(draft: Draft, values: Values, name: str) -> bool:
    reads = (
        node
        for node in draft.below(values.loop.node.body)
        if isinstance(node, cst.Name) and node.value == name and _is_read(draft, node)
    )
    return any(not any(isinstance(each, cst.If) for each in values.above_in_loop(node)) for node in reads)


def _is_read(draft: Draft, node: cst.Name) -> bool:
    before: cst.CSTNode = node
    for each in draft.above(node):
        if isinstance(each, cst.AssignTarget | cst.AsName | cst.Param | cst.Del):
            return False
        if isinstance(each, cst.For | cst.AnnAssign | cst.NamedExpr | cst.CompFor):
            return each.target is not before
        if not isinstance(each, cst.Tuple | cst.List | cst.Element | cst.StarredElement):
            break
        before = each
    return is_variable(draft, node) and not _is_of_comprehension(draft, node)


def _is_of_comprehension(draft: Draft, node: cst.Name) -> bool:
    around = (each for each in draft.above(node) if isinstance(each, cst.BaseComp))
    return any(
        isinstance(each, cst.CompFor)
        and any(tail(part) == node.value for part in (each.target, *draft.below(each.target)))
        for comp in around
        for each in draft.below(comp)
    )


def _is_bound_at(draft: Draft, values: Values, node: cst.Name) -> bool:
    """Whether the round has bound a name before it gets to a node."""
    asked = set(_asked(draft, values, node))
    at: cst.CSTNode = node
    for each in values.above_in_loop(node):
        if isinstance(each, cst.IndentedBlock):
            index = next(number for number, line in enumerate(each.body) if line is at)
            if any(_binds(values, line, node.value, asked) for line in reversed(each.body[:index])):
                return True
        elif isinstance(each, cst.For) and at is not each.iter and node.value in targets_of(each):
            return True
        elif isinstance(each, cst.With) and at is each.body:
            if any(item.asname is not None and tail(item.asname.name) == node.value for item in each.items):
                return True
        elif isinstance(each, cst.Try) and at is not each.body and _binds(values, each.body, node.value, asked):
            return True
        at = each
    return False


def _asked(draft: Draft, values: Values, node: cst.CSTNode) -> Iterator[str]:
    """Conditions under which a node is run."""
    at = node
    for each in values.above_in_loop(node):
        if isinstance(each, cst.If) and at is each.body:
            yield from _parts(draft, each.test)
        at = each


def _parts(draft: Draft, test: cst.BaseExpression) -> Iterator[str]:
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        yield from _parts(draft, test.left)
        yield from _parts(draft, test.right)
    yield "".join(draft.source(test).split())


def _binds(values: Values, node: cst.CSTNode, name: str, asked: set[str]) -> bool:
    """Whether a statement that is run binds a name. Loops are taken to have rounds, and `try` to get to its end."""
    if isinstance(node, cst.If):
        is_bound = _binds(values, node.body, name, asked)
        if "".join(values.draft.source(node.test).split()) in asked or _is_first(values, node):
            return is_bound
        other = node.orelse
        return other is not None and all(
            _binds(values, branch, name, asked) or _ends(branch) for branch in (node.body, other)
        )
    if isinstance(node, cst.For | cst.While | cst.With | cst.Else | cst.Try):
        given = {tail(item.asname.name) for item in node.items if item.asname} if isinstance(node, cst.With) else set()
        return name in given or name in targets_of(node) or _binds(values, node.body, name, asked)
    if isinstance(node, cst.IndentedBlock | cst.SimpleStatementSuite):
        return any(_binds(values, line, name, asked) for line in node.body)
    if isinstance(node, cst.FunctionDef | cst.ClassDef):
        return node.name.value == name
    return any(
        name in targets_of(each) for each in (node, *values.draft.below(node)) if not isinstance(each, cst.AugAssign)
    )


def _is_first(values: Values, node: cst.If) -> bool:
    """`if i % 5 == 0` in `for i, batch in enumerate(loader)` within a round: its first step is one of these."""
    asked = _AT_FIRST.fullmatch("".join(values.draft.source(node.test).split()))
    around = next((each for each in values.above_in_loop(node) if isinstance(each, cst.For | cst.While)), None)
    return asked is not None and isinstance(around, cst.For) and asked[1] in targets_of(around)


def _ends(branch: cst.CSTNode) -> bool:
    body = branch.body if isinstance(branch, cst.Else) else branch
    last = body.body[-1] if isinstance(body, cst.IndentedBlock) and body.body else None
    return isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], _ENDS)


def _given(draft: Draft, values: Values, name: str) -> Sequence[cst.BaseExpression]:
    return [
        node.value
        for node in draft.below(values.loop.node.body)
        if isinstance(node, cst.Assign) and any(name in targets_of(target) for target in node.targets)
    ]


def _is_open(draft: Draft, value: cst.BaseExpression) -> bool:
    made = tail(value.func) if isinstance(value, cst.Call) else ""
    return made in NOT_KEPT - {"zip", "map", "filter"} or bool(_OPEN.fullmatch(made))
