"""The values that go round in the training loop of a script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.adapt.resuming.arrays import changed_parts, find_views
from outlast.adapt.resuming.behind import bound_anew, is_variable
from outlast.adapt.resuming.branches import is_made_by
from outlast.adapt.resuming.changes import changed_in
from outlast.adapt.resuming.counters import Loop, is_plain_read
from outlast.adapt.resuming.parts import chosen, has_none, is_none
from outlast.adapt.resuming.restored import found_out
from outlast.migrate.tree import dotted, tail

_BINDERS = (cst.AssignTarget, cst.CompFor, cst.AsName, cst.Param, cst.ListComp, cst.GeneratorExp, cst.DictComp,
            cst.SetComp, cst.Lambda, cst.NamedExpr)  # fmt: skip
_TARGETED = frozenset({cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.NamedExpr, cst.AsName})

#: Methods of accelerate, Fabric and Apex that wrap what they are given.
_WRAPS = re.compile(r"prepare(?:_\w+)?|setup(?:_\w+)?|initialize")


class Values:
    """Names of a loop's function: which are there before it, which it changes, which live on behind it."""

    def __init__(self, draft: Draft, loop: Loop) -> None:
        self.draft = draft
        self.loop = loop
        self.scope: Scope = draft.scope(loop.node)
        self.origins: dict[str, cst.BaseExpression | None] = {}
        #: what made those that a library has wrapped since: `scheduler = accelerator.prepare(scheduler)`
        self.wrapped: dict[str, cst.BaseExpression | None] = {}
        #: name → every statement that binds it before the loop, with the value
        self.bindings: dict[str, list[tuple[cst.CSTNode, cst.BaseExpression | None]]] = {}
        start, end = draft.span(loop.node)
        self._body = [node for node in draft.below(loop.node.body) if draft.scope(node) is self.scope]
        self._before(start)
        #: numbers that the script's own way to go on finds out
        self.found = found_out(draft, self._body, self.bindings)
        self.changed = self.bound | self.found | set(changed_in(draft, self._body, self.origins))
        views = find_views(self._body)
        #: arrays of which the loop changes a part
        self.filled = {name for node in self._body for name in changed_parts(node, views)}
        after = [node for node in self._own() if draft.start(node) >= end and is_variable(draft, node)]
        #: bound in the loop alone, read behind it
        read = {node.value for node in after if node.value in self.bound and node.value not in self.origins}
        self.outliving = {
            name for name in read if not bound_anew(draft, [each for each in after if each.value == name])
        }
        #: bound in some rounds alone, used in all; whoever finds them adds them here
        self.occasional: set[str] = set()
        is_read = any(node.value == loop.variable and not self._is_counted_anew(node) for node in after)
        # What a `while` loop counts with is there before it and saved like any value; a `for` loop binds it.
        if is_read and loop.counter is not None:
            self.outliving.add(loop.variable)

    @property
    def now_and_then(self) -> list[str]:
        """Names that only some rounds bind, and that are read behind the loop or later: `best_epoch` of the best."""
        always = {
            name
            for node in self._body
            for name in targets_of(node)
            if not any(isinstance(each, cst.If) for each in _until(self.draft, node, self.loop.node))
        }
        return sorted((self.outliving | self.occasional) - always - {self.loop.variable})

    @cached_property
    def _opened(self) -> frozenset[str]:
        """Names that a `with` or an `except` gives, and nothing else: they are closed, or gone, when the round ends."""
        withs = frozenset(tail(node.name) for node in self._body if isinstance(node, cst.AsName))
        return withs - {name for node in self._body if not isinstance(node, cst.AsName) for name in targets_of(node)}

    @property
    def outlives_its_end(self) -> bool:
        """Whether the round that a `break` ends binds all that is read behind: after a stop it is run again."""
        ends = [self.draft.start(node) for node in self._body if isinstance(node, cst.Break)]
        first = {
            name
            for node in self._body
            for name in targets_of(node)
            if ends and self.draft.start(node) < min(ends)
            and not any(isinstance(each, cst.If) for each in _until(self.draft, node, self.loop.node))
        }  # fmt: skip
        return bool(ends) and self.outliving <= {*first, *self.now_and_then, self.loop.variable}

    def _is_counted_anew(self, node: cst.Name) -> bool:
        """Whether another loop with the same counter gives a name its value."""
        return any(isinstance(each, cst.For) and tail(each.target) == node.value for each in self.draft.above(node))

    def _own(self) -> Iterator[cst.Name]:
        return (
            node
            for node in self.draft.below(self.scope)
            if isinstance(node, cst.Name) and self.draft.scope(node) is self.scope
        )

    def _before(self, start: int) -> None:
        if isinstance(self.scope, cst.FunctionDef):
            for param in (*self.scope.params.params, *self.scope.params.kwonly_params):
                self.origins[param.name.value] = None
        for node in self.draft.below(self.scope):
            if self.draft.scope(node) is not self.scope or isinstance(node, cst.ClassDef):
                continue
            if (
                isinstance(node, cst.Assign | cst.AnnAssign)
                and self.draft.start(node) < start
                and not self._in_class(node)
            ):
                targets = [each.target for each in node.targets] if isinstance(node, cst.Assign) else [node.target]
                for target in targets:
                    self._follow_wrapped(target, node.value)
                    self._originate(target, node.value, self.draft.statement(node))
            elif (
                isinstance(node, cst.AsName)
                and isinstance(self.draft.parent(node), cst.WithItem)
                and self.draft.start(node) < start
            ):
                self.origins[tail(node.name)] = None

    def _in_class(self, node: cst.CSTNode) -> bool:
        return any(isinstance(each, cst.ClassDef) for each in _until(self.draft, node, self.scope))

    def _originate(self, target: cst.CSTNode, value: cst.BaseExpression | None, where: cst.CSTNode) -> None:
        if isinstance(target, cst.Name):
            # `None` stands for "none of it this time": what it is otherwise tells more.
            if not (is_none(value) and target.value in self.origins):
                self.origins[target.value] = chosen(value)
            self.bindings.setdefault(target.value, []).append((where, value))
        elif isinstance(target, cst.Tuple | cst.List):
            same = isinstance(value, cst.Tuple) and len(value.elements) == len(target.elements)
            for at, element in enumerate(target.elements):
                part = value.elements[at].value if same and isinstance(value, cst.Tuple) else value
                self._originate(element.value, part, where)

    def _follow_wrapped(self, target: cst.CSTNode, value: cst.BaseExpression | None) -> None:
        """What is handed back in the order in which it was given is still what it was."""
        targets = [each.value for each in target.elements] if isinstance(target, cst.Tuple | cst.List) else [target]
        given: list[cst.BaseExpression | None] = [None] * len(targets)
        if isinstance(value, cst.Call) and _WRAPS.fullmatch(tail(value.func)) and len(value.args) == len(targets):
            names = ["" if arg.star or arg.keyword else tail(arg.value) for arg in value.args]
            given = [self.wrapped.get(name) or self.origins.get(name) for name in names]
        self.wrapped.update((tail(each), made) for each, made in zip(targets, given, strict=True))

    def may_be_none(self, name: str) -> bool:
        """Whether a name can be `None` when the loop starts."""
        if name.startswith("self."):
            return any(has_none(value) for value in self.field_values().get(name, []))
        bindings = self.bindings.get(name, [])
        sure = max((at for at, (where, _) in enumerate(bindings) if self.is_sure(where)), default=0)
        return any(has_none(value) for _, value in bindings[sure:])

    def may_be_missing(self, name: str) -> bool:
        """Whether a name can be unbound when a round ends: no branch makes it for sure, and no round insists on it."""
        if self.is_surely_there(name):
            return False
        uses = (node for node in self._body if isinstance(node, cst.Name) and node.value == name)
        return not any(is_variable(self.draft, use) and self._is_always_run(use) for use in uses)

    def _is_always_run(self, node: cst.CSTNode) -> bool:
        """Whether every round gets to a node: it stands in no branch, and behind nothing that ends the round before."""
        ends = [self.draft.start(each) for each in self._body if isinstance(each, cst.Continue)]
        is_first = all(self.draft.start(node) < end for end in ends)
        branches = cst.If | cst.IfExp | cst.BooleanOperation
        return is_first and not any(isinstance(each, branches) for each in self.above_in_loop(node))

    def condition(self, name: str) -> str:
        """The condition under which a name is there: the script's own where that can be asked again."""
        # `net, opt = load(path, net, opt)` needs what was there before.
        made = [(at, value) for at, value in self.bindings.get(name, []) if not self._reads(value, name)]
        found = {self.condition_at(where) for where, _ in made}
        asked = found.pop() if len(found) == 1 else None
        return asked or f'"{name}" in locals()'

    def _reads(self, value: cst.BaseExpression | None, name: str) -> bool:
        below = self.draft.below(value) if value is not None else ()
        return any(isinstance(each, cst.Name) and each.value == name for each in below)

    def condition_at(self, statement: cst.CSTNode) -> str | None:
        """The condition of a statement before the loop; empty where there is none, None where it cannot be asked."""
        if self.is_sure(statement):
            return ""
        block = self.draft.parent(statement)
        around = self.draft.parent(block) if block is not None else None
        if not isinstance(around, cst.If) or not self.is_sure(around) or around.body is not block:
            return None
        names = {each.value for each in (around.test, *self.draft.below(around.test)) if isinstance(each, cst.Name)}
        is_same = is_plain_read(self.draft, around.test) and not names & self.changed
        return self.draft.source(around.test) if is_same else None

    def is_sure(self, where: cst.CSTNode) -> bool:
        """Whether a statement is always run before the loop: its block, or a `with` in it, holds the loop too."""
        around = {id(each) for each in self.draft.above(self.loop.node)} | {id(self.scope)}
        for each in self.draft.above(where):
            if id(each) in around:
                return True
            if not isinstance(each, cst.IndentedBlock | cst.With):
                return False
        return True

    def above_in_loop(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What is around a node, as far as the loop goes."""
        return _until(self.draft, node, self.loop.node)

    @cached_property
    def bound(self) -> frozenset[str]:
        """Names that the loop binds itself, and that may hold something after its round."""
        return frozenset(name for node in self._body for name in targets_of(node) if name) - self._opened

    @property
    def source(self) -> str:
        return self.draft.source(self.loop.node)

    @property
    def owner(self) -> cst.ClassDef | None:
        """The class whose method holds the loop."""
        return next((each for each in self.draft.above(self.loop.node) if isinstance(each, cst.ClassDef)), None)

    @property
    def reach(self) -> str:
        """What the loop runs: its own lines, and its class where it calls methods of that."""
        calls = any(dotted(call.func).startswith("self.") for call in self.draft.calls(self.loop.node.body))
        return self.draft.source(self.owner) if calls and self.owner is not None else self.source

    def fields(self) -> dict[str, cst.BaseExpression]:
        """`self.x` → its value, for those that the loop's class sets to one thing, or to that and `None`."""
        some = {
            name: [chosen(value) for value in values if not is_none(value)]
            for name, values in self.field_values().items()
        }
        return {name: values[0] for name, values in some.items() if len(values) == 1 and values[0] is not None}

    def field_values(self) -> dict[str, list[cst.BaseExpression]]:
        """`self.x` → everything that the loop's class sets it to."""
        found: dict[str, list[cst.BaseExpression]] = {}
        for node in self.draft.below(self.owner) if self.owner is not None else ():
            if isinstance(node, cst.Assign):
                name = dotted(node.targets[0].target)
                if name.startswith("self.") and name.count(".") == 1:
                    found.setdefault(name, []).append(node.value)
        return found

    def is_used(self, name: str) -> bool:
        """Whether the loop reads a name, or, for names of the module, a function that it calls does."""
        if any(isinstance(node, cst.Name) and node.value == name for node in self._body):
            return True
        return self.scope is self.draft.module and any(
            isinstance(node, cst.Name) and node.value == name
            for function in self.run_functions()
            if name not in {param.name.value for param in function.params.params}
            for node in self.draft.below(function.body)
        )

    def run_functions(self) -> list[cst.FunctionDef]:
        """Functions of the file that the loop calls, and those that these call."""
        by_name = {function.name.value: function for function in self.draft.functions()}
        found: dict[str, cst.FunctionDef] = {}
        open_nodes: list[cst.CSTNode] = [self.loop.node.body]
        while open_nodes:
            for call in self.draft.calls(open_nodes.pop()):
                name = tail(call.func)
                if isinstance(call.func, cst.Name) and name in by_name and name not in found:
                    found[name] = by_name[name]
                    open_nodes.append(by_name[name].body)
        return list(found.values())

    def carried(self) -> list[str]:
        """What must be saved for the next round, in source order."""
        counter = self.loop.variable if self.loop.counter is not None else "_"
        found = [name for name in self.origins if name in self.changed and name not in (counter, "_")]
        found = [name for name in found if self.is_surely_there(name) or not self._is_made_anew(name)]
        return [name for name in found if not self.is_replaced(name)]

    def is_replaced(self, name: str) -> bool:
        """Whether each round that uses a name first gives it another value, in the block of all these uses."""
        end = self.draft.span(self.loop.node)[1]
        elsewhere = [self.draft.below(each.body) for each in self.draft.functions() if self.scope is self.draft.module]
        others = [node for nodes in elsewhere for node in nodes if isinstance(node, cst.Name) and node.value == name]
        test = self.loop.node.test if isinstance(self.loop.node, cst.While) else None
        tested = (test, *self.draft.below(test)) if test is not None else ()
        uses = [node for node in self._body if isinstance(node, cst.Name) and node.value == name]
        target = self.draft.parent(uses[0]) if uses else None
        bound = self.draft.parent(target) if isinstance(target, cst.AssignTarget) else None
        if others or not isinstance(bound, cst.Assign) or any(tail(each) == name for each in tested):
            return False
        if any(node.value == name and self.draft.start(node) >= end for node in self._own()):
            return False
        block = self.draft.parent(self.draft.statement(bound))
        reads = (bound.value, *self.draft.below(bound.value))
        return not any(tail(each) == name for each in reads if isinstance(each, cst.Name)) and all(
            any(each is block for each in self.draft.above(use)) for use in uses
        )

    def is_surely_there(self, name: str) -> bool:
        """Whether a name has a value when the loop starts, whatever branches are taken before."""
        bindings = self.bindings.get(name, [])
        made = {id(where) for where, _ in bindings}
        outside = {id(each) for each in self.draft.above(self.loop.node)}
        around = [
            each for where, _ in bindings for each in (where, *self.draft.above(where)) if id(each) not in outside
        ]
        return not bindings or any(self.is_sure(each) and is_made_by(each, made) for each in around)

    def _is_made_anew(self, name: str) -> bool:
        """Whether each round that uses a name gives it a value first, and nothing behind the loop reads it."""
        end = self.draft.span(self.loop.node)[1]
        if any(node.value == name and self.draft.start(node) >= end for node in self._own()):
            return False
        uses = [node for node in self._body if isinstance(node, cst.Name) and node.value == name]
        if not uses or not self._binds(uses[0]):
            return False
        first = self._line_of_body(uses[0])
        return isinstance(first, cst.SimpleStatementLine) or all(self._line_of_body(use) is first for use in uses)

    def _line_of_body(self, node: cst.CSTNode) -> cst.CSTNode:
        """The statement of the loop's own body that holds a node."""
        chain = [node, *self.draft.above(node)]
        return chain[next(at for at, each in enumerate(chain) if each is self.loop.node.body) - 1]

    def early_reads(self) -> list[str]:
        """Names bound in the loop alone that are read before they are bound: the round before is needed."""
        seen: set[str] = set()
        found = []
        only_here = self.bound - set(self.origins) - {self.loop.variable}
        for node in self._body:
            if isinstance(node, cst.Name) and node.value in only_here and node.value not in seen:
                seen.add(node.value)
                if not self._binds(node):
                    found.append(node.value)
        return found

    def _binds(self, node: cst.Name) -> bool:
        """Whether the first sight of a name is its binding; in `a = f(b)` and comprehensions the value comes later."""
        is_part = False
        for each in self.draft.above(node):
            is_part |= isinstance(each, cst.Subscript)
            if isinstance(each, cst.AssignTarget) and is_part:
                return False  # `seen[epoch] = loss` fills what was there
            if isinstance(each, _BINDERS):
                return True
            if isinstance(each, cst.For) and each is not self.loop.node:
                return any(below is node for below in (each.target, *self.draft.below(each.target)))
            if isinstance(each, cst.Arg) and each.keyword is node:
                return True
            if isinstance(each, cst.Attribute) and each.attr is node:
                return True
            if isinstance(each, cst.SimpleStatementLine):
                return False
        return False


def _until(draft: Draft, node: cst.CSTNode, scope: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for each in draft.above(node):
        if each is scope:
            return
        yield each


def targets_of(node: cst.CSTNode) -> Iterator[str]:
    if type(node) not in _TARGETED:  # nearly all nodes, and each is asked often
        return
    if isinstance(node, cst.AssignTarget | cst.AnnAssign | cst.AugAssign | cst.For | cst.NamedExpr):
        yield from _plain(node.target)
    elif isinstance(node, cst.AsName):
        yield tail(node.name)


def _plain(target: cst.CSTNode) -> Iterator[str]:
    if isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _plain(element.value)


def parameters_of(call: cst.Call, draft: Draft) -> list[str]:
    """The models whose `.parameters()` an optimizer was given: `model`, or `self.model`."""
    owners = [
        dotted(each.func.value) for each in draft.calls(call)
        if isinstance(each.func, cst.Attribute) and each.func.attr.value in ("parameters", "named_parameters")
    ]  # fmt: skip
    models = [".".join(owner.split(".")[: 2 if owner.startswith("self.") else 1]) for owner in owners]
    return list(dict.fromkeys(model for model in models if model))
