"""A change that a training makes once, in the first round that is far enough:

    if epoch >= 50 and not is_free:
        net.unfreeze()
        loader = DataLoader(rows, batch_size=16)
        is_free = True

No file holds the loader, and whoever finds the flag set does not make it. So nothing of it is kept: a stint that begins
behind that round makes the change as its first act.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.loops import Values, targets_of
from outlast.migrate.tree import tail

#: what may be called once more, for nothing adds up
_AGAIN = re.compile(r"\w*(?:un)?(?:freeze|thaw)\w*|requires_grad_|print|info|debug|barrier|train|eval|format", re.I)


def turned(draft: Draft, values: Values, saved: Sequence[str]) -> set[str]:
    """Names that such a branch gives their values, its flag too. `saved`: models and optimizers, which keep theirs."""
    branches = [each for each in values.loop.node.body.body if isinstance(each, cst.If) and each.orelse is None]
    found: set[str] = set()
    for branch in branches:
        bound = {name for node in draft.below(branch.body) for name in targets_of(node)}
        flag = next((name for name in sorted(bound) if _is_flag(draft, values, branch, name)), "")
        if flag and not bound & {*saved} and _is_alone(draft, values, branch, bound) and _may_be_again(draft, branch):
            found |= bound
    return found


def _is_flag(draft: Draft, values: Values, branch: cst.If, name: str) -> bool:
    """Whether a name is False before the loop, true behind the branch, and keeps it from being run again."""
    before = [value for _, value in values.bindings.get(name, [])]
    set_to = [
        node.value for node in draft.below(branch.body)
        if isinstance(node, cst.Assign) and any(tail(target.target) == name for target in node.targets)
    ]  # fmt: skip
    asked = [
        each for each in _conjuncts(branch.test)
        if isinstance(each, cst.UnaryOperation) and isinstance(each.operator, cst.Not) and tail(each.expression) == name
    ]  # fmt: skip
    are_off = bool(before) and all(value is not None and tail(value) == "False" for value in before)
    return are_off and [tail(value) for value in set_to] == ["True"] and len(asked) == 1


def _conjuncts(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        yield from _conjuncts(test.left)
        yield from _conjuncts(test.right)
    else:
        yield test


def _is_alone(draft: Draft, values: Values, branch: cst.If, bound: set[str]) -> bool:
    """Whether the branch makes its values of what no round changes, and nothing has looked at them before it.

    Once it is time for it, it must stay so: `epoch >= 50`.
    """
    inside = {id(node) for node in (branch, *draft.below(branch))}
    rest = [node for node in draft.below(values.loop.node.body) if id(node) not in inside]
    if bound & {name for node in rest for name in targets_of(node)}:
        return False
    if any(
        isinstance(node, cst.Name) and node.value in bound and draft.start(node) < draft.start(branch) for node in rest
    ):
        return False
    counted = [each for each in _conjuncts(branch.test) if _is_counted(draft, values, each)]
    asked = {id(node) for each in counted for node in draft.below(each)}
    read = {node.value for node in draft.below(branch) if isinstance(node, cst.Name) and id(node) not in asked}
    return bool(counted) and not read & ((values.bound | {values.loop.variable}) - bound)


def _is_counted(draft: Draft, values: Values, test: cst.BaseExpression) -> bool:
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    other = test.comparisons[0]
    limit = {node.value for node in (other.comparator, *draft.below(other.comparator)) if isinstance(node, cst.Name)}
    is_far = isinstance(other.operator, cst.GreaterThan | cst.GreaterThanEqual)
    return is_far and tail(test.left) == values.loop.variable and not limit & values.bound


def _may_be_again(draft: Draft, branch: cst.If) -> bool:
    """Whether nothing but names and what is trained is set, and nothing is called that adds up."""
    below = list(draft.below(branch.body))
    targets = [node.target for node in below if isinstance(node, cst.AssignTarget | cst.AugAssign)]
    called = [node.value for node in below if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call)]
    return all(isinstance(each, cst.Name | cst.Tuple) or tail(each) == "requires_grad" for each in targets) and all(
        _AGAIN.fullmatch(tail(call.func)) for call in called
    )
