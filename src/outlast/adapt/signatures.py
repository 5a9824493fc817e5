"""Whether a call can be one of a function, by what it is given."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from outlast.migrate.tree import tail


def fits(call: cst.Call, function: cst.FunctionDef, around: Iterable[cst.CSTNode]) -> bool:
    """False where the function would take other arguments than these: `model.save(path)` of `def save(self, a, b)`.

    `around`: what the function lies in, which tells a method.
    """
    if any(arg.star for arg in call.args):
        return True
    taken = function.params
    places = [*taken.posonly_params, *taken.params]
    is_method = any(isinstance(each, cst.ClassDef) for each in around)
    if is_method and not any(tail(each.decorator) == "staticmethod" for each in function.decorators):
        places = places[1:]
    given = [arg for arg in call.args if arg.keyword is None]
    named = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    if len(given) > len(places) and not isinstance(taken.star_arg, cst.Param):
        return False
    known = {each.name.value for each in (*places, *taken.kwonly_params)}
    if named - known and taken.star_kwarg is None:
        return False
    needed = [each for each in (*places[len(given) :], *taken.kwonly_params) if each.default is None]
    return all(each.name.value in named for each in needed)
