"""Where the parsed arguments of a script are known, and by which name: `args`, elsewhere `opt`, or `self.args`.

They are followed from the call that parses through functions that return them and functions that are given them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.migrate.tree import argument, dotted, positional, tail

#: hands on from function to function, more than any script has
_ROUNDS = 6


@dataclass(frozen=True)
class Place:
    """A name for the arguments in one scope (in all methods of a class for `self.args`), from one byte on."""

    scope: Scope | cst.ClassDef
    name: str
    start: int = 0
    is_late: bool = False  # a global that a function sets: code of the module itself comes too early


class Namespaces:
    """Every place where the value of one expression is known."""

    def __init__(self, draft: Draft, parsed: cst.BaseExpression) -> None:
        self._draft = draft
        self._landed: set[int] = set()
        self._bound: dict[int, set[str]] = {}
        self._reached: dict[tuple[int, int], set[int]] = {}
        self.places: list[Place] = []
        #: `vars(parser.parse_args())`: a dictionary
        self.is_dict = False
        self._functions: dict[str, list[cst.FunctionDef]] = {}
        for function in draft.functions():
            self._functions.setdefault(called_name(draft, function), []).append(function)
        self._land(parsed)
        for _ in range(_ROUNDS):
            before = len(self.places)
            self._spread()
            if len(self.places) == before:
                break

    def names(self) -> frozenset[str]:
        return frozenset(place.name.rpartition(".")[2] for place in self.places)

    def at(self, node: cst.CSTNode) -> str:
        """The name by which code at this place reads the arguments; empty where it has none."""
        here = self._draft.scope(node)
        shadowed: set[str] = set()
        for scope in self._scopes(here):
            # What an object holds is known wherever it is used; names of the module only where that is started.
            if scope is self._draft.module and (held := self._in_class(here, node)):
                return held
            for place in self.places:
                if place.scope is not scope or place.name in shadowed or "." in place.name:
                    continue
                if self._is_known(place, here, node):
                    return place.name
            shadowed |= self._bound_in(scope)
        return ""

    def is_missing_anew(self, node: cst.CSTNode) -> bool:
        """Whether a process that is started anew has no arguments there: behind `if __name__ == "__main__"` none runs.

        Where the script's own functions read them all the same, it starts no such processes.
        """
        here, name = self._draft.scope(node), self.at(node)
        if not isinstance(here, cst.FunctionDef) or "." in name:
            return False
        is_own = any(place.name == name and place.scope in self._scopes(here)[:-1] for place in self.places)
        return not is_own and self._is_guarded(name) and not self._is_read_in_functions(name)

    def _is_guarded(self, name: str) -> bool:
        places = [place for place in self.places if place.scope is self._draft.module and place.name == name]
        guards = [self._draft.span(each) for each in self._draft.module.body if _is_start(self._draft, each)]
        return bool(places) and all(any(start <= place.start < end for start, end in guards) for place in places)

    def _is_read_in_functions(self, name: str) -> bool:
        return any(
            isinstance(node, cst.Name) and node.value == name and isinstance(self._draft.parent(node), cst.Attribute)
            and isinstance(scope := self._draft.scope(node), cst.FunctionDef)
            and not any(name in self._bound_in(each) for each in self._scopes(scope)[:-1])
            for node in self._draft.nodes
        )  # fmt: skip

    def _is_known(self, place: Place, here: Scope, node: cst.CSTNode) -> bool:
        if place.scope is here:
            return not place.is_late and self._draft.start(node) > place.start
        if place.is_late or not isinstance(here, cst.FunctionDef):
            return True
        # What runs before the arguments are parsed finds nothing.
        return id(here) not in self._early(place)

    def _early(self, place: Place) -> set[int]:
        """Functions that the code of a scope reaches before a name is bound there, whichever calls lead to them."""
        key = (id(place.scope), place.start)
        if key not in self._reached:
            reached: set[int] = set()
            functions = [each for several in self._functions.values() for each in several]
            calls = {id(each): [*calls_of(self._draft, each)] for each in functions}
            grows = True
            while grows:
                found = {
                    id(each) for each in functions
                    for call in calls[id(each)]
                    if id(scope := self._draft.scope(call)) in reached
                    or (scope is place.scope and self._draft.start(call) < place.start)
                }  # fmt: skip
                grows, reached = not found <= reached, reached | found
            self._reached[key] = reached
        return self._reached[key]

    def _bound_in(self, scope: Scope) -> set[str]:
        if id(scope) not in self._bound:
            self._bound[id(scope)] = bound_in(self._draft, scope)
        return self._bound[id(scope)]

    def _scopes(self, here: Scope) -> list[Scope]:
        found: list[Scope] = [here] if here is not self._draft.module else []
        found += [each for each in self._draft.above(here) if isinstance(each, cst.FunctionDef)]
        return [*found, self._draft.module]

    def _in_class(self, here: Scope, node: cst.CSTNode) -> str:
        owner = _class_of(self._draft, here)
        for place in self.places:
            if not isinstance(here, cst.FunctionDef) or owner is None or place.scope is not owner:
                continue
            start, end = self._draft.span(here)
            is_same_method = start <= place.start < end
            if self._draft.start(node) > place.start if is_same_method else here.name.value != "__init__":
                return place.name
        return ""

    # ---- where a value goes

    def _land(self, value: cst.CSTNode) -> None:
        """Note where the value of this expression is kept, returned or handed to."""
        if id(value) in self._landed:
            return
        self._landed.add(id(value))
        parent = self._draft.parent(value)
        if isinstance(parent, cst.Assign) and parent.value is value:
            for target in parent.targets:
                self._keep(target.target, parent)
        elif isinstance(parent, cst.AnnAssign):
            self._keep(parent.target, parent)
        elif isinstance(parent, cst.Return):
            self._return(parent)
        elif isinstance(parent, cst.Arg):
            call = self._draft.parent(parent)
            if isinstance(call, cst.Call) and tail(call.func) == "vars" and not self.places:
                self.is_dict = True
                self._land(call)

    def _keep(self, target: cst.BaseExpression, at: cst.CSTNode) -> None:
        scope = self._draft.scope(at)
        if isinstance(target, cst.Tuple) and target.elements:
            target = target.elements[0].value  # of parse_known_args
        start = self._draft.span(at)[1] - 1
        if isinstance(target, cst.Name):
            self._add(Place(scope, target.value, start))
            if target.value in _globals_of(self._draft, scope):
                self._add(Place(self._draft.module, target.value, start, is_late=True))
        owner = _class_of(self._draft, scope)
        if isinstance(target, cst.Attribute) and tail(target.value) == "self" and owner is not None:
            self._add(Place(owner, f"self.{target.attr.value}", start))

    def _return(self, line: cst.Return) -> None:
        function = self._draft.scope(line)
        if not isinstance(function, cst.FunctionDef) or len(self._functions[called_name(self._draft, function)]) > 1:
            return
        lines = [each for each in self._draft.below(function) if isinstance(each, cst.Return)]
        if all(each is line or self._draft.scope(each) is not function for each in lines):
            for call in self._calls_of(function):
                self._land(call)

    def _add(self, place: Place) -> None:
        if place not in self.places:
            self.places.append(place)

    def _spread(self) -> None:
        names = self.names()
        for node in self._draft.nodes:
            parent = self._draft.parent(node) if isinstance(node, cst.Name | cst.Attribute) else None
            is_value = isinstance(parent, cst.Assign) and parent.value is node
            if (is_value or isinstance(parent, cst.Return)) and tail(node) in names and self._is_namespace(node):
                self._land(node)
        for functions in self._functions.values():
            if len(functions) == 1:
                self._spread_into(functions[0])

    def _spread_into(self, function: cst.FunctionDef) -> None:
        """A parameter holds the arguments if every call in the file hands them over."""
        calls = self._calls_of(function)
        names = parameters_of(function)
        shift = 1 if names[:1] in (["self"], ["cls"]) else 0
        for at, name in enumerate(names[shift:]):
            given = [named.value if (named := argument(call, name)) else positional(call, at) for call in calls]
            is_handed = given and all(value is not None and self._is_namespace(value) for value in given)
            if is_handed and not self._is_made_anew(function, name):
                self._add(Place(function, name))

    def _is_made_anew(self, function: cst.FunctionDef, name: str) -> bool:
        """`if type(args) == dict: args = Namespace(**args)`: other callers bring what this parser does not make."""
        return any(
            isinstance(node, cst.Assign) and isinstance(node.value, cst.Call)
            and any(isinstance(each.target, cst.Name) and each.target.value == name for each in node.targets)
            and any(dotted(arg.value) == name for arg in node.value.args)
            and any(
                isinstance(above, cst.If) and tail(call.func) in ("type", "isinstance")
                for above in self._draft.above(node) for call in self._draft.calls(above)
            )
            for node in self._draft.below(function)
        )  # fmt: skip

    def _is_namespace(self, value: cst.CSTNode) -> bool:
        return id(value) in self._landed or (bool(dotted(value)) and dotted(value) == self.at(value))

    def _calls_of(self, function: cst.FunctionDef) -> list[cst.Call]:
        return list(calls_of(self._draft, function))


def _is_start(draft: Draft, statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.If) and "__name__" in draft.source(statement.test)


def calls_of(draft: Draft, function: cst.FunctionDef) -> Iterator[cst.Call]:
    """The calls of a function of the file: `train(…)` is not `model.train()`, and no method is `torch.save(…)`."""
    name, is_method = called_name(draft, function), _class_of(draft, function) is not None
    for call in draft.calls_named(name):
        if isinstance(call.func, cst.Name) or (is_method and not draft.is_of_library(call.func)):
            yield call


def parameters_of(function: cst.FunctionDef) -> list[str]:
    return [param.name.value for param in (*function.params.params, *function.params.kwonly_params)]


def default_of(function: cst.FunctionDef, name: str) -> cst.BaseExpression | None:
    """What a parameter is where nothing is passed, if that is anything."""
    params = (*function.params.params, *function.params.kwonly_params)
    default = next((param.default for param in params if param.name.value == name), None)
    return None if tail(default) == "None" else default


def bound_in(draft: Draft, scope: Scope) -> set[str]:
    """Names that a function binds for itself."""
    if isinstance(scope, cst.Module):
        return set()
    targets = [node.target for node in draft.below(scope) if isinstance(node, cst.AssignTarget)]
    names = {target.value for target in targets if isinstance(target, cst.Name)} | set(parameters_of(scope))
    return names - _globals_of(draft, scope)


def _globals_of(draft: Draft, scope: Scope) -> set[str]:
    found = [node for node in draft.below(scope) if isinstance(node, cst.Global)] if scope is not draft.module else []
    return {tail(item.name) for node in found for item in node.names}


def _class_of(draft: Draft, scope: Scope) -> cst.ClassDef | None:
    """The class whose method a function is."""
    if not isinstance(scope, cst.FunctionDef) or parameters_of(scope)[:1] != ["self"]:
        return None
    return next((each for each in draft.above(scope) if isinstance(each, cst.ClassDef)), None)


def called_name(draft: Draft, function: cst.FunctionDef) -> str:
    """By which name a function is called: the class, for `__init__`."""
    owner = _class_of(draft, function) if function.name.value == "__init__" else None
    return owner.name.value if owner is not None else function.name.value
