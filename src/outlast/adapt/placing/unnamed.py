"""Functions and classes that no file of a program names: a configuration does, and brings their arguments."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.arguments.namespaces import called_name, parameters_of
from outlast.adapt.draft import Draft
from outlast.migrate.tree import argument, dotted, tail


def is_unnamed(draft: Draft, function: cst.FunctionDef) -> bool:
    """Whether nobody is seen to call a function of a module, or to make or extend the class whose method it is."""
    home = next((each for each in draft.above(function) if isinstance(each, cst.ClassDef)), None)
    if not draft.is_module or (home is not None and function.name.value != "__init__"):
        return False
    name = home.name.value if home is not None else function.name.value
    if draft.calls_named(name) or any(name in other.words for other in draft.others):
        return False
    if any(isinstance(arg.value, cst.Name) and arg.value.value == name for call in draft.calls() for arg in call.args):
        return False  # `pool.map(partial(load, folder=x), names)`: whoever takes it calls it with what it has been told
    if home is None and any(_is_handed_on(draft, node, name) for node in draft.nodes):
        return False  # `def __init__(self, root, loader=load)`: so does whoever makes that
    return all(_hands_all_on(each) and _is_unnamed_class(draft, each) for each in _built_on(draft, name))


def is_given_by_words(draft: Draft, function: cst.FunctionDef, name: str) -> bool:
    """Whether a parameter comes out of a dictionary wherever a function is called: `train(rank, **config["train"])`."""
    called, places = called_name(draft, function), parameters_of(function)
    place = places.index(name) - (places[:1] in (["self"], ["cls"]))
    calls = [
        call for each in (draft, *draft.others) for call in each.calls_named(called)
        # `model.train()` is no call of a function `train`.
        if (isinstance(call.func, cst.Name) or each.resolve(call.func))
        and not each.is_of_library(call.func)
    ]  # fmt: skip
    return bool(calls) and all(
        any(arg.star == "**" and _is_read(draft, arg.value) for arg in call.args)
        and argument(call, name) is None and place >= sum(arg.keyword is None and not arg.star for arg in call.args)
        for call in calls
    )  # fmt: skip


def _is_read(draft: Draft, words: cst.BaseExpression) -> bool:
    """Whether words are a part of what is neither written down in the program nor parsed: of settings of a file."""
    made = _written(draft.home(words), words)
    is_parsed = tail(made.func) in ("vars", "dict") if isinstance(made, cst.Call) else tail(made) == "__dict__"
    is_part = isinstance(words, cst.Name | cst.Subscript | cst.Attribute) and tail(words) != "__dict__"
    return is_part and not is_parsed and not isinstance(made, cst.Dict)


def _written(draft: Draft, words: cst.BaseExpression) -> cst.BaseExpression | None:
    values = (
        node.value for node in draft.all_assigns
        if any(dotted(each.target) == dotted(words) for each in node.targets)
    )  # fmt: skip
    return next(values, None) if dotted(words) else None


def _is_handed_on(draft: Draft, node: cst.CSTNode, name: str) -> bool:
    """Whether a function is a value by its name: the default of a parameter, or what another name stands for."""
    parent = draft.parent(node) if isinstance(node, cst.Name) and node.value == name else None
    return (isinstance(parent, cst.Param) and parent.default is node) or (
        isinstance(parent, cst.Assign) and parent.value is node
    )


def _built_on(draft: Draft, name: str) -> list[cst.ClassDef]:
    return [
        each for each in draft.nodes
        if isinstance(each, cst.ClassDef) and any(tail(base.value) == name for base in each.bases)
    ]  # fmt: skip


def _hands_all_on(home: cst.ClassDef) -> bool:
    """Whether a class is made with what the one is made with that it is built on: `def __init__(self, **words)`."""
    made = [each for each in home.body.body if isinstance(each, cst.FunctionDef) and each.name.value == "__init__"]
    return all(len(each.params.params) == 1 and each.params.star_kwarg is not None for each in made)


def _is_unnamed_class(draft: Draft, home: cst.ClassDef) -> bool:
    name = home.name.value
    is_called = any(tail(call.func) == name for call in draft.calls())
    return not is_called and not _built_on(draft, name) and not any(name in other.words for other in draft.others)
