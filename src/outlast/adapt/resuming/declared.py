"""Fields that a dataclass declares: `optimizer: Optimizer`, `losses: list = field(default_factory=list)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import argument, positional, tail


def declared_fields(
    draft: Draft, chain: Sequence[cst.ClassDef], makers: Sequence[str]
) -> dict[str, list[cst.BaseExpression]]:
    """Field → what it is at first: what is declared, or what calls of `makers` give where nothing is.

    Of a factory its name stands there, which is as plain as what it makes.
    """
    found: dict[str, list[cst.BaseExpression]] = {}
    # The fields of a base come first, as in the method that is made of them.
    lines = [line for home in reversed(chain) for line in _declarations(home)]
    names = [tail(line.target) for line in lines]
    for at, line in enumerate(lines):
        given = _given(draft, makers, names[at], at) if line.value is None else []
        found[names[at]] = [_first(line.value)] if line.value is not None else given
    return found


def factory_of(draft: Draft, values: Sequence[cst.BaseExpression]) -> str:
    """The class that makes a field, where it is declared so."""
    around = draft.parent(values[0]) if len(values) == 1 and isinstance(values[0], cst.Name) else None
    is_factory = isinstance(around, cst.Arg) and around.keyword is not None and around.keyword.value == _FACTORY
    return tail(values[0]) if is_factory else ""


_FACTORY = "default_factory"


def _declarations(home: cst.ClassDef) -> Iterator[cst.AnnAssign]:
    decorators = (each.decorator for each in home.decorators)
    names = {tail(each.func if isinstance(each, cst.Call) else each) for each in decorators}
    for line in home.body.body if "dataclass" in names else ():
        for each in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(each, cst.AnnAssign) and tail(each.annotation.annotation) != "ClassVar":
                yield each


def _first(value: cst.BaseExpression) -> cst.BaseExpression:
    if not isinstance(value, cst.Call) or tail(value.func) != "field":
        return value
    told = argument(value, _FACTORY) or argument(value, "default")
    return told.value if told is not None else value


def _given(draft: Draft, makers: Sequence[str], name: str, at: int) -> list[cst.BaseExpression]:
    calls = [call for each in (draft, *draft.others) for call in each.calls() if tail(call.func) in makers]
    named = [argument(call, name) for call in calls]
    values = [each.value if each is not None else positional(call, at) for call, each in zip(calls, named, strict=True)]
    return [each for each in values if each is not None]
