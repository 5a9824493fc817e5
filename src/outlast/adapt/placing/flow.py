"""Where the path of a call comes from: a literal of this file, an option, or something from elsewhere.

Only what is assigned once is followed, results also where each of several sources is known; what follows the source in
the path is kept, for `"runs"` is a folder before `"/x"` and the start of a name before `"_x"`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.code_folder import CodeFolder
from outlast.adapt.placing.sinks import Sink
from outlast.adapt.placing.sources import Hop, Literal, Use
from outlast.adapt.placing.spelling import SAME, SAME_METHODS, UNKNOWN, Spelling, filled, joined, listed
from outlast.migrate.tree import argument, dotted, inner, positional, tail

_DEPTH = 14


class Flow:
    """All sources of all paths of a file. `holders`: names that hold parsed options, like `args`."""

    def __init__(self, draft: Draft, holders: frozenset[str], parameters: dict[int, frozenset[str]]) -> None:
        self._draft = draft
        self._holders = holders
        self._parameters = parameters  # function → those of its parameters that are options
        self._assigned: dict[tuple[int, str], list[cst.BaseExpression]] = {}
        self._fields: dict[str, list[cst.BaseExpression]] = {}
        self._grown: dict[tuple[int, str], list[cst.BaseExpression]] = {}  # by `path += …`
        self._functions: dict[str, list[cst.FunctionDef]] = {}
        self.spelling = Spelling(draft, self._single)
        self._code = CodeFolder(draft, self._single)
        for node in draft.nodes:
            self._note(node)

    def uses(self, sink: Sink) -> list[Use]:
        """The sources of a path."""
        return [use for use in self.ways(sink) if use.is_known]

    def ways(self, sink: Sink) -> list[Use]:
        """The sources of a path, and the expressions that begin with something unknown."""
        return list(self._follow(sink.path, Use(sink, sink.is_folder, whole=sink.path), _DEPTH))

    def full(self, use: Use) -> str:
        """The whole path of a use, as far as it is known."""
        return (self.spelling.of(use.literal) if use.literal is not None else UNKNOWN) + use.after

    def source(self, node: cst.CSTNode | None) -> str:
        return self._draft.source(node) if node is not None else ""

    def home(self, node: cst.Name) -> int:
        """The scope that a name belongs to."""
        return next((id(each) for each in self._scopes(node) if self._is_bound(each, node.value)), 0)

    def from_outside(self, node: cst.Name) -> cst.FunctionDef | None:
        """The function whose parameter a name is, where nothing in this file says what is passed."""
        scope = next((each for each in self._scopes(node) if self._is_bound(each, node.value)), None)
        if not isinstance(scope, cst.FunctionDef) or (id(scope), node.value) in self._assigned | self._grown:
            return None
        is_option = node.value in self._parameters.get(id(scope), ())
        return None if is_option or self._passed(scope, node.value) else scope

    def is_value(self, node: cst.Name, value: cst.BaseExpression | None) -> bool:
        """Whether a name gets this value, of several or alone."""
        key = self.home(node), node.value
        return key not in self._grown and any(each is value for each in self._assigned.get(key, []))

    def _is_bound(self, scope: Scope, name: str) -> bool:
        is_parameter = isinstance(scope, cst.FunctionDef) and name in _parameters_of(scope)
        return is_parameter or (id(scope), name) in self._assigned

    def _scopes(self, node: cst.CSTNode) -> list[Scope]:
        """The scope of a node and those around it."""
        inside = self._draft.scope(node)
        around = [each for each in self._draft.above(inside) if isinstance(each, cst.FunctionDef | cst.Module)]
        return [inside, *around]

    # ---- bindings

    def _note(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.Assign | cst.AnnAssign) and node.value is not None:
            targets = [each.target for each in node.targets] if isinstance(node, cst.Assign) else [node.target]
            for target in targets:
                self._bind(target, node.value)
        elif isinstance(node, cst.FunctionDef):
            self._functions.setdefault(node.name.value, []).append(node)
        elif isinstance(node, cst.AugAssign) and isinstance(node.operator, cst.AddAssign):
            for name in _names(node.target):
                self._grown.setdefault((id(self._draft.scope(node)), name), []).append(node.value)
        elif isinstance(node, cst.NamedExpr):
            self._bind(node.target, node.value)
        elif isinstance(node, cst.AugAssign | cst.For | cst.CompFor):
            for name in _names(node.target):
                self._assigned.setdefault((id(self._draft.scope(node)), name), []).append(cst.Ellipsis())

    def _bind(self, target: cst.CSTNode, value: cst.BaseExpression) -> None:
        if isinstance(target, cst.Name):
            inside = next(
                (each for each in self._draft.above(target) if isinstance(each, cst.ClassDef | cst.FunctionDef)), None
            )
            if isinstance(inside, cst.ClassDef):
                self._fields.setdefault(target.value, []).append(value)
            else:
                self._assigned.setdefault((id(self._draft.scope(target)), target.value), []).append(value)
        elif isinstance(target, cst.Attribute):
            self._fields.setdefault(target.attr.value, []).append(value)
        elif (
            isinstance(target, cst.Tuple)
            and isinstance(value, cst.Tuple)
            and len(target.elements) == len(value.elements)
        ):
            for left, right in zip(target.elements, value.elements, strict=True):
                self._bind(left.value, right.value)
        else:
            for name in _names(target):
                self._assigned.setdefault((id(self._draft.scope(target)), name), []).append(cst.Ellipsis())

    # ---- following

    def _follow(self, node: cst.CSTNode | None, use: Use, depth: int) -> Iterator[Use]:
        if depth == 0 or node is None or (isinstance(node, cst.Name) and node.value == "None"):
            return
        if isinstance(node, cst.SimpleString) or (isinstance(node, cst.FormattedString) and _starts_with_text(node)):
            yield _at_literal(node, use)
        elif isinstance(node, cst.FormattedString):
            first = node.parts[0] if node.parts else None
            if isinstance(first, cst.FormattedStringExpression):
                rest = "".join(self.spelling.of(cst.FormattedString([part])) for part in node.parts[1:])
                yield from self._inside(None if first.format_spec else first.expression, use.before(rest), depth)
        elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Modulo):
            yield from self._through_filled(node, node.left, use, depth)
        elif isinstance(node, cst.BinaryOperation) and self._code.begins(node):
            is_named = isinstance(node.right, cst.SimpleString)
            yield replace(use, other=node) if is_named else replace(use, other=node.left, is_folder=True)
        elif isinstance(node, cst.List | cst.Tuple):
            for element in node.elements:
                yield from self._follow(element.value, use, depth - 1)
        elif isinstance(node, cst.BinaryOperation):
            is_divided = isinstance(node.operator, cst.Divide)
            rest = joined([".", self.spelling.of(node.right)])[1:] if is_divided else self.spelling.of(node.right)
            yield from self._follow(node.left, _unwrapped(use.before(rest), is_divided), depth - 1)
        elif isinstance(node, cst.BooleanOperation):
            # `args.data or "data"`, `os.environ.get("OUT") or "out"`
            found = list(self._follow(node.left, use, depth - 1))
            is_left = any(each.is_known for each in found) or not self.spelling.of(node.right)
            yield from found if is_left else self._follow(node.right, use, depth - 1)
        elif isinstance(node, cst.IfExp) and any(name in self._draft.source(node.test) for name in PASSED):
            yield replace(use, option="train_url")
        elif isinstance(node, cst.IfExp) and use.role is Role.OUTPUT:
            for branch in (node.body, node.orelse):
                yield from self._follow(branch, replace(use, whole=branch), depth - 1)
        elif isinstance(node, cst.NamedExpr):
            yield from self._follow(node.value, replace(use, whole=node.value), depth - 1)
        elif isinstance(node, cst.Call):
            yield from self._through_call(node, use, depth)
        elif isinstance(node, cst.Name):
            yield from self._through_name(node, use, depth)
        elif isinstance(node, cst.Attribute | cst.Subscript):
            yield from self._through_field(node, use, depth)
        else:
            yield use

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
        if not isinstance(text, cst.SimpleString) or (isinstance(parts[0], str) and parts[0]):
            # What is filled in is known to be text: the literal begins the path.
            yield from self._follow(text, use.before("") if isinstance(text, cst.SimpleString) else use, depth - 1)
            return
        given = next((part for part in parts[1:2]), None)
        rest = "".join(part if isinstance(part, str) else self.spelling.of(part) for part in parts[2:])
        yield from self._inside(given if not isinstance(given, str) else None, use.before(rest), depth)

    def _through_call(self, call: cst.Call, use: Use, depth: int) -> Iterator[Use]:
        name, last = self._draft.resolve(call.func), tail(call.func)
        owner = call.func.value if isinstance(call.func, cst.Attribute) else None
        if name == "os.path.join" or last == "joinpath":
            first = positional(call, 0) if name else owner
            if self._code.is_it(first):
                yield replace(use, other=call)
                return
            parts = [UNKNOWN if arg.star else self.spelling.of(arg.value) for arg in call.args[1 if name else 0 :]]
            inside = replace(use.before(joined([".", *parts])[1:]), whole=first if name else None)
            yield from self._follow(first, inside, depth - 1)
        elif isinstance(call.func, cst.Call) and self._draft.resolve(call.func.func) == "type":
            yield from self._follow(positional(call, 0), _unwrapped(use), depth - 1)
        elif name in ("os.getcwd", "pathlib.Path.cwd") and use.is_folder:
            yield replace(use, other=call)
        elif name in SAME:
            rest = [self.spelling.of(arg.value) for arg in call.args[1:]] if name.startswith("pathlib") else []
            given = positional(call, 0)
            if rest and self._code.is_it(given):
                yield replace(use, other=call)
                return
            inside = use if name == "str" else replace(use, whole=given)
            yield from self._follow(given, inside.before(joined([".", *rest])[1:]), depth - 1)
        elif name in ("os.environ.get", "os.getenv") and inner(positional(call, 0)) == "OUTLAST_CHECKPOINT":
            yield replace(use, option="train_url")  # as good as the contract's own folder
        elif name in ("os.environ.get", "os.getenv"):
            yield from self._follow(positional(call, 1), replace(use, whole=positional(call, 1)), depth - 1)
        elif last in SAME_METHODS and owner is not None and not call.args:
            yield from self._follow(owner, _unwrapped(use), depth - 1)
        elif last == "with_suffix" and owner is not None:
            yield from self._follow(owner, _unwrapped(use.before(self.spelling.of(positional(call, 0)))), depth - 1)
        elif last == "format" and isinstance(owner, cst.SimpleString):
            yield from self._through_filled(call, owner, use, depth)
        elif last == "join" and isinstance(owner, cst.SimpleString) and listed(call):
            start, *others = listed(call)
            behind = "".join(inner(owner) + self.spelling.of(each) for each in others)
            yield from self._follow(start, replace(use.before(behind), whole=start), depth - 1)
        else:
            yield use

    def _single(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """What a name is made of, where that is one thing."""
        if isinstance(node, cst.Name):
            for scope in self._scopes(node):
                values = self._assigned.get((id(scope), node.value), [])
                if values:
                    return values[0] if len(values) == 1 and (id(scope), node.value) not in self._grown else None
                if isinstance(scope, cst.FunctionDef) and node.value in _parameters_of(scope):
                    passed = self._passed(scope, node.value)
                    return passed[0] if len(passed) == 1 else None
            return None
        if isinstance(node, cst.Subscript):
            return self._from_dict(node)
        values = self._fields.get(node.attr.value, []) if isinstance(node, cst.Attribute) else []
        is_held = isinstance(node, cst.Attribute) and dotted(node.value) in self._holders
        return values[0] if len(values) == 1 and not is_held else None

    def _through_name(self, node: cst.Name, use: Use, depth: int) -> Iterator[Use]:
        use = replace(use, hops=(*use.hops, Hop(node, use.whole)))
        for scope in self._scopes(node):
            key = (id(scope), node.value)
            values = self._assigned.get(key, [])
            is_open = any(isinstance(value, cst.Ellipsis) for value in values)
            if values and not is_open and (len(values) == 1 or (use.role is Role.OUTPUT and len(use.hops) < 3)):
                grown = "" if use.sink.makes else "".join(map(self.spelling.of, self._grown.get(key, [])))
                for value in values:
                    # `path = path + ".pth"` leads back to itself: the other value is the source.
                    if not any(isinstance(each, cst.Name) and each.value == node.value for each in _leading(value)):
                        yield from self._follow(value, replace(use.before(grown), whole=value), depth - 1)
                return
            if values:
                yield use
                return
            if isinstance(scope, cst.FunctionDef):
                if node.value in self._parameters.get(id(scope), ()):
                    yield replace(use, option=node.value)
                    return
                if node.value in _parameters_of(scope):
                    found = [replace(use, whole=value) for value in self._passed(scope, node.value)]
                    for inside in found:
                        yield from self._follow(inside.whole, inside, depth - 1)
                    yield from () if found else (use,)
                    return
        if node.value.isupper() and self._draft.resolve(node):
            yield replace(use, other=node)  # a constant of another file
        else:
            yield use

    def _passed(self, function: cst.FunctionDef, name: str) -> list[cst.BaseExpression]:
        """What the callers pass, or the default; several callers are several sources."""
        places = _parameters_of(function)
        called, is_method = function.name.value, places[:1] == ["self"]
        if is_method and called == "__init__":
            owner = next((each for each in self._draft.above(function) if isinstance(each, cst.ClassDef)), None)
            called = owner.name.value if owner else called
        index = places.index(name) - is_method
        passed = []
        for call in self._draft.calls():
            if tail(call.func) == called:
                named = argument(call, name)
                value = named.value if named else positional(call, index)
                passed += [value] if value is not None else []
        default = next((param.default for param in function.params.params if param.name.value == name), None)
        return [*passed, *([default] if default is not None else [])]

    def _through_field(self, node: cst.Attribute | cst.Subscript, use: Use, depth: int) -> Iterator[Use]:
        owner = dotted(node.value)
        is_held = owner and (owner in self._holders or owner.rsplit(".", 1)[-1] in self._holders)
        anew = self._set_anew(node) if is_held and use.role is Role.OUTPUT and use.is_folder else None
        if anew is not None:
            # Whoever else takes the folder finds it in the same place.
            yield from self._follow(anew, replace(use, whole=anew), depth - 1)
            return
        use = replace(use, hops=(*use.hops, Hop(node, use.whole)))
        if is_held and not any(isinstance(value, cst.Dict) for value in self._module_values(owner)):
            # Where no parser of this file declares it, the value itself is the source.
            yield replace(use, option=tail(node), other=node)
            return
        if isinstance(node, cst.Subscript):
            value = self._from_dict(node)
            if value is not None:
                yield from self._follow(value, replace(use, whole=value), depth - 1)
            else:
                yield replace(use, other=node) if self._is_read_in(node) else use
            return
        values = self._fields.get(node.attr.value, [])
        if len(values) == 1:
            yield from self._follow(values[0], replace(use, whole=values[0]), depth - 1)
        elif not values and owner and owner != "self" and not self._draft.resolve(node).startswith("os."):
            yield replace(use, other=node)
        else:
            yield use

    def _set_anew(self, node: cst.Attribute | cst.Subscript) -> cst.BaseExpression | None:
        """What the script sets an option to whatever was given: `args.save = "eval-{}".format(args.save)`."""
        values = self._fields.get(tail(node), []) if isinstance(node, cst.Attribute) else []
        is_done = len(values) == 1 and any(name in self._draft.source(values[0]) for name in PASSED)
        if len(values) != 1 or (self.spelling.of(values[0])[:1] in ("", UNKNOWN) and not is_done):
            return None
        around = list(self._draft.above(values[0]))
        is_certain = not any(isinstance(each, cst.If | cst.For | cst.While | cst.Try) for each in around)
        is_same = isinstance(around[0], cst.Assign) and dotted(around[0].targets[0].target) == dotted(node)
        is_before = self._draft.start(values[0]) < self._draft.start(node)
        return values[0] if is_certain and is_same and is_before else None

    def _is_read_in(self, node: cst.Subscript) -> bool:
        """Whether a value comes from a dictionary that a call gave: `config["data"]["root"]`."""
        at: cst.BaseExpression = node
        while isinstance(at, cst.Subscript):
            index = at.slice[0].slice
            if len(at.slice) != 1 or not isinstance(index, cst.Index) or not inner(index.value):
                return False
            at = at.value
        values = [*self._assigned.get((id(self._draft.scope(node)), tail(at)), []), *self._module_values(tail(at))]
        return isinstance(at, cst.Name) and bool(values) and all(isinstance(value, cst.Call) for value in values)

    def _module_values(self, name: str) -> list[cst.BaseExpression]:
        return self._assigned.get((id(self._draft.module), name), [])

    def _from_dict(self, node: cst.Subscript) -> cst.BaseExpression | None:
        values = self._module_values(dotted(node.value))
        if len(values) != 1:
            return None
        value, key = values[0], tail(node)
        if isinstance(value, cst.Dict):
            found = [
                each.value for each in value.elements if isinstance(each, cst.DictElement) and inner(each.key) == key
            ]
            return found[0] if len(found) == 1 else None
        if isinstance(value, cst.Call) and tail(value.func) == "dict":
            named = argument(value, key)
            return named.value if named else None
        return None


def _at_literal(node: Literal, use: Use) -> Use:
    """`"out/"` is a folder, whatever follows; `"out"` only if that begins with a slash."""
    is_folder = use.is_folder or (bool(use.after) and isinstance(node, cst.SimpleString) and inner(node).endswith("/"))
    return replace(use, literal=node, is_folder=is_folder)


def _unwrapped(use: Use, is_path: bool = True) -> Use:
    """What is a path object cannot be joined as text."""
    return replace(use, whole=None, put=None) if is_path else use


def _leading(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    if isinstance(node, cst.BinaryOperation):
        yield from _leading(node.left)
    elif isinstance(node, cst.FormattedString) and node.parts:
        first = node.parts[0]
        yield from _leading(first.expression) if isinstance(first, cst.FormattedStringExpression) else ()
    elif isinstance(node, cst.Call):
        yield from _leading(node.args[0].value) if node.args else ()


def _parameters_of(function: cst.FunctionDef) -> list[str]:
    return [param.name.value for param in function.params.params]


def _starts_with_text(node: cst.FormattedString) -> bool:
    first = node.parts[0] if node.parts else None
    return isinstance(first, cst.FormattedStringText)


def _names(target: cst.CSTNode) -> Iterator[str]:
    if isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _names(element.value)
