"""Where the path of a call comes from: a literal of this file, an option, or something from elsewhere.

Only what is assigned once is followed, results also where each of several sources is known; what follows the source in
the path is kept, for `"runs"` is a folder before `"/x"` and the start of a name before `"_x"`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeGuard

import libcst as cst

from outlast.adapt.arguments.namespaces import default_of, parameters_of
from outlast.adapt.draft import Draft, Scope
from outlast.adapt.libraries import is_library
from outlast.adapt.needs import PASSED, VARIABLES, Role
from outlast.adapt.placing import shapes
from outlast.adapt.placing.bindings import Bindings
from outlast.adapt.placing.code_folder import HERE, CodeFolder
from outlast.adapt.placing.elements import Elements
from outlast.adapt.placing.given_settings import GivenSettings, is_get
from outlast.adapt.placing.overwritten import Overwritten
from outlast.adapt.placing.returned import Returned, told_by
from outlast.adapt.placing.set_entries import SetEntries
from outlast.adapt.placing.sinks import HELPERS, Sink
from outlast.adapt.placing.sources import Hop, Use, at_literal, folder_above, is_made, origin, unwrapped
from outlast.adapt.placing.spelling import SAME, UNKNOWN, Spelling, cut, filled, joined, listed
from outlast.adapt.placing.unnamed import is_given_by_words, is_unnamed
from outlast.migrate.tree import argument, dotted, inner, positional, tail

_DEPTH = 14


class Flow:
    """All sources of all paths of a file. `holders`: names that hold parsed options, like `args`."""

    def __init__(
        self,
        draft: Draft,
        holders: frozenset[str],
        parameters: dict[int, frozenset[str]],
        objects: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._draft = draft
        self._holders = holders
        self._objects = objects  # `X.value` → option
        self._parameters = parameters  # function → those of its parameters that are options
        self._bound = bound = Bindings(draft, self._is_option)
        self._assigned, self._grown, self._fields = bound.assigned, bound.grown, bound.fields
        self.spelling = Spelling(draft, self.value_of)
        self.code = CodeFolder(draft, self.value_of)
        self._entries = SetEntries(draft, bound.assigned, self.value_of)
        self._elements = Elements(draft, self.value_of)
        self._returned = Returned(draft, self.value_of)
        self._overwritten = Overwritten(draft, self._fields, self.spelling, self._is_held)
        self._given = GivenSettings(draft, self.value_of, self._assigned, lambda at: self.function_of(at) is not None)
        self._entered: dict[int, cst.Call] = {}  # functions that are followed, by the call that leads there
        self.filled: set[int] = set()  # texts of which only what is filled in at their start is a place

    def uses(self, sink: Sink) -> list[Use]:
        """The sources of a path."""
        return [use for use in self.ways(sink) if use.is_known]

    def ways(self, sink: Sink) -> list[Use]:
        """The sources of a path, and the expressions that begin with something unknown."""
        return list(self._follow(sink.path, Use(sink, sink.is_folder, whole=sink.path), _DEPTH))

    def full(self, use: Use) -> str:
        """The whole path of a use, as far as it is known."""
        return cut((self.spelling.of(use.literal) if use.literal is not None else UNKNOWN) + use.after, use.up)

    def source(self, node: cst.CSTNode | None) -> str:
        return self._draft.source(node) if node else ""

    def home(self, node: cst.Name) -> int:
        """The scope that a name belongs to."""
        return next((id(each) for each in self._bound.scopes(node) if self._is_bound(each, node.value)), 0)

    def from_outside(self, node: cst.Name) -> cst.FunctionDef | None:
        """The function whose parameter a name is, where nothing in this file says what is passed."""
        scope = next((each for each in self._bound.scopes(node) if self._is_bound(each, node.value)), None)
        if not isinstance(scope, cst.FunctionDef) or (id(scope), node.value) in self._assigned | self._grown:
            return None
        is_option = node.value in self._parameters.get(id(scope), ())
        if self._draft.others:
            return None  # the file that passes it is seen, and changed there
        return None if is_option or self._passed(scope, node.value) else scope

    def function_of(self, node: cst.Name) -> cst.FunctionDef | None:
        """The function whose parameter a name is."""
        scope = next((each for each in self._bound.scopes(node) if self._is_bound(each, node.value)), None)
        is_parameter = isinstance(scope, cst.FunctionDef) and node.value in parameters_of(scope)
        return scope if isinstance(scope, cst.FunctionDef) and is_parameter else None

    def is_value(self, node: cst.Name, value: cst.BaseExpression | None) -> bool:
        """Whether a name gets this value, of several or alone."""
        key = self.home(node), node.value
        return key not in self._grown and any(each is value for each in self._assigned.get(key, []))

    def _is_bound(self, scope: Scope | cst.ClassDef, name: str) -> bool:
        is_parameter = isinstance(scope, cst.FunctionDef) and name in parameters_of(scope)
        return is_parameter or (id(scope), name) in self._assigned

    def _follow(self, node: cst.CSTNode | None, use: Use, depth: int) -> Iterator[Use]:
        if depth == 0 or node is None or (isinstance(node, cst.Name) and node.value == "None"):
            return
        if use.role is Role.OUTPUT and (name := shapes.name_behind_dot(node)) is not None and not self._is_option(name):
            yield use.before(UNKNOWN)  # joined as a whole, as if no dot stood there
        elif isinstance(node, cst.SimpleString | cst.FormattedString) and shapes.starts_with_text(node):
            yield at_literal(node, use)
        elif isinstance(node, cst.FormattedString):
            first = node.parts[0] if node.parts else None
            if isinstance(first, cst.FormattedStringExpression):
                rest = "".join(self.spelling.of(cst.FormattedString([part])) for part in node.parts[1:])
                yield from self._inside(None if first.format_spec else first.expression, use.before(rest), depth)
        elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Modulo):
            yield from self._through_filled(node, node.left, use, depth)
        elif isinstance(node, cst.BinaryOperation) and self.code.begins(node, is_read=use.is_read):
            is_told = use.is_read and UNKNOWN not in self.spelling.of(node.right)
            is_whole = is_told or isinstance(node.right, cst.SimpleString)
            behind = replace(use.before(self.spelling.behind(node)), other=node.left, is_folder=True)
            yield replace(use, other=node) if is_whole else behind
        elif isinstance(node, cst.List | cst.Tuple | cst.ListComp | cst.Dict):
            for part, inside in shapes.held_in(node, use):
                yield from self._follow(part, inside, depth - 1)
        elif isinstance(node, cst.BinaryOperation):
            is_divided = isinstance(node.operator, cst.Divide)
            yield from self._follow(node.left, unwrapped(use.before(self.spelling.behind(node)), is_divided), depth - 1)
        elif (pair := shapes.either(self._draft, node, use.is_read)) is not None:
            found = list(self._follow(pair[0], use, depth - 1))
            is_left = any(each.is_known for each in found) or not self.spelling.of(pair[1])
            yield from found if is_left else self._follow(pair[1], use, depth - 1)
        elif isinstance(node, cst.IfExp) and any(name in self._draft.source(node.test) for name in PASSED):
            is_data = "data_url" in self._draft.source(node.test).lower()
            yield replace(use, option="data_url" if is_data else "train_url")
        elif isinstance(node, cst.IfExp) and (whole := shapes.if_absolute(node)) is not None:
            yield from self._follow(whole, unwrapped(use), depth - 1)
        elif isinstance(node, cst.IfExp) and (use.role is Role.OUTPUT or shapes.asks_for_argument(self._draft, node)):
            for branch in (node.body, node.orelse):
                yield from self._follow(branch, replace(use, whole=branch), depth - 1)
        elif isinstance(node, cst.NamedExpr):
            yield from self._follow(node.value, replace(use, whole=node.value), depth - 1)
        elif (file := shapes.file_in(node, use)) is not None and (found := self._beside(file, node, use, depth)):
            yield from found
        elif isinstance(node, cst.Call):
            yield from self._through_call(node, use, depth)
        elif isinstance(node, cst.Name):
            yield from self._through_name(node, use, depth)
        elif isinstance(node, cst.Attribute | cst.Subscript):
            yield from self._through_field(node, use, depth)
        else:
            yield use

    def _beside(self, file: cst.BaseExpression, node: cst.CSTNode, use: Use, depth: int) -> list[Use]:
        """Where a file comes from of which `node` is the folder; what is put into that needs nothing more."""
        found = [] if self._is_held(node) else list(self._follow(file, folder_above(use, file, node), depth - 1))
        return found if is_made(use) or shapes.are_settled(self._draft, found) else []

    def _inside(self, node: cst.CSTNode | None, use: Use, depth: int) -> Iterator[Use]:
        """What is filled into a text: only names are followed, for nothing can be written into the text itself."""
        if isinstance(node, cst.Call) and self._draft.resolve(node.func) == "str":
            node = positional(node, 0)
        is_name = isinstance(node, cst.Name | cst.Attribute | cst.Subscript)
        yield from self._follow(node, use, depth - 1) if is_name else (use,)

    def _through_filled(
        self, node: cst.BaseExpression, text: cst.BaseExpression, use: Use, depth: int
    ) -> Iterator[Use]:
        """`"%s/model.pt" % folder`, `"{}/x".format(folder)`: the place is the first value, unless text stands there."""
        parts = filled(node)
        if not isinstance(text, cst.SimpleString):
            # A text of another line; where it begins with a mark, what is filled in first is the place.
            yield from (use,) if shapes.begins_open(self.spelling.of(text)) else self._follow(text, use, depth - 1)
            return
        if isinstance(parts[0], str) and parts[0]:
            yield from self._follow(text, use, depth - 1)  # the literal begins the path
            return
        given = next((part for part in parts[1:2] if not isinstance(part, str)), None)
        self.filled.update({id(text)} if given is not None else ())
        rest = "".join(part if isinstance(part, str) else self.spelling.of(part) for part in parts[2:])
        yield from self._inside(given, use.before(rest), depth)

    def _through_call(self, call: cst.Call, use: Use, depth: int) -> Iterator[Use]:
        name, last = self._draft.resolve(call.func), tail(call.func)
        owner = call.func.value if isinstance(call.func, cst.Attribute) else None
        if name == "os.path.join" or last == "joinpath":
            first = positional(call, 0) if name else owner
            if self.code.leads(first, positional(call, 1 if name else 0), is_read=use.is_read):
                yield replace(use, other=call)
                return
            first, rest_of = shapes.join_parts(call) if name else (owner, call.args)
            parts = [UNKNOWN if arg.star else self.spelling.of(arg.value) for arg in rest_of]
            inside = replace(use.before(joined([".", *parts])[1:]), whole=first if name else None)
            yield from self._follow(first, inside, depth - 1)
        elif (isinstance(call.func, cst.Call) and self._draft.resolve(call.func.func) == "type") or last in HELPERS:
            yield from self._follow(positional(call, 0), unwrapped(use), depth - 1)
        elif (name in HERE and use.is_folder) or (not name and is_get(call) and self._given.holds(call)):
            yield replace(use, other=call)
        elif last == "strftime" and (len(call.args) == 1 or name == "time.strftime"):
            yield from self._follow(positional(call, 0), use, depth - 1)
        elif name in SAME:
            rest = [self.spelling.of(arg.value) for arg in call.args[1:]] if name.startswith("pathlib") else []
            given = positional(call, 0)
            if rest and self.code.is_it(given):
                yield replace(use, other=call)
                return
            inside = use if name == "str" else replace(use, whole=given)
            yield from self._follow(given, inside.before(joined([".", *rest])[1:]), depth - 1)
        elif name in ("os.environ.get", "os.getenv") and inner(positional(call, 0)) in VARIABLES:
            yield replace(use, option="train_url")  # as good as the contract's own folder
        elif name in ("os.environ.get", "os.getenv"):
            yield from self._follow(positional(call, 1), replace(use, whole=positional(call, 1)), depth - 1)
        elif owner is not None and shapes.keeps_place(call):
            yield from self._follow(owner, unwrapped(use), depth - 1)
        elif last == "with_suffix" and owner is not None:
            yield from self._follow(owner, unwrapped(use.before(self.spelling.of(positional(call, 0)))), depth - 1)
        elif last == "format" and isinstance(owner, cst.SimpleString | cst.Name | cst.Attribute):
            yield from self._through_filled(call, owner, use, depth)
        elif last == "join" and isinstance(owner, cst.SimpleString) and listed(call):
            start, *others = listed(call)
            behind = "".join(inner(owner) + self.spelling.of(each) for each in others)
            yield from self._follow(start, replace(use.before(behind), whole=start), depth - 1)
        else:
            yield from self._through_own(call, use, depth)

    def _through_own(self, call: cst.Call, use: Use, depth: int) -> Iterator[Use]:
        """`out = make_folder("runs")`: what a function of the file gives back is what this call gave it."""
        found = self._returned.of(call)
        if found is None or id(found[0]) in self._entered:
            yield use
            return
        function, values = found
        self._entered[id(function)] = call
        uses = [each for value in values for each in self._follow(value, replace(use, whole=None, put=None), depth - 1)]
        del self._entered[id(function)]
        yield from uses

    def value_of(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """What a name or a field is made of, where that is one thing."""
        if isinstance(node, cst.Name):
            for scope in self._bound.scopes(node):
                values = self._bound.reaching(node, self._assigned.get((id(scope), node.value), []))
                if values:
                    return values[0] if len(values) == 1 and (id(scope), node.value) not in self._grown else None
                if isinstance(scope, cst.FunctionDef) and node.value in parameters_of(scope):
                    passed = self._passed(scope, node.value)
                    return passed[0] if len(passed) == 1 else None
            return None
        if isinstance(node, cst.Subscript):
            return self._entries.written(node)
        values = self._bound.of_field(node) if isinstance(node, cst.Attribute) else []
        is_held = isinstance(node, cst.Attribute) and dotted(node.value) in self._holders
        return values[0] if len(values) == 1 and not is_held else None

    def _through_name(self, node: cst.Name, use: Use, depth: int) -> Iterator[Use]:
        direct, use = use, replace(use, hops=(*use.hops, Hop(node, use.whole, use.is_folder)))
        for scope in self._bound.scopes(node):
            key = (id(scope), node.value)
            values = self._bound.reaching(node, self._assigned.get(key, []))
            behind = [value for value in values if shapes.is_put_behind(value, node.value)]
            if behind:
                # `name = os.path.join(root, name)`: what it was before, or was given, is no place by itself.
                for value in behind:
                    yield from self._follow(value, replace(direct, whole=value), depth - 1)
                return
            # `path = path + ".pth"` leads back to itself: what else it is, or was given, is the source.
            anew = [value for value in values if shapes.is_led_by(value, node.value)]
            values = [value for value in values if value not in anew]
            use = (
                use.before(UNKNOWN)
                if any(not shapes.is_call_of(self._draft, each, SAME) for each in anew) and use.role is not Role.OUTPUT
                else use
            )
            is_open = any(isinstance(value, cst.Ellipsis) for value in values)
            values = shapes.without_ends([value for value in values if tail(value) != "None"] or values)
            is_told = len(values) == 1 or (use.role is Role.OUTPUT and len(use.hops) < 3)
            if values and not is_open and (is_told or self._bound.are_alternatives(values)):
                grown = "" if use.sink.makes else "".join(map(self.spelling.of, self._grown.get(key, [])))
                for value in values:
                    yield from self._follow(value, replace(use.before(grown), whole=value), depth - 1)
                return
            if values and not is_open and (ways := self._from_one(values, use, depth)):
                yield from ways
                return
            if values:
                found = [replace(use, whole=value) for value in self._elements.of(node)]
                for inside in found:
                    yield from self._follow(inside.whole, inside, depth - 1)
                yield from () if found else (use,)
                return
            if isinstance(scope, cst.FunctionDef):
                if node.value in self._parameters.get(id(scope), ()):
                    yield replace(use, option=node.value)
                    return
                if node.value in parameters_of(scope):
                    if sum(self._is_of(hop.node, scope, node.value) for hop in use.hops[:-1]) > 1:
                        return  # a function that calls itself tells nothing new when it is gone through again
                    by_words = is_given_by_words(self._draft, scope, node.value)
                    passed = [] if by_words else self._passed(scope, node.value)
                    found = [replace(use, whole=value) for value in passed]
                    for inside in found:
                        yield from self._follow(inside.whole, inside, depth - 1)
                    if not found:
                        yield replace(use, other=node) if by_words or is_unnamed(self._draft, scope) else use
                    return
        full = self._draft.resolve(node)
        if full and (node.value.isupper() or (self._draft.others and not is_library(full))):
            yield replace(use, other=node)  # a constant of another file
        else:
            yield use

    def _is_of(self, node: cst.CSTNode, scope: cst.FunctionDef, name: str) -> bool:
        return isinstance(node, cst.Name) and node.value == name and self.home(node) == id(scope)

    def _from_one(self, values: list[cst.BaseExpression], use: Use, depth: int) -> list[Use]:
        """The ways of several values that all begin with one thing: `root = args.data + "/a"`, elsewhere `"/b"`."""
        found = [way for value in values for way in self._follow(value, replace(use, whole=value), depth - 1)]
        origins = {origin(way, self.source, self.function_of) for way in found}
        return found if len(origins) == 1 and "" not in origins else []

    def _passed(self, function: cst.FunctionDef, name: str) -> list[cst.BaseExpression]:
        """What the callers pass, or the default; several callers are several sources."""
        places = parameters_of(function)
        called, is_method = function.name.value, places[:1] in (["self"], ["cls"])
        owner = next((each for each in self._draft.above(function) if isinstance(each, cst.ClassDef)), None)
        if is_method and called == "__init__":
            called = owner.name.value if owner else called
        index = places.index(name) - is_method
        passed = []
        entered = self._entered.get(id(function))
        for call in [entered] if entered is not None else self._draft.calls_named(called, "partial"):
            # `np.load(path)` is no call of the file's own `load`.
            func, given = told_by(self._draft, call)
            is_own = isinstance(func, cst.Name) or (owner is not None and not self._draft.is_of_library(func))
            if tail(func) == called and is_own:
                value = named.value if (named := argument(given, name)) else positional(given, index)
                passed += [value] if value is not None else []
        default = default_of(function, name)
        return [*passed, *([default] if default is not None and not (entered and passed) else [])]

    def _through_field(self, node: cst.Attribute | cst.Subscript, use: Use, depth: int) -> Iterator[Use]:
        if use.is_read and shapes.is_shortened(node):
            yield from self._follow(node.value, unwrapped(use), depth - 1)
            return
        if isinstance(node, cst.Subscript) and self._is_held(node.value) and shapes.is_numbered(node):
            node = node.value  # one of several that an option holds: `args.files[0]`
        owner = dotted(node.value)
        is_held = self._is_held(node)
        anew = self._overwritten.surely(node) if is_held and (use.is_folder or not use.after) else None
        if anew is not None:
            # Whoever else takes the folder finds it in the same place.
            yield from self._follow(anew, replace(use, whole=anew), depth - 1)
            return
        for each in self._overwritten.perhaps(node) if is_held and use.role is not Role.WEIGHTS else ():
            yield from self._follow(each, replace(use, whole=each), depth - 1)
        use = replace(use, hops=(*use.hops, Hop(node, use.whole, use.is_folder)))
        if dotted(node) in self._objects:
            yield replace(use, option=self._objects[dotted(node)], other=node)
            return
        global_values = self._assigned.get((id(self._draft.module), owner), [])
        if is_held and not any(isinstance(value, cst.Dict) for value in global_values):
            # Where no parser of this file declares it, the value itself is the source.
            yield replace(use, option=tail(node), other=node)
            return
        value = None if isinstance(node, cst.Attribute) and self._bound.of_field(node) else self._entries.written(node)
        several = self._entries.of(node, value) or ([value] if value else [])
        if several and (len(several) == 1 or use.role is Role.OUTPUT or self._bound.are_alternatives(several)):
            for each in several:
                yield from self._follow(each, replace(use, whole=each), depth - 1)
            return
        if isinstance(node, cst.Subscript):
            yield replace(use, other=node) if self._given.holds(node) else use
            return
        # `self.root = args.root`, `self.root = Path(args.root) / name`: what is handed in has the same name.
        around = [node] if owner == "self" else [node, *self._draft.above(node)]
        values = [value for value in self._bound.of_field(node) if value not in around]
        # `self.root = join(root, self.root)`: what the class has before is a part of it. What `opt` has from elsewhere
        # stays in its place though: a folder of the contract begins at a root.
        behind = [each for each in values if shapes.is_behind(self._draft, each, node.attr.value)]
        values = (behind or values) if owner == "self" or len(behind) < len(values) else []
        if len(values) == 1:
            yield from self._follow(values[0], replace(use, whole=values[0]), depth - 1)
        elif ways := self._from_one(values, use, depth):
            yield from ways
        elif not values and owner and not self._bound.is_no_setting(node, owner):
            yield replace(use, other=node)
        else:
            yield use

    def _is_held(self, node: cst.CSTNode) -> TypeGuard[cst.Attribute | cst.Subscript]:
        """Whether an expression is an option: `args.data`, `self.args["data"]`."""
        owner = dotted(node.value) if isinstance(node, cst.Attribute | cst.Subscript) else ""
        return bool(owner) and (owner in self._holders or owner.rsplit(".", 1)[-1] in self._holders)

    def _is_option(self, node: cst.BaseExpression) -> bool:
        given = self._parameters.get(id(self._draft.scope(node)), ())
        return (isinstance(node, cst.Name) and node.value in given) or self._is_held(node)
