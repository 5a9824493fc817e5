"""What a training loop does with the things that it can name.

A step is often taken elsewhere: in a function that is given the optimizer, in a method of an object, in a loop over a
list of optimizers. Each such use is followed back to a name that can be written where the loop stands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.adapt.resuming.elements import index_of, unpacked
from outlast.adapt.resuming.loops import Values, targets_of
from outlast.adapt.resuming.scopes import global_names, is_method, parameters, seen_elsewhere
from outlast.adapt.resuming.visible import Visible
from outlast.migrate.tree import argument, dotted, positional, tail

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
_BARS = frozenset({"enumerate", "tqdm", "reversed", "list", "tuple", "sorted"})
#: Functions of Python that leave what they are given as it is.
_LOOKS = frozenset("len print str repr isinstance hasattr type id".split())
#: "this value is called", among the methods of a value
CALLED = "()"
#: "a scaler steps it", among the methods of a value
STEPPED = "scaler.step"


class Uses(Visible):
    """What the rounds of a loop call on each name that can be written where it stands."""

    def __init__(self, draft: Draft, values: Values) -> None:
        super().__init__(draft, values)
        own = {each.name.value: each for each in draft.functions() if not is_method(draft, each)}
        self._functions = {**seen_elsewhere(draft, cst.FunctionDef), **own}
        self.used: set[str] = set()
        self.methods: dict[str, set[str]] = defaultdict(set)
        #: container → what is called on what it holds
        self.elements: dict[str, set[str]] = defaultdict(set)
        self.functions: list[cst.FunctionDef] = []
        self._calls: dict[int, list[cst.Call]] = defaultdict(list)
        self._own: dict[int, dict[str, cst.BaseExpression]] = {}
        self._outer = [each for each in draft.above(values.scope) if isinstance(each, cst.FunctionDef)]
        self._walk()

    # ---- what the loop runs

    def _walk(self) -> None:
        waiting: list[cst.CSTNode] = [self.values.loop.node.body]
        seen = {id(self.values.scope)}
        while waiting:
            for node in self.draft.below(waiting.pop(0)):
                within = self.draft.scope(node)
                if isinstance(node, cst.Name | cst.Attribute) and not self._is_label(node):
                    for name, _ in self.seen_as(dotted(node), within):
                        self.used.update([name, *self.listed(name)])
                if isinstance(node, cst.Call):
                    self._use(node, within)
                for function in self._run_by(node, within):
                    if isinstance(node, cst.Call):
                        self._calls[id(function)].append(node)
                    if id(function) not in seen:
                        seen.add(id(function))
                        self.functions.append(function)
                        waiting.append(function.body)

    def _is_label(self, node: cst.CSTNode) -> bool:
        """`net` in `self.net` and in `step(net=model)` is no name of this place."""
        around = self.draft.parent(node)
        is_field = isinstance(around, cst.Attribute) and around.attr is node
        return is_field or (isinstance(around, cst.Arg) and around.keyword is node)

    def _run_by(self, node: cst.CSTNode, scope: Scope) -> Iterator[cst.FunctionDef]:
        if isinstance(node, cst.Name) and not isinstance(self.draft.parent(node), cst.Attribute | cst.Call):
            node = cst.Call(node)  # handed on, to be called there
        if not isinstance(node, cst.Call):
            return
        if isinstance(node.func, cst.Name):
            function = self._functions.get(node.func.value)
            if function is not None:
                yield function
            for name in [each for each, _ in self.seen_as(node.func.value, scope) if each in self.holders]:
                yield from self._methods(name, "__call__")
                yield from self._methods(name, "forward")
        elif isinstance(node.func, cst.Attribute):
            function = self._functions.get(node.func.attr.value)
            is_elsewhere = function is not None and self.draft.home(function) is not self.draft
            if function is not None and is_elsewhere and self.draft.resolve(node.func):
                yield function  # `engine.train_fn(model)`, of another file
            for name, rest in self.seen_as(dotted(node.func.value), scope):
                if not rest and name in self.holders:
                    yield from self._methods(name, node.func.attr.value)

    def _methods(self, name: str, method: str) -> Iterator[cst.FunctionDef]:
        for home in self.holders[name]:
            for node in home.body.body:
                if isinstance(node, cst.FunctionDef) and node.name.value == method:
                    yield node
                    return

    def _use(self, call: cst.Call, scope: Scope) -> None:
        if isinstance(call.func, cst.Attribute):
            method, owner = call.func.attr.value, call.func.value
        else:
            method, owner = CALLED, call.func
        for name in self.values_of(owner, call, scope):
            self.methods[name].add(method)
        for name in self._containers_of(owner, call, scope):
            self.elements[name].add(method)
        scales = method == "unscale_" or (method == "step" and "scaler" in dotted(owner))
        if scales and call.args:
            for name in self.values_of(call.args[0].value, call, scope):
                self.methods[name].add(STEPPED)

    def handed_on(self) -> set[str]:
        """Objects that the rounds give to something else (`Step(model, wrapper)`), or that a list has that they use."""
        blocks = [self.values.loop.node.body, *(function.body for function in self.functions)]
        given = {
            name
            for block in blocks for call in self.draft.calls(block) if tail(call.func) not in _LOOKS
            for arg in call.args if dotted(arg.value)
            for name, rest in self.seen_as(dotted(arg.value), self.draft.scope(call)) if not rest
        }  # fmt: skip
        return {name for name in self.holders if name in given or self.elements.get(name.partition("[")[0])}

    def values_of(self, owner: cst.BaseExpression, at: cst.CSTNode, scope: Scope, depth: int = 5) -> list[str]:
        """Names of the value that an expression stands for."""
        found = [name for name, rest in self.seen_as(dotted(owner), scope, depth) if not rest]
        if isinstance(owner, cst.Name):
            for container in self._ranges(owner.value, at):
                if isinstance(container, cst.Tuple | cst.List):
                    found += [
                        n for each in container.elements for n, rest in self.seen_as(dotted(each.value), scope, depth)
                    ]
                else:
                    found += [n for name, _ in self.seen_as(dotted(container), scope, depth) for n in self.listed(name)]
        elif isinstance(owner, cst.Subscript):
            found += [n for name, rest in self.seen_as(dotted(owner.value), scope, depth) for n in self.listed(name)]
        return found

    def _containers_of(self, owner: cst.BaseExpression, at: cst.CSTNode, scope: Scope, depth: int = 3) -> list[str]:
        """Names of the lists and dictionaries that hold the value of an expression."""
        if isinstance(owner, cst.Subscript):
            found = [name for name, rest in self.seen_as(dotted(owner.value), scope) if not rest]
        elif isinstance(owner, cst.Name):
            found = []
            for each in self._ranges(owner.value, at):
                base = each
                if isinstance(each, cst.Call) and isinstance(each.func, cst.Attribute):
                    base = each.func.value  # nets.values()
                found += [name for name, rest in self.seen_as(dotted(base), scope) if not rest]
            picked = self._assigned(owner.value, scope) if isinstance(scope, cst.FunctionDef) else None
            if isinstance(picked, cst.Subscript) and index_of(picked) is not None and depth:
                found += self._containers_of(picked, at, scope, depth - 1)
            if isinstance(scope, cst.FunctionDef) and owner.value in parameters(scope) and depth:
                for call in self._calls[id(scope)]:
                    value = self._argument(call, scope, owner.value)
                    if value is not None:
                        found += self._containers_of(value, call, self.draft.scope(call), depth - 1)
        else:
            found = []
        return [name for name in found if not self.listed(name)]

    def _ranges(self, name: str, at: cst.CSTNode) -> Iterator[cst.BaseExpression]:
        """What a loop goes over that gives a name its value."""
        for each in self.draft.above(at):
            if isinstance(each, cst.For):
                yield from _dealt(name, each.target, each.iter)
            elif isinstance(each, _COMPREHENSIONS):
                yield from _dealt(name, each.for_in.target, each.for_in.iter)
            elif isinstance(each, cst.FunctionDef):
                return

    # ---- following

    def seen_as(self, name: str, scope: Scope, depth: int = 5) -> list[tuple[str, str]]:
        """What the loop calls that which a function calls `name`, and what of it is left: `model`, `encoder.weight`."""
        root, _, rest = name.partition(".")
        if not root or not depth:
            return []
        if root == "self":
            home = next((each for each in self.draft.above(scope) if isinstance(each, cst.ClassDef)), None)
            roots = [(each, "") for each, chain in self.holders.items() if home in chain]
        elif scope is self.values.scope:
            roots = self._aliased(root, scope, depth) or ([(root, "")] if root in self.known else [])
        elif any(each is scope for each in self._outer):
            # A name of a function around the loop's own, which it sees, too, unless it has another thing by that name.
            is_hidden = root in self.values.origins
            roots = [(each, "") for each in (self.handed_in(root, scope) if is_hidden else [root])]
            roots = [each for each in roots if each[0] in self.known]
        elif isinstance(scope, cst.FunctionDef) and root in parameters(scope):
            roots = [each for call in self._calls[id(scope)] for each in self._handed(call, scope, root, depth - 1)]
        elif isinstance(scope, cst.FunctionDef):
            assigned = self._assigned(root, scope)
            if assigned is None:
                return self.seen_as(name, self.draft.scope(scope), depth)
            picked = assigned if isinstance(assigned, cst.Subscript) else None
            roots = self._picked(picked, scope, depth) if picked else self.seen_as(dotted(assigned), scope, depth - 1)
        elif scope is not self.draft.module:
            return []  # a name of another file
        else:
            is_hidden = self.values.scope is not self.draft.module and root in self.values.origins
            roots = [(root, "")] if root in self.known and not is_hidden else []
        found = []
        for base, left in roots:
            at, parts = base, [part for part in (*left.split("."), *rest.split(".")) if part]
            while parts and f"{at}.{parts[0]}" in self.known:
                at = f"{at}.{parts.pop(0)}"
            found.append((at, ".".join(parts)))
        return list(dict.fromkeys(found))

    def _picked(self, part: cst.Subscript, scope: Scope, depth: int) -> list[tuple[str, str]]:
        """`models[1]`, where `models` lists things that have names: the second of these."""
        at = index_of(part)
        lists = [self.listed(name) for name, rest in self.seen_as(dotted(part.value), scope, depth - 1) if not rest]
        return [(names[at], "") for names in lists if at is not None and at < len(names)]

    def alias(self, name: str) -> bool:
        """Whether a name is only another one of a value that has its own: `model = self.model`."""
        return "." not in name and bool(self._aliased(name, self.values.scope, 3))

    def _aliased(self, root: str, scope: Scope, depth: int) -> list[tuple[str, str]]:
        """`model = self.model`: another name of the same value; `rate = self.rate` is none once a round changes it."""
        origin = self.known.get(root)
        is_same = len(self.values.bindings.get(root, [])) == 1 and root not in self.values.bound
        if not isinstance(origin, cst.Attribute) or not is_same:
            return []
        return [(each, rest) for each, rest in self.seen_as(dotted(origin), scope, depth - 1) if not rest]

    def _assigned(self, name: str, function: cst.FunctionDef) -> cst.BaseExpression | None:
        """What a function gives to a name of its own; None where the name is not its own."""
        if id(function) not in self._own:
            own: dict[str, cst.BaseExpression] = {}
            for node in self.draft.below(function):
                around = self.draft.parent(node)
                if isinstance(node, cst.AssignTarget) and isinstance(around, cst.Assign):
                    if self.draft.scope(node) is function:
                        for each, part in unpacked(node.target, around.value).items():
                            own.setdefault(each, part or cst.Ellipsis())
                elif any(True for _ in targets_of(node)) and self.draft.scope(node) is function:
                    for each in targets_of(node):
                        own.setdefault(each, cst.Ellipsis())
            for each in global_names(self.draft, function):
                own.pop(each, None)
            self._own[id(function)] = own
        return self._own[id(function)].get(name)

    def _handed(self, call: cst.Call, function: cst.FunctionDef, name: str, depth: int) -> list[tuple[str, str]]:
        value = self._argument(call, function, name)
        if value is None or not depth:
            return []
        scope = self.draft.scope(call)
        direct = self.seen_as(dotted(value), scope, depth)
        return direct or [(each, "") for each in self.values_of(value, call, scope, depth - 1)]

    def _argument(self, call: cst.Call, function: cst.FunctionDef, name: str) -> cst.BaseExpression | None:
        """What a call gives for a parameter."""
        index = parameters(function).index(name) - (1 if is_method(self.draft, function) else 0)
        named = argument(call, name)
        return named.value if named else positional(call, index)


def _dealt(name: str, target: cst.CSTNode, over: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What a target's name ranges over: `opts` for `o` in `for m, o in zip(models, opts)`."""
    made = tail(over.func) if isinstance(over, cst.Call) else ""
    if isinstance(target, cst.Name):
        if target.value == name:
            first = positional(over, 0) if isinstance(over, cst.Call) and made in _BARS else None
            yield first if first is not None else over
    elif isinstance(target, cst.Tuple) and isinstance(over, cst.Call):
        if made == "zip":
            for at, element in enumerate(target.elements):
                given = positional(over, at)
                if given is not None:
                    yield from _dealt(name, element.value, given)
        elif made == "enumerate" and len(target.elements) == 2:
            given = positional(over, 0)
            if given is not None:
                yield from _dealt(name, target.elements[1].value, given)
        elif made == "items" and len(target.elements) == 2:
            yield from _dealt(name, target.elements[1].value, over)
