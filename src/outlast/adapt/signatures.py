"""Whether a call can be one of a function, by what it is given."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from outlast.migrate.tree import inner, tail


def fits(call: cst.Call, function: cst.FunctionDef, skip: int) -> bool:
    """Whether what a call gives is what a function takes: `model.train()` is no call of `train(self, epochs)`.

    `skip`: parameters in front that no call gives, as `self`.
    """
    if any(arg.star for arg in call.args):
        return True
    taken = function.params
    places = [*taken.posonly_params, *taken.params][skip:]
    count = sum(arg.keyword is None for arg in call.args)
    named = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    if count > len(places) and not isinstance(taken.star_arg, cst.Param):
        return False
    known = {each.name.value for each in (*places, *taken.kwonly_params)}
    if named - known and taken.star_kwarg is None:
        return False
    needed = [each for each in (*places[count:], *taken.kwonly_params) if each.default is None]
    return all(each.name.value in named for each in needed)


def skipped(function: cst.FunctionDef, around: Iterable[cst.CSTNode]) -> int:
    """How many parameters in front a call does not give, by what the function lies in: `self` of a method."""
    is_static = any(tail(each.decorator) == "staticmethod" for each in function.decorators)
    return int(not is_static and any(isinstance(each, cst.ClassDef) for each in around))


def taken_word(function: cst.FunctionDef, value: cst.CSTNode | None) -> str:
    """The keyword that a function takes out of all that it is given: `words["net"]` of `def fit(**words)`."""
    every = function.params.star_kwarg
    if every is None or not isinstance(value, cst.Subscript) or tail(value.value) != every.name.value:
        return ""
    part = value.slice[0].slice if len(value.slice) == 1 else None
    return inner(part.value) if isinstance(part, cst.Index) else ""
