"""What a training loop of MindSpore does with the things that it can name.

A Cell is called, and runs its `construct`. A gradient is a function that was made of another one, often far from the
loop: `grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)`; whoever calls it runs `forward_fn`.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Scope
from outlast.adapt.resuming.scopes import parameters
from outlast.adapt.resuming.uses import CALLED, Uses
from outlast.migrate.tree import dotted, tail


class CellUses(Uses):
    """What the rounds of a loop call, through Cells and through functions that were made of functions."""

    @property
    def reached(self) -> Iterator[cst.Call]:
        """Calls that a round makes."""
        for block in (self.values.loop.node.body, *(function.body for function in self.functions)):
            yield from self.draft.calls(block)

    def _use(self, call: cst.Call, scope: Scope) -> None:
        super()._use(call, scope)
        if isinstance(call.func, cst.Attribute):  # self.net(x)
            for name in self.values_of(call.func, call, scope):
                self.methods[name].add(CALLED)
        for made, where in self.origins(dotted(call.func), scope) if dotted(call.func) else ():
            for function in (each for each in self._made_of_what(made) if isinstance(each, cst.Lambda)):
                for inner in self.draft.calls(function.body):  # value_and_grad(lambda x, y: loss_fn(net(x), y), …)
                    for name in self.values_of(inner.func, inner, where):
                        self.used.add(name)
                        self.methods[name].add(CALLED)

    def _run_by(self, node: cst.CSTNode, scope: Scope) -> Iterator[cst.FunctionDef]:
        yield from super()._run_by(node, scope)
        if isinstance(node, cst.Call):
            name = dotted(node.func)
            yield from self._constructs(name, scope)
            for made, where in self.origins(name, scope) if name else ():
                yield from self._run_inside(made, where)

    def _constructs(self, name: str, scope: Scope) -> Iterator[cst.FunctionDef]:
        for each in self._holders_of(name, scope):
            yield from self._methods(each, "construct")

    def _holders_of(self, name: str, scope: Scope) -> list[str]:
        return [each for each, rest in self.seen_as(name, scope) if not rest and each in self.holders]

    def _run_inside(self, made: cst.BaseExpression | None, scope: Scope) -> Iterator[cst.FunctionDef]:
        """Functions and Cells of this file that a value was made of: `ms.jit(step)`, `ms.grad(self.forward)`."""
        for each in self._made_of_what(made):
            name = dotted(each)
            if isinstance(each, cst.Name) and name in self._functions:
                yield self._functions[name]
            elif name:
                yield from self._constructs(name, scope)
                owner, _, method = name.rpartition(".")
                for holder in self._holders_of(owner, scope) if owner else ():
                    yield from self._methods(holder, method)

    def _made_of_what(self, made: cst.BaseExpression | None) -> Iterator[cst.BaseExpression]:
        while isinstance(made, cst.Call):
            yield from (arg.value for arg in made.args)
            made = made.func  # GradOperation(get_by_list=True)(net, weights)

    def run_by(self, call: cst.Call) -> list[cst.FunctionDef]:
        """Functions of this file that a call runs."""
        return list(self._run_by(call, self.draft.scope(call)))

    def origins(self, name: str, scope: Scope) -> list[tuple[cst.BaseExpression | None, Scope]]:
        """What a name of the loop, or of a function that it runs, is made of, and where that is written."""
        root, _, rest = name.partition(".")
        within = scope
        while isinstance(within, cst.FunctionDef) and within is not self.values.scope:
            if root in parameters(within):
                break
            assigned = self._assigned(root, within)
            if assigned is not None and not rest:
                return [(assigned, within)]
            within = self.draft.scope(within)
        found = [each for each, left in self.seen_as(name, scope) if not left]
        made = [self.source_of(each) for each in found]
        return [(each, self.draft.scope(each)) for each in made if each is not None]

    def source_of(self, name: str) -> cst.BaseExpression | None:
        """What a visible name is made of; a field that an object was given is followed to who gave it."""
        origin = self.made(name) or self.known.get(name)
        if not isinstance(origin, cst.Name):
            return origin
        for home in self.holders.get(name.rpartition(".")[0], []):
            for node in home.body.body:
                if not isinstance(node, cst.FunctionDef) or node.name.value != "__init__":
                    continue
                if origin.value in parameters(node):
                    return self.given(node, origin.value) or origin
        return origin

    def is_made_in_round(self, name: str, scope: Scope) -> bool:
        """Whether a function that a round runs makes it: each round has its own, and nothing of it goes on."""
        found = self.origins(name, scope)
        return bool(found) and all(
            isinstance(made, cst.Call) and any(where is each for each in self.functions) for made, where in found
        )


def last(name: str) -> str:
    return name.rpartition(".")[2]


def bases_of(home: cst.ClassDef) -> list[str]:
    return [tail(base.value) for base in home.bases]
