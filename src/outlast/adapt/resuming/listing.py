"""Samples that are chosen by chance from a list whose order nobody has set: a folder lists its files as it likes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.before import Before
from outlast.adapt.resuming.drawing import Draw
from outlast.adapt.resuming.state import RULE
from outlast.adapt.whole import files_of
from outlast.migrate.context import is_prose_call
from outlast.migrate.engine import Kind
from outlast.migrate.tree import dotted, tail

_LISTING = re.compile(r"os\.(?:listdir|scandir|walk)|glob\.i?glob")
_METHODS = frozenset({"iterdir", "rglob", "glob"})
#: what comes out of these has one order, or none that matters
_SORTS = frozenset({"len", "unique"})
#: names between a choice and what it deals out: `order = list(range(len(rows)))`, `rows = Pictures(folder)`
_HOPS = 2
_FILLS = frozenset({"append", "extend", "add", "update", "insert"})


def say_listings(draws: Sequence[Draw]) -> set[int]:
    """Name lists of files that a choice depends on and nothing sorts; which ones."""
    told = set()
    for draft in dict.fromkeys(draw.draft for draw in draws):
        choices = [draw.call for draw in draws if draw.draft is draft and draw.is_choice]
        for listing in _listings(draft) if choices else ():
            names = _reached(draft, listing)
            chosen = next((call for call in choices if _depends(draft, call, listing, names)), None)
            if chosen is not None:
                word = tail(listing.func)
                said = f"{word} may list files in another order where they are copied anew: {tail(chosen.func)} then "
                advice = f"sort them: sorted({draft.source(listing)})"
                draft.say(Kind.DIFFERS, RULE, listing, said + "chooses others", advice)
                told.add(id(listing))
    return told | _say_held([draw for draw in draws if draw.is_choice], told)


def _say_held(choices: Sequence[Draw], told: set[int]) -> set[int]:
    """Name those that an object of the program holds, which is dealt out: `random_split(Pictures(folder), …)`."""
    found: dict[int, cst.Call] = {}
    for draw in choices:
        for draft, home in _dealt_out(draw):
            for listing in _listings_in(draft, home):
                if id(listing) not in told and id(listing) not in found:
                    found[id(listing)] = listing
                    said = f"{tail(listing.func)} may list files in another order where they are copied anew: "
                    said += f"{tail(draw.call.func)} then chooses others"
                    draft.say(Kind.DIFFERS, RULE, listing, said, f"sort them: sorted({draft.source(listing)})")
    return set(found)


def _listings_in(draft: Draft, home: cst.ClassDef) -> Iterator[cst.Call]:
    """Lists whose order gets to a field of a class."""
    for listing in _listings(draft):
        is_inside = any(each is home for each in draft.above(listing))
        if is_inside and any(name.startswith("self.") for name in _reached(draft, listing)):
            yield listing


def _dealt_out(draw: Draw) -> Iterator[tuple[Draft, cst.ClassDef]]:
    """The classes, with those that they are built on, of what a choice is given, or of what that is made of."""
    given: list[cst.BaseExpression] = [arg.value for arg in draw.call.args]
    classes = {
        node.name.value: (draft, node)
        for draft in files_of(draw.draft)
        for node in draft.nodes
        if isinstance(node, cst.ClassDef)
    }
    for _ in range(_HOPS):
        names = {each for value in given for each in _words(draw.draft, value)}
        bound = (node for node in draw.draft.all_assigns if any(dotted(each.target) in names for each in node.targets))
        given += [node.value for node in bound if node.value not in given]
    waiting = [tail(call.func) for value in given for call in _calls(draw.draft, value)]
    seen = set[str]()
    while waiting:
        name = waiting.pop()
        if name in classes and name not in seen:
            seen.add(name)
            yield classes[name]
            waiting += [tail(base.value) for base in classes[name][1].bases]


def _calls(draft: Draft, value: cst.BaseExpression) -> Iterator[cst.Call]:
    yield from (each for each in (value, *draft.below(value)) if isinstance(each, cst.Call))


def _words(draft: Draft, value: cst.BaseExpression) -> set[str]:
    return {dotted(each) for each in (value, *draft.below(value)) if isinstance(each, cst.Name | cst.Attribute)}


def _depends(draft: Draft, call: cst.Call, listing: cst.Call, names: set[str]) -> bool:
    """Whether what a call chooses hangs on a list, which gets to these names."""
    is_given = any(each is call for each in draft.above(listing))
    return is_given or bool(names & {*_names(draft, call), *_indexed(draft, call)})


def say_cut(drafts: Sequence[Draft], before: Before, told: set[int]) -> None:
    """Name those that are cut into parts: `files[:800]` to train with, and the others to test."""
    for draft in drafts:
        for listing in _listings(draft):
            if id(listing) in told or not before.has(draft, listing):
                continue
            names = _reached(draft, listing)
            cuts = (node for node in draft.nodes if _is_cut(draft, node, listing, names))
            cut = next((node for node in cuts if before.has(draft, node)), None)
            if cut is not None:
                said = f"{tail(listing.func)} may list files in another order where they are copied anew: "
                said += f"{draft.source(cut)} are others then"
                draft.say(Kind.DIFFERS, RULE, listing, said, f"sort them: sorted({draft.source(listing)})")


def _is_cut(draft: Draft, node: cst.CSTNode, listing: cst.Call, names: set[str]) -> bool:
    part = node.slice[0].slice if isinstance(node, cst.Subscript) and len(node.slice) == 1 else None
    if not isinstance(node, cst.Subscript) or not isinstance(part, cst.Slice) or not (part.lower or part.upper):
        return False
    is_shown = any(isinstance(each, cst.Call) and is_prose_call(tail(each.func)) for each in draft.above(node))
    return not is_shown and (node.value is listing or dotted(node.value) in names)


def _listings(draft: Draft) -> Iterator[cst.Call]:
    for call in draft.calls():
        is_method = isinstance(call.func, cst.Attribute) and call.func.attr.value in _METHODS
        path = draft.resolve(call.func)
        if not _LISTING.fullmatch(path) and not (is_method and not path):
            continue
        around = (each for each in draft.above(call) if isinstance(each, cst.Call))
        if not any(_sorts(each) or tail(each.func) in ("set", "any") for each in around):
            yield call


def _sorts(call: cst.Call) -> bool:
    """Also by a function of the program that is called so: `natural_sorted(files)`."""
    return tail(call.func) in _SORTS or "sort" in tail(call.func).lower()


def _reached(draft: Draft, listing: cst.Call) -> set[str]:
    """Names, and functions, that the order of a list gets to; none of what is sorted on the way."""
    sorted_ = {
        dotted(call.func.value)
        for call in draft.calls()
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == "sort"
    }
    found = set(_bound_around(draft, listing)) - sorted_
    count = -1
    while count != len(found):
        count = len(found)
        for node in draft.nodes:
            if isinstance(node, cst.Name | cst.Attribute) and dotted(node) in found and not _is_sorted(draft, node):
                found |= set(_bound_around(draft, node)) - sorted_
    return found


def _is_sorted(draft: Draft, node: cst.CSTNode) -> bool:
    return any(isinstance(each, cst.Call) and _sorts(each) for each in draft.above(node))


def _bound_around(draft: Draft, node: cst.CSTNode) -> Iterator[str]:
    """What a value goes into from where it stands: a name, what a loop over it fills, what a function gives back."""
    before = node
    for each in draft.above(node):
        if isinstance(each, cst.Assign) and before is each.value:
            yield from (dotted(target.target) for target in each.targets if dotted(target.target))
            return
        if isinstance(each, cst.Return):
            function = draft.scope(node)
            if isinstance(function, cst.FunctionDef):
                yield function.name.value
            return
        if isinstance(each, cst.For) and before is each.iter:
            function = draft.scope(each)
            is_yielding = any(isinstance(inside, cst.Yield) for inside in draft.below(each.body))
            yield from [function.name.value] if is_yielding and isinstance(function, cst.FunctionDef) else []
            for call in draft.calls(each.body):
                if isinstance(call.func, cst.Attribute) and call.func.attr.value in _FILLS:
                    yield dotted(call.func.value)
            return
        if isinstance(each, cst.Call) and isinstance(each.func, cst.Attribute) and each.func.attr.value in _FILLS:
            yield dotted(each.func.value)
        if isinstance(each, cst.BaseSuite | cst.SimpleStatementLine):
            return
        before = each


def _names(draft: Draft, call: cst.Call) -> Iterator[str]:
    for arg in call.args:
        for node in (arg.value, *draft.below(arg.value)):
            if isinstance(node, cst.Name | cst.Attribute):
                yield dotted(node)


def _indexed(draft: Draft, call: cst.Call) -> Iterator[str]:
    """What is put in the order of numbers that were drawn: `order = permutation(count)`, `rows[order]`."""
    orders = _orders(draft, call)
    for node in draft.nodes if orders else ():
        if isinstance(node, cst.Subscript) and any(dotted(each) in orders for each in draft.below(node.slice[0])):
            yield dotted(node.value)


def _orders(draft: Draft, call: cst.Call) -> set[str]:
    """Names of numbers that were drawn, and of what is made of them: `train = order[:80]`, `for at in train`."""
    line = draft.parent(call)
    found = {dotted(each.target) for each in line.targets} if isinstance(line, cst.Assign) else set()
    makes = [
        (node.targets[0].target, node.value) if isinstance(node, cst.Assign) else (node.target, node.iter)
        for node in (draft.below(draft.scope(call)) if found else ())
        if isinstance(node, cst.Assign | cst.For | cst.CompFor)
    ]
    for _ in makes:
        more = {dotted(target) for target, value in makes if _speaks_of(draft, value, found)} - {""} - found
        if not more:
            break
        found |= more
    return found


def _speaks_of(draft: Draft, value: cst.CSTNode, names: set[str]) -> bool:
    return any(dotted(each) in names for each in (value, *draft.below(value)))
