"""Where the path of a call comes from: a literal of this file, an option, or something from elsewhere.

Only what is assigned once is followed; a name with two sources ends the search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.sinks import Sink
from outlast.migrate.tree import argument, dotted, inner, positional, tail

_DEPTH = 8
#: Calls that give back the path they were given.
_SAME = frozenset({"str", "pathlib.Path", "pathlib.PurePath", "os.path.expanduser", "os.path.abspath",
                   "os.path.realpath", "os.fspath", "os.path.normpath", "sorted", "list"})  # fmt: skip
Literal = cst.SimpleString | cst.FormattedString


@dataclass(frozen=True)
class Use:
    """One way from a call back to a source: a literal, an option, or, where that is unknown, the expression itself."""

    sink: Sink
    is_folder: bool
    literal: Literal | None = None
    option: str = ""  # `x` of `args.x`, or a parameter of a command's function
    other: cst.BaseExpression | None = None  # a configuration from elsewhere

    @property
    def role(self) -> Role | None:
        return self.sink.role


class Flow:
    """All sources of all paths of a file. `holders`: names that hold parsed options, like `args`."""

    def __init__(self, draft: Draft, holders: frozenset[str], parameters: dict[int, frozenset[str]]) -> None:
        self._draft = draft
        self._holders = holders
        self._parameters = parameters  # function → those of its parameters that are options
        self._assigned: dict[tuple[int, str], list[cst.BaseExpression]] = {}
        self._fields: dict[str, list[cst.BaseExpression]] = {}
        self._functions: dict[str, list[cst.FunctionDef]] = {}
        for node in draft.nodes:
            self._note(node)

    def uses(self, sink: Sink) -> list[Use]:
        return list(self._follow(sink.path, Use(sink, sink.is_folder), _DEPTH))

    # ---- bindings

    def _note(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.Assign | cst.AnnAssign) and node.value is not None:
            targets = [each.target for each in node.targets] if isinstance(node, cst.Assign) else [node.target]
            for target in targets:
                self._bind(target, node.value)
        elif isinstance(node, cst.FunctionDef):
            self._functions.setdefault(node.name.value, []).append(node)
        elif isinstance(node, cst.AugAssign | cst.For | cst.NamedExpr | cst.CompFor):
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
        if depth == 0 or node is None:
            return
        if isinstance(node, cst.SimpleString) or (isinstance(node, cst.FormattedString) and _starts_with_folder(node)):
            yield replace(use, literal=node)
        elif isinstance(node, cst.FormattedString):
            first = node.parts[0] if node.parts else None
            if isinstance(first, cst.FormattedStringExpression):
                yield from self._follow(first.expression, replace(use, is_folder=True), depth - 1)
        elif isinstance(node, cst.BinaryOperation) and inner(node.left).startswith(("%s", "%(")):
            # '%s/model.pt' % folder: the place is the first value, not the literal.
            values = [each.value for each in node.right.elements] if isinstance(node.right, cst.Tuple) else [node.right]
            if isinstance(node.operator, cst.Modulo) and inner(node.left).startswith("%s/"):
                yield from self._follow(values[0], replace(use, is_folder=True), depth - 1)
        elif isinstance(node, cst.BinaryOperation) and self._is_below_code(node, depth):
            is_named = isinstance(node.right, cst.SimpleString)
            yield replace(use, other=node) if is_named else replace(use, other=node.left, is_folder=True)
        elif isinstance(node, cst.List | cst.Tuple):
            for element in node.elements:
                yield from self._follow(element.value, use, depth - 1)
        elif isinstance(node, cst.BinaryOperation):
            yield from self._follow(node.left, replace(use, is_folder=use.is_folder or _is_joined(node)), depth - 1)
        elif isinstance(node, cst.BooleanOperation):
            yield from self._follow(node.left, use, depth - 1)  # `args.data or "data"`
        elif isinstance(node, cst.Call):
            yield from self._through_call(node, use, depth)
        elif isinstance(node, cst.Name):
            yield from self._through_name(node, use, depth)
        elif isinstance(node, cst.Attribute | cst.Subscript):
            yield from self._through_field(node, use, depth)

    def _through_call(self, call: cst.Call, use: Use, depth: int) -> Iterator[Use]:
        name = self._draft.resolve(call.func)
        if name == "os.path.join" or tail(call.func) == "joinpath":
            first = positional(call, 0) if name else getattr(call.func, "value", None)
            if self._is_code_folder(first, depth):
                yield replace(use, other=call)
                return
            yield from self._follow(first, replace(use, is_folder=True), depth - 1)
        elif name == "os.getcwd" and use.is_folder:
            yield replace(use, other=call)
        elif name in _SAME:
            many = len(call.args) > 1 and name.startswith("pathlib")
            if many and self._is_code_folder(positional(call, 0), depth):
                yield replace(use, other=call)
                return
            yield from self._follow(positional(call, 0), replace(use, is_folder=use.is_folder or many), depth - 1)
        elif tail(call.func) == "format" and isinstance(call.func, cst.Attribute):
            text = inner(call.func.value)
            if text.startswith(("{}/", "{0}/")):
                yield from self._follow(positional(call, 0), replace(use, is_folder=True), depth - 1)
            elif not text.startswith("{"):
                yield from self._follow(call.func.value, use, depth - 1)

    def _is_below_code(self, node: cst.BinaryOperation, depth: int) -> bool:
        """`HERE / "data" / "train"`: the code's folder, and names behind it."""
        if not isinstance(node.operator, cst.Divide | cst.Add):
            return False
        if isinstance(node.left, cst.BinaryOperation) and isinstance(node.left.right, cst.SimpleString):
            return self._is_below_code(node.left, depth)
        return self._is_code_folder(node.left, depth)

    def _is_code_folder(self, node: cst.CSTNode | None, depth: int) -> bool:
        """Whether an expression is where the code lies: `Path(__file__).resolve().parents[1]`, `dirname(__file__)`."""
        if depth == 0 or node is None:
            return False
        if isinstance(node, cst.Name) and node.value == "__file__":
            return True
        if isinstance(node, cst.Name):
            values = self._assigned.get((id(self._draft.scope(node)), node.value), []) or self._module_values(
                node.value
            )
            return len(values) == 1 and self._is_code_folder(values[0], depth - 1)
        if isinstance(node, cst.Attribute | cst.Subscript):
            return self._is_code_folder(node.value, depth - 1)
        if isinstance(node, cst.Call):
            is_method = isinstance(node.func, cst.Attribute) and not self._draft.resolve(node.func).startswith(
                "os.path."
            )
            below = node.func.value if is_method and isinstance(node.func, cst.Attribute) else positional(node, 0)
            known = tail(node.func) in (
                "dirname",
                "abspath",
                "realpath",
                "resolve",
                "absolute",
                "Path",
                "normpath",
                "str",
            )
            if tail(node.func) == "join" and all(inner(arg.value).strip("./") == "" for arg in node.args[1:]):
                return self._is_code_folder(positional(node, 0), depth - 1)
            below = positional(node, 0) if tail(node.func) == "Path" else below
            return known and self._is_code_folder(below, depth - 1)
        return False

    def _through_name(self, node: cst.Name, use: Use, depth: int) -> Iterator[Use]:
        for scope in (self._draft.scope(node), self._draft.module):
            values = self._assigned.get((id(scope), node.value), [])
            if len(values) == 1:
                yield from self._follow(values[0], use, depth - 1)
                return
            if values:
                return
            if isinstance(scope, cst.FunctionDef):
                places = [param.name.value for param in scope.params.params]
                if node.value in self._parameters.get(id(scope), ()):
                    yield replace(use, option=node.value)
                    return
                if node.value in places:
                    yield from self._through_parameter(scope, node.value, places, use, depth)
                    return
        if node.value.isupper() and self._draft.resolve(node):
            yield replace(use, other=node)  # a constant of another file

    def _through_parameter(
        self, function: cst.FunctionDef, name: str, places: list[str], use: Use, depth: int
    ) -> Iterator[Use]:
        """What the callers pass, or the default; several callers are several sources."""
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
        for value in [*passed, *([default] if default is not None else [])]:
            yield from self._follow(value, use, depth - 1)

    def _through_field(self, node: cst.Attribute | cst.Subscript, use: Use, depth: int) -> Iterator[Use]:
        owner = dotted(node.value)
        is_held = owner and (owner in self._holders or owner.rsplit(".", 1)[-1] in self._holders)
        if is_held and not any(isinstance(value, cst.Dict) for value in self._module_values(owner)):
            # Where no parser of this file declares it, the value itself is the source.
            yield replace(use, option=tail(node), other=node)
            return
        if isinstance(node, cst.Subscript):
            value = self._from_dict(node)
            if value is not None:
                yield from self._follow(value, use, depth - 1)
            elif self._is_read_in(node):
                yield replace(use, other=node)
            return
        values = self._fields.get(node.attr.value, [])
        if len(values) == 1:
            yield from self._follow(values[0], use, depth - 1)
        elif not values and owner and owner != "self" and not self._draft.resolve(node).startswith("os."):
            yield replace(use, other=node)

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


def _is_joined(node: cst.BinaryOperation) -> bool:
    """Whether what stands left is a folder: `folder / name`, `folder + "/x"`; `stem + ".pt"` makes a file's name."""
    if isinstance(node.operator, cst.Modulo):
        return False
    if isinstance(node.operator, cst.Add) and isinstance(node.left, cst.SimpleString):
        return inner(node.left).endswith("/")
    right = node.right
    while isinstance(right, cst.BinaryOperation):
        right = right.left
    if isinstance(node.operator, cst.Add) and isinstance(right, cst.SimpleString | cst.FormattedString):
        return _text(right).startswith("/")
    return True


def _text(node: cst.SimpleString | cst.FormattedString) -> str:
    if isinstance(node, cst.SimpleString):
        return inner(node)
    first = node.parts[0] if node.parts else None
    return first.value if isinstance(first, cst.FormattedStringText) else ""


def _starts_with_folder(node: cst.FormattedString) -> bool:
    first = node.parts[0] if node.parts else None
    return isinstance(first, cst.FormattedStringText)


def _names(target: cst.CSTNode) -> Iterator[str]:
    if isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _names(element.value)
