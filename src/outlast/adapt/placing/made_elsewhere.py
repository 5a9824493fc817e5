"""Folders that a function of the program makes of what it is given: `ensure_dir(folder)`, `util.mkdirs([a, b])`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.arguments.namespaces import parameters_of
from outlast.adapt.draft import Draft
from outlast.adapt.placing.sources import Use
from outlast.adapt.whole import files_of
from outlast.migrate.tree import tail

_MAKES = frozenset({"makedirs", "mkdir"})


def is_made_by_function(draft: Draft, use: Use) -> bool:
    """Whether such a function gets what the path of a use is made of."""
    names = {*_names(draft, use.sink.path), *(tail(hop.node) for hop in use.hops)}
    files = files_of(draft)
    makers = {each.name.value for home in files for each in home.functions() if _makes_given(home, each)}
    return any(
        tail(call.func) in makers and not names.isdisjoint(_names(home, arg.value))
        for home in files
        for call in home.calls()
        for arg in call.args
    )


def _makes_given(home: Draft, function: cst.FunctionDef) -> bool:
    """Whether a function makes a folder of one of its parameters, or of each that one of these holds."""
    given = set(parameters_of(function))
    for node in home.below(function.body):
        if isinstance(node, cst.For) and not given.isdisjoint(_names(home, node.iter)):
            given.add(tail(node.target))
    for call in home.calls(function):
        # `path.mkdir()` of a path object has it before the dot.
        parts = [arg.value for arg in call.args]
        parts += [call.func.value] if isinstance(call.func, cst.Attribute) else []
        if tail(call.func) in _MAKES and any(not given.isdisjoint(_names(home, part)) for part in parts):
            return True
    return False


def _names(draft: Draft, node: cst.CSTNode) -> Iterator[str]:
    """Variables and fields that an expression is made of; the functions that it calls are none."""
    if isinstance(node, cst.Name | cst.Attribute):
        yield tail(node)
        return
    for each in draft.below(node):
        around = draft.parent(each)
        is_called = isinstance(around, cst.Call) and around.func is each
        if isinstance(each, cst.Name | cst.Attribute) and not isinstance(around, cst.Attribute) and not is_called:
            yield tail(each)
