"""What calls and targets are of: a function among many of one name, the whole that a part belongs to."""

from __future__ import annotations

import libcst as cst


def fits(call: cst.Call, function: cst.FunctionDef, skip: int) -> bool:
    """Whether what a call gives is what a function takes: `model.train()` is no call of `train(self, epochs)`.

    `skip`: parameters in front that no call gives, as `self`.
    """
    params = function.params
    if params.star_kwarg is not None or isinstance(params.star_arg, cst.Param) or any(arg.star for arg in call.args):
        return True
    named = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    places = [each.name.value for each in (*params.posonly_params, *params.params)][skip:]
    count = sum(arg.keyword is None for arg in call.args)
    every = {*places, *(each.name.value for each in params.kwonly_params)}
    needed = [each.name.value for each in params.params[skip:] if each.default is None]
    is_whole = all(name in named or places.index(name) < count for name in needed)
    return is_whole and count <= len(places) and named <= every


def whole_of(node: cst.BaseExpression) -> cst.BaseExpression:
    """`self.history` of `self.history[key][0]`: what changes where a part of it does."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return node
