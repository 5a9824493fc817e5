"""Where the value of an expression comes from: backwards through names, parameters and functions of one file."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.adapt.resuming.parts import parts_of
from outlast.adapt.resuming.scopes import is_method, parameters
from outlast.migrate.tree import argument, dotted, inner, positional, tail

_DEPTH = 8
#: Calls that hand out something of what they are given: the files of a folder, the last of several.
_CHOOSING = frozenset("sorted natsorted max min list str Path abspath expanduser next iter reversed resolve".split())
_LISTING = frozenset({"listdir", "iterdir", "scandir", "latest_checkpoint"})
_PERCENT = re.compile(r"%(?:\(\w+\))?[-+ #0-9.*]*[a-zA-Z]")


class Following:
    """What names were given, outside of one loop."""

    def __init__(self, draft: Draft, loop: cst.CSTNode | None) -> None:
        self.draft = draft
        inside = set() if loop is None else {id(node) for node in draft.below(loop)}
        self.assigns = [node for node in draft.nodes if isinstance(node, cst.Assign) and id(node) not in inside]
        self._functions = {each.name.value: each for each in draft.functions()}

    def bindings(self, node: cst.BaseExpression) -> list[tuple[cst.Assign, cst.BaseExpression]]:
        """Assignments that may have given a name or a field its value, each with that value."""
        name, scope = dotted(node), self.draft.scope(node)
        if not name:
            return []
        if "." in name:
            return list(self._bound(name, None))
        found = list(self._bound(name, scope))
        is_own = isinstance(scope, cst.FunctionDef) and name in parameters(scope)
        return found if found or is_own or scope is self.draft.module else list(self._bound(name, self.draft.module))

    def _bound(self, name: str, scope: Scope | None) -> Iterator[tuple[cst.Assign, cst.BaseExpression]]:
        for each in self.assigns:
            if scope is not None and self.draft.scope(each) is not scope:
                continue
            for target in each.targets:
                part = parts_of(target.target, each.value, fields=True).get(name)
                if part is not None:
                    yield each, part

    def given(self, node: cst.BaseExpression) -> list[cst.BaseExpression]:
        """What calls in this file give for a parameter, or what it is by itself."""
        scope = self.draft.scope(node)
        if not isinstance(node, cst.Name) or not isinstance(scope, cst.FunctionDef):
            return []
        names = parameters(scope)
        if node.value not in names:
            return []
        index = names.index(node.value) - (1 if is_method(self.draft, scope) else 0)
        default = (*scope.params.params, *scope.params.kwonly_params)[names.index(node.value)].default
        found: list[cst.BaseExpression | None] = []
        for call in self.calls_of(scope):
            named = argument(call, node.value)
            value = named.value if named else positional(call, index)
            found.append(value if value is not None else default)
        return [value for value in found or [default] if value is not None]

    def calls_of(self, function: cst.FunctionDef) -> list[cst.Call]:
        """Calls of a function, and calls that are handed it to call it."""
        home = next((each for each in self.draft.above(function) if isinstance(each, cst.ClassDef)), None)
        name = function.name.value
        if name == "__init__" and home is not None:
            name = home.name.value
        return [
            call for call in self.draft.calls()
            if self.draft.scope(call) is not function
            and (tail(call.func) == name or any(dotted(arg.value) == name for arg in call.args))
        ]  # fmt: skip

    def function(self, call: cst.Call) -> cst.FunctionDef | None:
        """The function of this file that a call runs."""
        function = self._functions.get(tail(call.func))
        if function is None or is_method(self.draft, function) != isinstance(call.func, cst.Attribute):
            return None
        return function

    def sources(self, node: cst.BaseExpression) -> Iterator[cst.CSTNode]:
        """All that an expression is computed from: its own parts, and those of what its names were given."""
        seen: set[int] = set()
        waiting: list[cst.CSTNode] = [node]
        while waiting:
            top = waiting.pop()
            for each in (top, *self.draft.below(top)):
                if id(each) in seen:
                    continue
                seen.add(id(each))
                yield each
                if isinstance(each, cst.Name | cst.Attribute):
                    waiting += [assign for assign, _ in self.bindings(each)]
                    waiting += self.given(each)
                elif isinstance(each, cst.Call) and (function := self.function(each)) is not None:
                    waiting += [node for node in self.draft.below(function) if isinstance(node, cst.Return)]

    # ---- paths

    def spelled(self, node: cst.BaseExpression | None, depth: int = _DEPTH) -> set[str]:
        """The texts that a path may have: `*` for what differs from time to time, `<name>` for what has only a name."""
        if node is None or not depth:
            return {"*"}
        if isinstance(node, cst.SimpleString):
            return {inner(node)}
        if isinstance(node, cst.FormattedString):
            parts = [
                {each.value} if isinstance(each, cst.FormattedStringText)
                else self._inserted(each.expression, depth) if isinstance(each, cst.FormattedStringExpression)
                else {"*"}
                for each in node.parts
            ]  # fmt: skip
            return _joined("", parts)
        if isinstance(node, cst.BooleanOperation):  # args.out or "out"
            return self.spelled(node.left, depth - 1) | self.spelled(node.right, depth - 1)
        if isinstance(node, cst.BinaryOperation):
            return self._operation(node, depth)
        if isinstance(node, cst.Call):
            return self._call(node, depth)
        if isinstance(node, cst.Subscript):
            held = dotted(node.value)
            listed = self.bindings(node.value) if held else []
            if listed and all(isinstance(value, cst.Call) for _, value in listed):
                return self.spelled(node.value, depth - 1)  # files[-1]
            return {f"<{self.draft.source(node)}>"}
        if isinstance(node, cst.Attribute) and node.attr.value == "latest_checkpoint":
            made = [value for _, value in self.bindings(node.value) if isinstance(value, cst.Call)]
            return {f"{text}/*" for call in made for text in self.spelled(_place(call, "directory", 1), depth - 1)}
        if isinstance(node, cst.Name | cst.Attribute):
            values = [value for _, value in self.bindings(node)] or self.given(node)
            found = {text for value in values if tail(value) != "None" for text in self.spelled(value, depth - 1)}
            return found or {f"<{dotted(node)}>"}
        return {"*"}

    def _inserted(self, node: cst.BaseExpression, depth: int) -> set[str]:
        """Part of a name: a text of the file, or something that differs."""
        found = self.spelled(node, depth - 1) if isinstance(node, cst.Name | cst.Attribute) else {"*"}
        is_fixed = bool(self.bindings(node) or self.given(node)) or "." in dotted(node)
        return found if is_fixed else {"*"}

    def _operation(self, node: cst.BinaryOperation, depth: int) -> set[str]:
        if isinstance(node.operator, cst.Modulo):
            return {_PERCENT.sub("*", text) for text in self.spelled(node.left, depth - 1)}
        between = "/" if isinstance(node.operator, cst.Divide) else ""
        return _joined(between, [self.spelled(node.left, depth - 1), self.spelled(node.right, depth - 1)])

    def _call(self, node: cst.Call, depth: int) -> set[str]:
        made = tail(node.func)
        first = positional(node, 0)
        if made == "join" and first is not None:
            return _joined("/", [self.spelled(arg.value, depth - 1) for arg in node.args])
        if made == "format" and isinstance(node.func, cst.Attribute):
            return {re.sub(r"\{[^{}]*\}", "*", text) for text in self.spelled(node.func.value, depth - 1)}
        if made in _LISTING or made in ("glob", "rglob"):
            on = node.func.value if isinstance(node.func, cst.Attribute) else None
            folder = on if on is not None and not self.draft.resolve(node.func) else None
            texts = self.spelled(folder, depth - 1) if folder is not None else self.spelled(first, depth - 1)
            return texts if made == "glob" and folder is None else {f"{text}/*" for text in texts}
        if made in _CHOOSING and first is not None:
            return self.spelled(first, depth - 1)
        function = self.function(node)
        if function is not None:
            returned = [each.value for each in self.draft.below(function) if isinstance(each, cst.Return)]
            return {text for value in returned if tail(value) != "None" for text in self.spelled(value, depth - 1)}
        return {"*"}


def _joined(between: str, parts: list[set[str]]) -> set[str]:
    """All ways to put texts together; too many are none."""
    found = {""}
    for at, texts in enumerate(parts):
        found = {
            f"{before}{between if at and not before.endswith('/') else ''}{text}" for before in found for text in texts
        }
        if len(found) > 32:
            return {"*"}
    return found


def _place(call: cst.Call, keyword: str, index: int) -> cst.BaseExpression | None:
    named = argument(call, keyword)
    return named.value if named else positional(call, index)
