"""Options that a script sets itself, whatever was given: `args.save = "./"`, `if args.debug: args.out = "debug/"`.

What was given to such an option is lost; its place is what it is set to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import libcst as cst

from outlast.adapt.arguments.moments import Moments
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED
from outlast.adapt.placing.spelling import UNKNOWN, Spelling
from outlast.migrate.tree import dotted

_BRANCHES = (cst.If, cst.Else, cst.For, cst.While, cst.Try, cst.ExceptHandler)


class Overwritten:
    """The values that fields of parsed options are set to. `fields`: of each name what it is bound to anywhere."""

    def __init__(
        self,
        draft: Draft,
        fields: Mapping[str, Sequence[cst.BaseExpression]],
        spelling: Spelling,
        is_held: Callable[[cst.CSTNode], bool],
    ) -> None:
        self._draft, self._fields, self._spelling, self._is_held = draft, fields, spelling, is_held
        self._moments = Moments(draft)

    def surely(self, node: cst.Attribute | cst.Subscript) -> cst.BaseExpression | None:
        """What an option is set to before it is read here, in every case."""
        values = self._values(node)
        if len(values) != 1 or len(self._fields.get(_name(node), [])) != 1 or not self._is_text(values[0]):
            return None
        is_before = self._moments.is_later(node, values[0])
        return values[0] if is_before and self._is_certain(values[0], node) else None

    def perhaps(self, node: cst.Attribute | cst.Subscript) -> list[cst.BaseExpression]:
        """Places that an option is set to in some case: under a condition, or one of several."""
        return [
            value for value in self._values(node)
            if "/" in self._spelling.of(value) and self._is_text(value) and not self._is_done(value)
        ]  # fmt: skip

    def _values(self, node: cst.Attribute | cst.Subscript) -> list[cst.BaseExpression]:
        return [value for value in self._fields.get(_name(node), []) if self._is_set(value, node)]

    def _is_set(self, value: cst.BaseExpression, node: cst.CSTNode) -> bool:
        line = self._draft.parent(value)
        targets = [each.target for each in line.targets] if isinstance(line, cst.Assign) else []
        return any(dotted(each) == dotted(node) or self._is_held(each) for each in targets)

    def _is_text(self, value: cst.BaseExpression) -> bool:
        """Whether it begins with a text of this file, or was made so by an earlier adaptation."""
        return self._spelling.of(value)[:1] not in ("", UNKNOWN) or self._is_done(value)

    def _is_done(self, value: cst.BaseExpression) -> bool:
        return any(name in self._draft.source(value) for name in PASSED)

    def _is_certain(self, value: cst.BaseExpression, node: cst.CSTNode) -> bool:
        """Whether the value is set wherever the option is read: every condition around it holds there, too."""
        around = {id(each) for each in self._draft.above(node)}
        for block, owner in pairwise(self._draft.above(value)):
            if isinstance(owner, cst.FunctionDef):
                return True
            is_start = isinstance(owner, cst.If) and "__name__" in self._draft.source(owner.test)
            if isinstance(owner, _BRANCHES) and not is_start and id(block) not in around:
                return False
        return True


def _name(node: cst.Attribute | cst.Subscript) -> str:
    return node.attr.value if isinstance(node, cst.Attribute) else ""
