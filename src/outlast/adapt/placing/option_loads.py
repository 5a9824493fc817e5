"""Where the value of an option is read: by its own name, and by those that the program hands it on to."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import libcst as cst

from outlast.adapt.arguments.namespaces import parameters_of
from outlast.adapt.draft import Draft
from outlast.adapt.libraries import is_library
from outlast.migrate.tree import dotted, keyword_or_place, tail

#: names that hold parsed options or settings where people hand them on
HOLDERS = re.compile(
    r"(?:self\.)?(?:\w+_)?(?:args?|opts?|options?|flags|params|hparams|hp|cfg|config|conf|configs?|settings)", re.I
)


def loads_of(drafts: Sequence[Draft], own: str, parameters: Mapping[int, Collection[str]]) -> list[cst.CSTNode]:
    """Where an option is read, by its own name or by those that it is handed on to: `name = args.own`, `train(name)`.

    `parameters`: functions, by their ids, and those of their parameters that are options.
    """
    waiting: list[tuple[Draft, cst.CSTNode]] = [
        (draft, node) for draft in drafts for node in draft.nodes
        if isinstance(node, cst.Attribute | cst.Name) and own in (getattr(node, "value", ""), _field(node))
        and _reads_option(draft, node, own, parameters.get(id(draft.scope(node)), ()))
    ]  # fmt: skip
    found = {id(node): node for _, node in waiting}
    while waiting:
        for draft, node in _handed_on(drafts, *waiting.pop()):
            if id(node) not in found:
                found[id(node)] = node
                waiting.append((draft, node))
    return list(found.values())


def _field(node: cst.CSTNode) -> str:
    return node.attr.value if isinstance(node, cst.Attribute) else ""


def _reads_option(draft: Draft, node: cst.CSTNode, own: str, parameters: Collection[str]) -> bool:
    """`args.own`, or a parameter of a command's function."""
    if isinstance(draft.parent(node), cst.AssignTarget | cst.Param):
        return False
    if isinstance(node, cst.Attribute):
        return node.attr.value == own and HOLDERS.fullmatch(draft.source(node.value)) is not None
    return isinstance(node, cst.Name) and node.value == own and own in parameters


def _handed_on(drafts: Sequence[Draft], draft: Draft, node: cst.CSTNode) -> Iterator[tuple[Draft, cst.CSTNode]]:
    around = draft.parent(node)
    if isinstance(around, cst.Assign) and len(around.targets) == 1:
        target = around.targets[0].target
        if isinstance(target, cst.Name):
            yield from ((draft, each) for each in _loads_in(draft, draft.scope(node), target.value, around))
        elif isinstance(target, cst.Attribute) and tail(target.value) == "self":
            home = next((each for each in draft.above(node) if isinstance(each, cst.ClassDef)), None)
            same = [each for each in draft.below(home) if dotted(each) == dotted(target)] if home is not None else []
            is_once = sum(isinstance(draft.parent(each), cst.AssignTarget) for each in same) == 1
            yield from ((draft, each) for each in same if is_once and each is not target)
    elif isinstance(around, cst.Arg) and isinstance(call := draft.parent(around), cst.Call):
        yield from () if is_library(draft.resolve(call.func)) else _taken(drafts, draft, call, around)


def _loads_in(draft: Draft, scope: cst.CSTNode, name: str, line: cst.Assign | None = None) -> list[cst.CSTNode]:
    """Where a function reads a name that only this line, or its caller, sets."""
    same = [node for node in draft.named(name) if draft.scope(node) is scope and _is_value(draft, node)]
    is_set = [node for node in same if isinstance(draft.parent(node), cst.AssignTarget)]
    if any(line is None or draft.parent(draft.parent(node) or node) is not line for node in is_set):
        return []
    return [node for node in same if node not in is_set]


def _is_value(draft: Draft, node: cst.CSTNode) -> bool:
    around = draft.parent(node)
    is_word = isinstance(around, cst.Arg) and around.keyword is node
    return (
        not is_word
        and not isinstance(around, cst.Param)
        and not (isinstance(around, cst.Attribute) and around.attr is node)
    )


def _taken(drafts: Sequence[Draft], draft: Draft, call: cst.Call, arg: cst.Arg) -> Iterator[tuple[Draft, cst.CSTNode]]:
    """The parameter that a function of the program takes it as, where no caller gives another value."""
    name = tail(call.func)
    for home in drafts:
        for function in home.functions():
            owner = next((each for each in home.above(function) if isinstance(each, cst.ClassDef)), None)
            is_made = owner is not None and function.name.value == "__init__" and owner.name.value == name
            places = parameters_of(function)
            is_method = places[:1] in (["self"], ["cls"])
            place = call.args.index(arg) + is_method
            word = arg.keyword.value if arg.keyword is not None else places[place] if place < len(places) else ""
            if (function.name.value != name and not is_made) or word not in places or arg.star:
                continue
            calls = [(each, one) for each in drafts for one in each.calls() if tail(one.func) == name]
            given = {
                each.source(value) for each, one in calls
                if (value := keyword_or_place(one, word, places.index(word) - is_method)) is not None
            }  # fmt: skip
            if given == {draft.source(arg.value)}:
                yield from ((home, each) for each in _loads_in(home, function, word))
