"""Fields that an object makes when a method is called for the first time, and goes on with: a window, a figure.

Nobody knows whether such a thing fits into a file, and without it the object must not believe that it has it.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.kept import is_plain
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.parts import parts_of
from outlast.adapt.resuming.uses import Uses
from outlast.migrate.tree import dotted, tail


def made_late(uses: Uses, holder: str) -> Iterator[str]:
    """Fields that a method makes by a call in one branch alone, and reads in another."""
    below = [node for home in uses.holders[holder] for node in uses.draft.below(home)]
    methods = [node for node in below if isinstance(node, cst.FunctionDef)]
    at_once = _called_at_once(uses.draft, methods)
    for method in methods:
        if method.name.value in at_once:
            continue
        nodes = [node for node in uses.draft.below(method) if isinstance(node, cst.Assign | cst.Attribute)]
        for made in (node for node in nodes if isinstance(node, cst.Assign)):
            name, branch = dotted(made.targets[0].target), _branch(uses, made, method)
            is_field = name.startswith("self.") and name.count(".") == 1
            if not is_field or branch is None or is_plain(made.value) or _is_there(uses, name, method):
                continue
            inside = {id(node) for node in uses.draft.below(branch)}
            if any(dotted(node) == name and id(node) not in inside for node in nodes):
                yield name.replace("self", holder, 1)


def _called_at_once(draft: Draft, methods: list[cst.FunctionDef]) -> set[str]:
    """The methods that run when an object is made: `__init__`, and what it calls of its own."""
    found: set[str] = set()
    waiting = ["__init__"]
    while waiting:
        name = waiting.pop()
        found.add(name)
        calls = [call for each in methods if each.name.value == name for call in draft.calls(each.body)]
        own = {tail(call.func) for call in calls if dotted(call.func) == f"self.{tail(call.func)}"}
        waiting += sorted(own - found)
    return found


def is_reset(draft: Draft, values: Values, uses: Uses, holder: str) -> bool:
    """`state = env.reset()`: each round begins with an object as it is at first, all fields that change included."""
    calls = _called_in_lines(draft, values.loop.node.body)
    # `result = self.train_epoch(epoch)`, which begins with that.
    inner = [each for each in uses.functions if each.name.value in {tail(call.func) for call in calls}]
    calls += [call for each in inner for call in _called_in_lines(draft.home(each), each.body)]
    is_first = any(dotted(call.func) == f"{holder}.reset" for call in calls)
    if not is_first and not _is_reset_where_used(draft, values, uses, holder):
        return False
    below = [node for home in uses.holders[holder] for node in uses.draft.below(home)]
    methods = {node.name.value: node for node in below if isinstance(node, cst.FunctionDef)}
    waiting = ["reset"]
    made: set[str] = set()
    while waiting:
        method = methods.pop(waiting.pop(), None)
        for node in uses.draft.below(method.body) if method is not None else ():
            if isinstance(node, cst.AssignTarget):
                made.update(parts_of(node.target, None, fields=True))
                made.update(_gone_over(uses.draft, node))
            elif isinstance(node, cst.Call) and dotted(node.func).startswith("self."):
                waiting.append(tail(node.func))
    return all(name.replace(holder, "self", 1) in made for name in uses.changing(holder))


def _is_reset_where_used(draft: Draft, values: Values, uses: Uses, holder: str) -> bool:
    """Whether the one function that uses an object resets it, whenever that is called."""
    blocks = [values.loop.node.body, *(each.body for each in uses.functions)]
    used = [each for each in blocks if any(dotted(node) == holder for node in draft.home(each).below(each))]
    calls = [call for each in used for call in _called_in_lines(draft.home(each), each)]
    return len(used) == 1 and any(dotted(call.func) == f"{holder}.reset" for call in calls)


def _called_in_lines(draft: Draft, block: cst.BaseSuite) -> list[cst.Call]:
    """What is called in lines that always run."""
    lines = [line for line in block.body if isinstance(line, cst.SimpleStatementLine)]
    return [call for line in lines for call in draft.calls(line)]


def _gone_over(draft: Draft, node: cst.AssignTarget) -> list[str]:
    """`for name in self.rows: self.rows[name] = 0`: all of a field, one part after the other."""
    whole: cst.BaseExpression = node.target
    while isinstance(whole, cst.Subscript) or (isinstance(whole, cst.Attribute) and dotted(whole.value) != "self"):
        whole = whole.value
    loop = next((each for each in draft.above(node) if isinstance(each, cst.For)), None)
    is_all = whole is not node.target and loop is not None and dotted(whole) in draft.source(loop.iter)
    return [dotted(whole)] if is_all else []


def _branch(uses: Uses, node: cst.CSTNode, method: cst.FunctionDef) -> cst.CSTNode | None:
    """The branch of a method that holds a node."""
    before = node
    for each in uses.draft.above(node):
        if each is method:
            return None
        if isinstance(each, cst.If):
            return before
        before = each
    return None


def _is_there(uses: Uses, name: str, method: cst.FunctionDef) -> bool:
    """Whether another method gives the field a value as well: an object may have it from its beginning."""
    home = next(each for each in uses.draft.above(method) if isinstance(each, cst.ClassDef))
    return any(
        isinstance(node, cst.AssignTarget)
        and uses.draft.scope(node) is not method
        and name in parts_of(node.target, None, fields=True)
        for node in uses.draft.below(home)
    )
