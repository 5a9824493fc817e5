"""What each name and field of a file is bound to, wherever that happens."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.adapt.placing.shapes import is_argument, names
from outlast.migrate.tree import dotted, inner, tail

#: a folder that is told from where the script runs
_BESIDE = re.compile(r"(?:\.{0,2}/)*[\w -][\w. -]*(?:/[\w. -]+)*/?")

Values = dict[tuple[int, str], list[cst.BaseExpression]]


class Bindings:
    """All values of a file: of names by their scope, of fields by their name. `...` stands for what is not visible."""

    def __init__(self, draft: Draft, is_held: Callable[[cst.BaseExpression], bool]) -> None:
        """`is_held`: whether an expression is an option, which may be several values."""
        self._draft, self._is_held = draft, is_held
        self.assigned: Values = {}
        self.grown: Values = {}  # by `path += …`
        self.fields: dict[str, list[cst.BaseExpression]] = {}
        for node in draft.nodes:
            self._note(node)

    def scopes(self, node: cst.CSTNode) -> list[Scope | cst.ClassDef]:
        """The scope of a node and those around it; the body of a class sees its own names first, its methods do not."""
        inside = self._draft.scope(node)
        around = [each for each in self._draft.above(inside) if isinstance(each, cst.FunctionDef | cst.Module)]
        home = next(
            (each for each in self._draft.above(node) if isinstance(each, cst.ClassDef | cst.FunctionDef)), None
        )
        return [*([home] if isinstance(home, cst.ClassDef) else []), inside, *around]

    def of_field(self, node: cst.Attribute) -> list[cst.BaseExpression]:
        """What a field is set to; where several classes have one of that name, `self.root` is that of its own class."""
        values = self.fields.get(node.attr.value, [])
        home = self._class_of(node) if len(values) > 1 and dotted(node.value) == "self" else None
        own = [value for value in values if self._class_of(value) is home] if home is not None else []
        return own or values

    def reaching(self, node: cst.Name, values: list[cst.BaseExpression]) -> list[cst.BaseExpression]:
        """Those values of a name that it can have at a place: one that is given it before for sure ends the others."""
        if len(values) < 2 or any(isinstance(value, cst.Ellipsis) for value in values):
            return values
        before: cst.CSTNode = node
        end = self._draft.start(node)
        for each in self._draft.above(node):
            if isinstance(each, cst.For | cst.While):
                end = self._draft.span(each)[1]  # what a round leaves, the next one finds
            elif isinstance(each, cst.IndentedBlock | cst.Module):
                earlier = [line for line in each.body if self._draft.start(line) < self._draft.start(before)]
                sure = [value for line in earlier for value in _given(line, node.value)]
                if sure and sure[-1] in values:
                    at = self._draft.start(sure[-1])
                    found = [value for value in values if at <= self._draft.start(value) < end]
                    # `path = path + ".pth"` has what it was before in it.
                    return values if any(self._reads(value, node.value) for value in found) else found
            elif isinstance(each, cst.FunctionDef | cst.Lambda):
                return values
            before = each
        return values

    def are_alternatives(self, values: Sequence[cst.BaseExpression]) -> bool:
        """Whether a start has one of them: folders beside the script, or one that is asked for first.

        `if full: root = "rows" else: root = "some"`, `try: root = sys.argv[1] except IndexError: root = "rows"`.
        """
        is_here = all(_BESIDE.fullmatch(inner(each)) or is_argument(self._draft, each) for each in values)
        return is_here and all(self._is_instead(late, early) for early, late in pairwise(values))

    def _reads(self, value: cst.BaseExpression, name: str) -> bool:
        return any(isinstance(each, cst.Name) and each.value == name for each in (value, *self._draft.below(value)))

    def _class_of(self, node: cst.CSTNode) -> cst.ClassDef | None:
        return next((each for each in self._draft.above(node) if isinstance(each, cst.ClassDef)), None)

    def is_no_setting(self, node: cst.Attribute, owner: str) -> bool:
        """`self.x`, `os.sep`, or `file.name` of what a `with` has opened: nothing that a configuration says."""
        opened = {
            name
            for each in self._draft.nodes if isinstance(each, cst.AsName) and isinstance(each.name, cst.Name)
            if isinstance(self._draft.parent(each), cst.WithItem) for name in (each.name.value,)
        }  # fmt: skip
        return owner == "self" or owner in opened or self._draft.resolve(node).startswith("os.")

    def _note(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.Assign) and self._is_put_back(node.value):
            return
        if isinstance(node, cst.Assign | cst.AnnAssign) and node.value is not None:
            targets = [each.target for each in node.targets] if isinstance(node, cst.Assign) else [node.target]
            for target in targets:
                self._bind(target, node.value)
        elif isinstance(node, cst.AugAssign) and isinstance(node.operator, cst.AddAssign):
            for name in names(node.target):
                grown = self.grown.setdefault((id(self._draft.scope(node)), name), [])
                if not any(self._is_instead(node, each) for each in grown):
                    grown.append(node.value)
        elif isinstance(node, cst.NamedExpr):
            self._bind(node.target, node.value)
        elif isinstance(node, cst.FunctionDef) and any(tail(each.decorator) == "property" for each in node.decorators):
            returned = [each.value for each in self._draft.below(node) if isinstance(each, cst.Return)]
            if len(returned) == 1 and returned[0] is not None:
                self.fields.setdefault(node.name.value, []).append(returned[0])
        elif isinstance(node, cst.For | cst.CompFor) and isinstance(node.target, cst.Name) and self._is_held(node.iter):
            self._bind(node.target, node.iter)  # one of several that an option holds
        elif isinstance(node, cst.AugAssign | cst.For | cst.CompFor):
            for name in names(node.target):
                self.assigned.setdefault((id(self._draft.scope(node)), name), []).append(cst.Ellipsis())

    def _is_put_back(self, value: cst.BaseExpression) -> bool:
        """Whether an earlier adaptation takes a value from its checkpoint, which had it from elsewhere in this file."""
        if not {"resume_path", "resumed"} <= self._draft.words:
            return False
        return any(isinstance(each, cst.Name) and each.value == "resumed" for each in self._draft.below(value))

    def _is_instead(self, node: cst.CSTNode, other: cst.CSTNode) -> bool:
        """Whether a line runs only where the other one does not: behind `else`, or `except`."""
        blocks = {id(each) for each in self._draft.above(other)}
        return any(
            id(owner.body) in blocks
            and (isinstance(each, cst.ExceptHandler) or (isinstance(owner, cst.If) and owner.orelse is each))
            for each, owner in pairwise(self._draft.above(node))
            if isinstance(owner, cst.If | cst.Try)
        )

    def _bind(self, target: cst.CSTNode, value: cst.BaseExpression) -> None:
        if isinstance(target, cst.Name):
            inside = next(
                (each for each in self._draft.above(target) if isinstance(each, cst.ClassDef | cst.FunctionDef)), None
            )
            if isinstance(inside, cst.ClassDef):
                self.fields.setdefault(target.value, []).append(value)
            home = inside if isinstance(inside, cst.ClassDef) else self._draft.scope(target)
            self.assigned.setdefault((id(home), target.value), []).append(value)
        elif isinstance(target, cst.Attribute):
            self.fields.setdefault(target.attr.value, []).append(value)
        elif (
            isinstance(target, cst.Tuple)
            and isinstance(value, cst.Tuple)
            and len(target.elements) == len(value.elements)
        ):
            for left, right in zip(target.elements, value.elements, strict=True):
                self._bind(left.value, right.value)
        elif isinstance(target, cst.List) and isinstance(value, cst.Name):
            for element in target.elements:
                self._bind(element.value, value)  # one of several: `[first, second] = paths`
        else:
            for name in names(target):
                self.assigned.setdefault((id(self._draft.scope(target)), name), []).append(cst.Ellipsis())


def _given(line: cst.CSTNode, name: str) -> list[cst.BaseExpression]:
    """What a statement surely gives to a name."""
    parts = line.body if isinstance(line, cst.SimpleStatementLine) else ()
    return [
        part.value
        for part in parts
        if isinstance(part, cst.Assign)
        and any(isinstance(each.target, cst.Name) and each.target.value == name for each in part.targets)
    ]
