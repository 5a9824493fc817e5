"""Options that choose one of several words, whatever they are called: some file compares them with their default.

`--backbone resnet50` is no place where `build(name)` of another file asks `name == "resnet50"`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

import libcst as cst

from outlast.adapt.arguments.setup import Option
from outlast.adapt.draft import Draft
from outlast.adapt.whole import files_of
from outlast.migrate.tree import dotted, inner, tail

_WORD = re.compile(r"[\w-]+")
#: what leaves a word the word that it was
_SPELLS = frozenset({"lower", "upper", "strip", "str"})


def find_chosen(draft: Draft, options: Mapping[str, Option]) -> frozenset[str]:
    """Options whose default is one of the words that the program asks them for, by whatever name it has them."""
    words = {name: option.default for name, option in options.items() if _WORD.fullmatch(option.default)}
    if not words:
        return frozenset()
    files = files_of(draft)
    links, asked = _links(files), _asked(files)
    return frozenset(
        name for name, word in words.items() if any(word in asked.get(each, ()) for each in _names_of(name, links))
    )


def find_chosen_entries(draft: Draft) -> frozenset[str]:
    """Entries of settings that the script asks for several words: `SIZES[config["kind"]]`, `config["kind"] == "a"`."""
    found = _asked(files_of(draft), (draft,), lambda node: spelled(draft, node))
    return frozenset(entry for entry, words in found.items() if sum(bool(_WORD.fullmatch(each)) for each in words) > 1)


def spelled(draft: Draft, node: cst.CSTNode) -> str:
    """How an entry of settings is written, with the quotes of this house; nothing for anything else."""
    is_entry = isinstance(node, cst.Subscript | cst.Attribute)
    return draft.source(node).replace("'", '"') if is_entry else ""


def _names_of(name: str, links: Mapping[str, set[str]]) -> set[str]:
    found, waiting = {name}, [name]
    while waiting:
        new = links.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def _links(files: tuple[Draft, ...]) -> dict[str, set[str]]:
    """Name → the names under which its value goes on: `self.kind = kind`, `build(args.backbone)`."""
    taken = _parameters(files)
    found: dict[str, set[str]] = defaultdict(set)
    for node in (node for each in files for node in each.nodes):
        if isinstance(node, cst.Assign):
            for target, value in (pair for each in node.targets for pair in _pairs(each.target, node.value)):
                found[_name(value)] |= {tail(target)} if dotted(target) else set()
        elif isinstance(node, cst.Call):
            for at, arg in enumerate(node.args):
                name = _name(arg.value)
                if name and not arg.star:
                    found[name] |= {arg.keyword.value} if arg.keyword else taken.get((tail(node.func), at), set())
    found.pop("", None)
    return found


def _pairs(target: cst.CSTNode, value: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
        yield from ((one.value, other.value) for one, other in zip(target.elements, value.elements, strict=False))
    else:
        yield target, value


def _parameters(files: tuple[Draft, ...]) -> dict[tuple[str, int], set[str]]:
    """(function or class, place) → what is called so there."""
    found: dict[tuple[str, int], set[str]] = defaultdict(set)
    for draft in files:
        for function in draft.functions():
            names = [param.name.value for param in function.params.params]
            around = next((each for each in draft.above(function) if isinstance(each, cst.ClassDef)), None)
            is_made = around is not None and function.name.value == "__init__"
            called = around.name.value if around is not None and is_made else function.name.value
            for at, name in enumerate(names[1:] if names[:1] == ["self"] else names):
                found[called, at].add(name)
    return found


def _asked(
    files: tuple[Draft, ...], asking: tuple[Draft, ...] = (), call: Callable[[cst.CSTNode], str] | None = None
) -> dict[str, set[str]]:
    """Name → the words that it is compared with, or that a table has under it.

    `asking`: the files that ask, where these are not all; `call`: how they call what is asked.
    """
    call = call or _name
    tables = {
        tail(node.targets[0].target): set(_keys(node.value))
        for each in files
        for node in each.nodes
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Dict)
    }
    found: dict[str, set[str]] = defaultdict(set)
    for node in (node for each in asking or files for node in each.nodes):
        if isinstance(node, cst.Comparison):
            sides = [node.left, *(each.comparator for each in node.comparisons)]
            said = {word for side in sides for word in (*_words(side), *tables.get(_name(side), ()))}
            for side in sides:
                found[call(side)] |= said
        elif isinstance(node, cst.Subscript) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
            table = set(_keys(node.value)) or tables.get(_name(node.value), set())
            found[call(node.slice[0].slice.value)] |= table
    found.pop("", None)
    return found


def _name(node: cst.CSTNode) -> str:
    while isinstance(node, cst.Call) and tail(node.func) in _SPELLS:
        is_method = isinstance(node.func, cst.Attribute) and not node.args
        within = node.func.value if isinstance(node.func, cst.Attribute) and is_method else _first(node)
        if within is None:  # `str()` is no word of anything
            return ""
        node = within
    return tail(node) if dotted(node) or isinstance(node, cst.Subscript) else ""


def _first(call: cst.Call) -> cst.CSTNode | None:
    return call.args[0].value if call.args else None


def _words(node: cst.CSTNode) -> Iterator[str]:
    if isinstance(node, cst.List | cst.Tuple | cst.Set):
        yield from (inner(element.value) for element in node.elements)
    elif inner(node):
        yield inner(node)


def _keys(node: cst.CSTNode) -> Iterator[str]:
    for each in node.elements if isinstance(node, cst.Dict) else ():
        yield from [inner(each.key)] if isinstance(each, cst.DictElement) and inner(each.key) else []
