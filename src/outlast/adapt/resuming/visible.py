"""The names that can be written where a loop stands, with what each is made of.

Names of the loop's function, of the module and of functions around it; and the fields of objects whose class is in the
same file, as `trainer.model`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.adapt.resuming.arrays import filled_places
from outlast.adapt.resuming.called import only_class, whole_of
from outlast.adapt.resuming.declared import declared_fields, factory_of
from outlast.adapt.resuming.loops import Values, targets_of
from outlast.adapt.resuming.parts import chosen, has_none, is_none, parts_of
from outlast.adapt.resuming.ranks import is_library
from outlast.adapt.resuming.scopes import global_names, is_method, own_classes, parameters, seen_elsewhere
from outlast.adapt.signatures import fits, taken_word
from outlast.migrate.tree import argument, dotted, positional, tail

#: methods that the making of an object runs
_MAKING = frozenset({"__init__", "__post_init__"})
_CHANGES = frozenset("append extend insert add update pop remove clear setdefault appendleft popleft".split())


class Visible:
    """Names, what they are made of, and the objects among them."""

    def __init__(self, draft: Draft, values: Values) -> None:
        self.draft, self.values = draft, values
        self._classes = {**seen_elsewhere(draft, cst.ClassDef), **own_classes(draft)}
        #: name → what it is made of; names of the module and fields of objects too
        self.known: dict[str, cst.BaseExpression | None] = {**self._around(), **values.origins}
        #: name → the classes of this file that it is an object of, the nearest first
        self.holders: dict[str, list[cst.ClassDef]] = {}
        self._field_values: dict[str, list[cst.BaseExpression]] = {}
        self._hold()

    def _around(self) -> dict[str, cst.BaseExpression | None]:
        """Names of other files, of the module, and of functions around the loop's, that its function does not hide."""
        scope = self.values.scope
        found: dict[str, cst.BaseExpression | None] = {
            tail(each.asname.name if each.asname else each.name): None
            for node in self.draft.nodes
            if isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar)
            and not is_library(dotted(node.module).partition(".")[0])
            for each in node.names
        }  # fmt: skip
        if scope is self.draft.module:
            return found
        own = {name for node in self.draft.below(scope) if self.draft.scope(node) is scope for name in targets_of(node)}
        own -= global_names(self.draft, scope)
        outer: list[Scope] = [each for each in self.draft.above(scope) if isinstance(each, cst.FunctionDef)]
        for around in [self.draft.module, *reversed(outer)]:
            for node in self.draft.below(around):
                if self.draft.scope(node) is not around or self._in_class(node, around):
                    continue
                if isinstance(node, cst.Assign):
                    for target in node.targets:
                        found.update(parts_of(target.target, node.value))
            if isinstance(around, cst.FunctionDef):
                found.update(dict.fromkeys(parameters(around)))
        return {name: chosen(origin) for name, origin in found.items() if name not in own}

    def _in_class(self, node: cst.CSTNode, scope: Scope) -> bool:
        for each in self.draft.above(node):
            if each is scope:
                return False
            if isinstance(each, cst.ClassDef):
                return True
        return False

    def made(self, name: str) -> cst.Call | None:
        """The call that makes a value, also where it was handed in by the one call of a function."""
        origin = self.known.get(name)
        if origin is None and isinstance(self.values.scope, cst.FunctionDef):
            origin = self.given(self.values.scope, name)
        return origin if isinstance(origin, cst.Call) else self._handed_to_field(origin)

    def _handed_to_field(self, value: cst.BaseExpression | None) -> cst.Call | None:
        """The call that makes what a parameter hands to a field: `self.optimizer = optimizer`, or `words["optimizer"]`
        of `**words`.
        """
        function = self.draft.scope(value) if isinstance(value, cst.Name | cst.Subscript) else None
        name = taken_word(function, value) or tail(value) if isinstance(function, cst.FunctionDef) else ""
        made = self.given(function, name) if isinstance(function, cst.FunctionDef) else None
        return made if isinstance(made, cst.Call) else None

    def given(self, function: cst.FunctionDef, name: str, depth: int = 3) -> cst.BaseExpression | None:
        """What the one call of a function gives for a parameter, followed to where it is made."""
        names = parameters(function)
        calls = self._calls_of(function)
        if (name not in names and function.params.star_kwarg is None) or len(calls) != 1 or not depth:
            return None
        named = argument(calls[0], name)
        index = names.index(name) - (1 if is_method(self.draft, function) else 0) if name in names else len(names)
        value = named.value if named else positional(calls[0], index)
        if not isinstance(value, cst.Name):
            return value
        scope = self.draft.scope(calls[0])
        found = [
            part
            for node in self.draft.below(scope)
            if isinstance(node, cst.Assign)
            and self.draft.scope(node) is scope
            # `seen = train(seen)` hands back what it was given.
            and node.value is not calls[0]
            for target in node.targets
            for each, part in parts_of(target.target, node.value).items()
            if each == value.value and not is_none(part)
        ]
        if found:
            return chosen(found[-1])
        return self.given(scope, value.value, depth - 1) if isinstance(scope, cst.FunctionDef) else None

    def handed_in(self, name: str, scope: Scope) -> list[str]:
        """Parameters of the loop's function that are given a name of the function that calls it."""
        function = self.values.scope
        if not isinstance(function, cst.FunctionDef) or scope is function:
            return []
        calls = self._calls_of(function)
        names = parameters(function)
        skip = 1 if is_method(self.draft, function) else 0
        found = []
        for call in calls if len(calls) == 1 and self.draft.scope(calls[0]) is scope else []:
            for at, arg in enumerate(call.args):
                if dotted(arg.value) == name and (arg.keyword is not None or at + skip < len(names)):
                    found.append(arg.keyword.value if arg.keyword is not None else names[at + skip])
        return found

    def _calls_of(self, function: cst.FunctionDef) -> list[cst.Call]:
        """Calls of a function, in all files of the program."""
        name, skip = self._called(function), int(is_method(self.draft, function))
        return [
            call for each in (self.draft, *self.draft.others) for call in each.calls_named(name)
            if fits(call, function, skip)
        ]  # fmt: skip

    def _called(self, function: cst.FunctionDef) -> str:
        home = next((each for each in self.draft.above(function) if isinstance(each, cst.ClassDef)), None)
        return home.name.value if home is not None and function.name.value == "__init__" else function.name.value

    # ---- objects of classes of this file

    def _hold(self) -> None:
        waiting: list[tuple[str, cst.ClassDef]] = []
        if self.values.owner is not None:
            waiting.append(("self", self._made_as(self.values.owner)))
        made_here = [(name, self._classes[made]) for name in list(self.known) if (made := self._made_of(name))]
        for name, home in made_here:
            if self.values.owner is not None and self.values.owner in self._chain(home):
                del self.known[name]  # the object whose method holds the loop: here it is `self`
            elif not self.values.is_replaced(name):  # one that each round makes has nothing of those before
                waiting.append((name, home))
        waiting += [pair for name in list(self.known) for pair in self._in_list(name)]
        while waiting:
            name, home = waiting.pop(0)
            chain = self._chain(home)
            self.holders[name] = chain
            for field, found in self._fields(chain).items():
                some = [value for value in found if not is_none(value)]
                self._field_values[f"{name}.{field}"] = found
                self.known[f"{name}.{field}"] = chosen(some[0]) if len(some) == 1 else None
                call = some[0] if some and isinstance(some[0], cst.Call) else None
                call = call or (self._handed_to_field(some[0]) if len(some) == 1 else None)
                made = self._class_of(call) if call is not None else factory_of(self.draft, some)
                if made in self._classes and name.count(".") < 2 and self._classes[made] not in chain:
                    waiting.append((f"{name}.{field}", self._classes[made]))

    def _in_list(self, name: str) -> Iterator[tuple[str, cst.ClassDef]]:
        """Objects that only a list has names for: `callbacks[0]` of `callbacks = [Stopper()]`."""
        origin, scope = self.known.get(name), self.values.scope
        if origin is None and isinstance(scope, cst.FunctionDef):
            origin = self.given(scope, name)
        for at, each in enumerate(origin.elements if isinstance(origin, cst.List) else ()):
            made = each.value if isinstance(each, cst.Element) and isinstance(each.value, cst.Call) else None
            if made is not None and self._is_of_program(made) and (own := self._class_of(made)):
                yield f"{name}[{at}]", self._classes[own]

    def _made_as(self, owner: cst.ClassDef) -> cst.ClassDef:
        """The class of the object that runs a loop of `owner`: the one built on that, where only one is made."""
        built = [each for each in self._classes.values() if each is not owner and owner in self._chain(each)]
        calls = {tail(call.func) for each in (self.draft, *self.draft.others) for call in each.calls()}
        # A class that nobody names is chosen by a configuration.
        made = [each for each in built if each.name.value in calls] or built
        return made[0] if len(made) == 1 and owner.name.value not in calls else owner

    def _made_of(self, name: str) -> str:
        call = self.made(name)
        return self._class_of(call) if call is not None and self._is_of_program(call) else ""

    def _is_of_program(self, call: cst.Call) -> bool:
        """`Net()`, and `nets.Net()` of a module of the program; `factory.make()` is a method of a value."""
        full = self.draft.resolve(call.func) if isinstance(call.func, cst.Attribute) else ""
        return isinstance(call.func, cst.Name) or (bool(full) and not self.draft.is_of_library(call.func))

    def _class_of(self, call: cst.Call, depth: int = 3) -> str:
        """The class that a call makes an object of, also through a function of the program that returns one."""
        name = tail(call.func)
        if name not in self._classes:  # by another name: `from tools import LossScaler as Scaler`
            full = self.draft.home(call).resolve(call.func)
            name = last if (last := full.rpartition(".")[2]) in self._classes and self._is_of_program(call) else name
        if name in self._classes or not depth:
            return name if name in self._classes else ""
        makers = {
            **seen_elsewhere(self.draft, cst.FunctionDef),
            **{each.name.value: each for each in self.draft.functions()},
        }
        function = makers.get(name) if self._is_of_program(call) else None
        if function is None:
            return only_class(self.draft.home(call)) if isinstance(call.func, cst.Name) else ""
        assigned = {
            each: part
            for node in self.draft.below(function)
            if isinstance(node, cst.Assign)
            for target in node.targets
            for each, part in parts_of(target.target, node.value).items()
        }
        returned = [node.value for node in self.draft.below(function) if isinstance(node, cst.Return)]
        values = [assigned.get(each.value) if isinstance(each, cst.Name) else each for each in returned]
        found = {self._class_of(each, depth - 1) if isinstance(each, cst.Call) else "" for each in values}
        return found.pop() if len(found) == 1 else ""

    def _chain(self, home: cst.ClassDef) -> list[cst.ClassDef]:
        chain = [home]
        for each in chain:
            bases = [self._classes[tail(base.value)] for base in each.bases if tail(base.value) in self._classes]
            chain += [base for base in bases if base not in chain]
        return chain

    def _fields(self, chain: list[cst.ClassDef]) -> dict[str, list[cst.BaseExpression]]:
        built = [each for each in self._classes.values() if chain[0] in self._chain(each)]
        found = declared_fields(self.draft, chain, [each.name.value for each in built])
        for node in (node for home in chain for node in self.draft.below(home)):
            pairs: list[tuple[cst.CSTNode, cst.BaseExpression | None]] = []
            if isinstance(node, cst.Assign):
                pairs = [(target.target, node.value) for target in node.targets]
            elif isinstance(node, cst.AnnAssign):
                pairs = [(node.target, node.value)]
            for target, value in pairs:
                for name, part in parts_of(target, value, fields=True).items():
                    if name.startswith("self.") and name.count(".") == 1 and part is not None:
                        found.setdefault(name[5:], []).append(part)
        return found

    def is_empty(self, name: str) -> bool:
        """Whether a field is nothing but `None` for its own class: others give it a value."""
        found = self._field_values.get(name, [])
        return bool(found) and all(is_none(value) for value in found)

    def may_be_none(self, name: str) -> bool:
        """Whether a name, or the field of an object, can be `None` when the loop starts."""
        if name in self._field_values:
            return any(self._may_hand_none(value) for value in self._field_values[name])
        scope = self.values.scope
        is_given = isinstance(scope, cst.FunctionDef) and self._may_be_given_none(scope, name)
        return is_given or self.values.may_be_none(name)

    def _may_hand_none(self, value: cst.BaseExpression | None, depth: int = 3) -> bool:
        """Whether an expression can be `None`, by what its name is bound to in its function or handed in there."""
        if has_none(value) or isinstance(value, cst.IfExp):
            return True
        if not isinstance(value, cst.Name) or not depth:
            return False
        scope = self.draft.scope(value)
        bound = (
            part
            for node in self.draft.below(scope)
            if isinstance(node, cst.Assign) and self.draft.scope(node) is scope
            for target in node.targets
            for each, part in parts_of(target.target, node.value).items()
            if each == value.value
        )
        is_given = isinstance(scope, cst.FunctionDef) and self._may_be_given_none(scope, value.value, depth - 1)
        return is_given or any(has_none(part) for part in bound)

    def _may_be_given_none(self, function: cst.FunctionDef, name: str, depth: int = 3) -> bool:
        """Whether a parameter is `None` by itself, or by one of the calls of its function."""
        names = parameters(function)
        if name not in names:
            return False
        params = (*function.params.params, *function.params.kwonly_params)
        if is_none(params[names.index(name)].default):
            return True
        index = names.index(name) - (1 if is_method(self.draft, function) else 0)
        for call in self._calls_of(function):
            named = argument(call, name)
            if self._may_hand_none(named.value if named else positional(call, index), depth):
                return True
        return False

    def changing(self, holder: str) -> dict[str, cst.BaseExpression]:
        """The fields that an object has from its beginning and changes later, with what they are at first."""
        begins = set(_MAKING)
        declared = declared_fields(self.draft, self.holders[holder], [])
        first = {
            f"self.{name}": values[0] for name, values in declared.items()
            if values and factory_of(self.draft, values) not in self._classes
        }  # fmt: skip
        changed: set[str] = set()
        nodes = [node for home in self.holders[holder] for node in self.draft.below(home)]
        for node in nodes:
            if isinstance(node, cst.Call) and dotted(node.func).startswith("self.") and self._method_of(node) in begins:
                begins.add(tail(node.func))
        once = self._run_once(begins, nodes)
        for node in nodes:
            method = self._method_of(node)
            if isinstance(node, cst.Assign):
                for target in node.targets:
                    for name, part in parts_of(target.target, node.value, fields=True).items():
                        if name.count(".") == 1 and part is not None and (method in begins or self._is_before(node)):
                            first.setdefault(name, part)
                        # What the loop's function sets before it starts is set anew in each start.
                        changed.update({name} if method not in once and not self._is_before(node) else ())
                    changed.update(dotted(each) for each in filled_places(target) if method not in once)
            elif isinstance(node, cst.AugAssign) and method not in once:
                changed.add(dotted(whole_of(node.target)))
            elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and method not in once:
                changed.update({dotted(whole_of(node.func.value))} if node.func.attr.value in _CHANGES else ())
                changed.update(dotted(each) for each in filled_places(node))
        return {
            name.replace("self", holder, 1): value
            for name, value in first.items()
            if name in changed and name.startswith("self.")
        }

    def _run_once(self, begins: set[str], nodes: Sequence[cst.CSTNode]) -> set[str]:
        """Methods that only the making of an object runs: `self.setup()` of its `__init__`, and nobody else."""
        own = {id(node) for node in nodes}
        scope = self.values.scope
        once = begins - {scope.name.value if isinstance(scope, cst.FunctionDef) else ""} | _MAKING
        calls = [call for each in (self.draft, *self.draft.others) for call in each.calls() if tail(call.func) in once]
        while True:
            again = {
                tail(call.func)
                for call in calls
                if id(call) not in own or self._method_of(call) not in once
            } - _MAKING  # fmt: skip
            if not again & once:
                return once
            once -= again

    def field_values(self, name: str) -> list[cst.BaseExpression]:
        """Everything that a field is ever set to."""
        return self._field_values.get(name, [])

    def _is_before(self, node: cst.CSTNode) -> bool:
        """Whether the function of the loop does something before it: `self.best = 0`, as it starts."""
        loop = self.values.loop.node
        return self.draft.scope(node) is self.values.scope and self.draft.start(node) < self.draft.start(loop)

    def _method_of(self, node: cst.CSTNode) -> str:
        function = self.draft.scope(node)
        return function.name.value if isinstance(function, cst.FunctionDef) else ""

    def listed(self, name: str) -> list[str]:
        """The names in a list, tuple or dictionary that holds nothing else."""
        origin = self.known.get(name)
        if not isinstance(origin, cst.List | cst.Tuple | cst.Dict):
            return []
        parts = [dotted(each.value) for each in origin.elements]
        home = name.rpartition(".")[0]
        parts = [part.replace("self.", f"{home}.", 1) if home else part for part in parts]
        return parts if parts and all(part in self.known for part in parts) else []
