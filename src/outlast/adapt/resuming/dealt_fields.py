"""Iterators that objects of the program hold, `self.batches = iter(self.loader)`, and several in a list or dictionary.

Methods that the rounds call draw from them. They are brought to where they were like those that have a name.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.namespaces import parameters_of
from outlast.adapt.draft import Draft
from outlast.adapt.resuming.dealt import is_called_loader, is_dealing
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.uses import Uses
from outlast.migrate.tree import argument, dotted, positional, tail


@dataclass(frozen=True)
class DealtField:
    """A field: its name where the loop stands, the calls that make what it holds, and of which kind it is."""

    name: str
    made: tuple[cst.Call, ...]
    kind: str = ""  # "list" or "dict" of iterators; empty for one


def find_dealt_fields(draft: Draft, values: Values, uses: Uses) -> list[DealtField]:
    """Fields of objects that are there before the loop, hold iterators over loaders, and are only drawn from.

    Lists and dictionaries of such iterators by names of the loop's function, too.
    """
    files = (draft, *draft.others)
    if any(argument(call, "generator") for each in files for call in each.calls() if tail(call.func) == "DataLoader"):
        return []  # the order follows from that generator
    found: dict[str, DealtField] = {}
    for holder, chain in uses.holders.items():
        if _may_be_missing(values, uses, holder) or any(tail(base.value).endswith("Dataset") for base in _bases(chain)):
            continue  # what is copied to other processes is not drawn from here
        nodes = [node for home in chain for node in draft.below(home)]
        for field in (place for place in dict.fromkeys(_drawn(draft, nodes)) if place.startswith("self.")):
            name = f"{holder}.{field.removeprefix('self.')}"
            dealt = _dealt(draft, values, nodes, field, name) if name in uses.used else None
            if dealt is not None and _is_field_only_drawn(draft, nodes, field, dealt.kind):
                found[name] = dealt
    nodes = list(draft.below(values.scope))
    for name in (
        place for place in dict.fromkeys(_drawn(draft, nodes)) if "." not in place and values.is_surely_there(place)
    ):
        dealt = _dealt(draft, values, nodes, name, name)
        named = (node for node in nodes if _word(node) == name and not _is_label(draft, node))
        if dealt is not None and dealt.kind and all(_is_drawing(draft, nodes, node, {"next", "len"}) for node in named):
            found[name] = dealt
    return list(found.values())


def _dealt(draft: Draft, values: Values, nodes: Sequence[cst.CSTNode], place: str, name: str) -> DealtField | None:
    """What a place holds, where that is certain: iterators over loaders, which are there once the loop begins."""
    made, kind = _made(draft, nodes, place), _kind(nodes, place)
    if made is None or kind is None or not _is_made_before(draft, values, nodes, place):
        return None
    return DealtField(name, tuple(made), kind)


def _is_label(draft: Draft, node: cst.CSTNode) -> bool:
    """`batches` of `args.batches` and of `run(batches=4)`."""
    around = draft.parent(node)
    is_field = isinstance(around, cst.Attribute) and around.attr is node
    return is_field or (isinstance(around, cst.Arg) and around.keyword is node)


def _may_be_missing(values: Values, uses: Uses, holder: str) -> bool:
    root = holder.partition(".")[0].partition("[")[0]
    return (root != "self" and values.may_be_missing(root)) or uses.may_be_none(holder)


def _bases(chain: Sequence[cst.ClassDef]) -> Iterator[cst.Arg]:
    return (base for home in chain for base in home.bases)


def _drawn(draft: Draft, nodes: Iterable[cst.CSTNode]) -> Iterator[str]:
    """Names and fields that hold what is made by `iter(…)`, or by a function that goes through a loader without end."""
    for node in nodes:
        for place, value, _ in _bound(node):
            if place.removeprefix("self.").isidentifier() and _iters(draft, value):
                yield place


def _bound(node: cst.CSTNode) -> Iterator[tuple[str, cst.BaseExpression, bool]]:
    """What a statement binds, with its value, and whether that is only put into it."""
    if isinstance(node, cst.Assign):
        for target in (each.target for each in node.targets):
            is_part = isinstance(target, cst.Subscript)
            yield dotted(target.value if isinstance(target, cst.Subscript) else target), node.value, is_part
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and tail(node.func) == "append":
        yield from ((dotted(node.func.value), arg.value, True) for arg in node.args)


def _iters(draft: Draft, value: cst.BaseExpression) -> list[cst.Call] | None:
    """The calls that make the iterators of a value; none for what is empty at first, None for anything else."""
    if isinstance(value, cst.Call):
        return [value] if is_dealing(draft.home(value), value) else None
    if isinstance(value, cst.ListComp):
        return _iters(draft, value.elt) if isinstance(value.elt, cst.Call) else None
    if isinstance(value, cst.DictComp):
        return _iters(draft, value.value) if isinstance(value.value, cst.Call) else None
    if isinstance(value, cst.List | cst.Dict):
        parts = [_iters(draft, each.value) if isinstance(each.value, cst.Call) else None for each in value.elements]
        return [call for each in parts for call in each or ()] if None not in parts else None
    return None


def _made(draft: Draft, nodes: Sequence[cst.CSTNode], field: str) -> list[cst.Call] | None:
    """The calls that make what a field holds; None where it may hold anything but iterators over loaders."""
    found: list[cst.Call] = []
    for place, value, is_part in itertools.chain.from_iterable(map(_bound, nodes)):
        calls = _iters(draft, value) if place == field else []
        if calls is None or (place == field and is_part and not isinstance(value, cst.Call)):
            return None
        found += calls
    return found if all(_is_of_loader(draft, call) for call in found) else None


def _is_of_loader(draft: Draft, call: cst.Call) -> bool:
    """`iter(self.loader)`, `iter(self.loaders[at])`, `iter(each)` in a loop over loaders."""
    source: cst.CSTNode | None = positional(call, 0)
    source = source.value if isinstance(source, cst.Subscript) else source
    for each in draft.above(call) if isinstance(source, cst.Name) else ():
        over = each.for_in if isinstance(each, cst.ListComp | cst.DictComp) else each
        if isinstance(over, cst.For | cst.CompFor) and _word(source) in _words(draft, over.target):
            source = over.iter
            break
    parts = [] if source is None else [source, *(draft.below(source) if isinstance(source, cst.Call) else ())]
    return any(is_called_loader(tail(part)) for part in parts if isinstance(part, cst.Name | cst.Attribute | cst.Call))


def _words(draft: Draft, target: cst.CSTNode) -> set[str]:
    return {_word(each) for each in (target, *draft.below(target))} - {""}


def _word(node: cst.CSTNode | None) -> str:
    return node.value if isinstance(node, cst.Name) else ""


def _kind(nodes: Sequence[cst.CSTNode], field: str) -> str | None:
    """What holds the iterators; None where that is now one thing and now another."""
    values = [value for node in nodes for place, value, is_part in _bound(node) if place == field and not is_part]
    kinds = {
        "dict" if isinstance(value, cst.Dict | cst.DictComp) else "" if isinstance(value, cst.Call) else "list"
        for value in values
    }
    return kinds.pop() if len(kinds) == 1 else None


def _is_made_before(draft: Draft, values: Values, nodes: Sequence[cst.CSTNode], place: str) -> bool:
    """Whether something is there for certain once the loop begins, and holds its iterators."""
    is_bound = is_filled = False
    for node in nodes:
        for target, value, is_part in _bound(node):
            scope = draft.scope(node)
            is_first = isinstance(scope, cst.FunctionDef) and scope.name.value == "__init__" and "." in place
            is_first = is_first or (scope is values.scope and draft.start(node) < draft.start(values.loop.node))
            if target == place and is_first:
                inside = itertools.takewhile(lambda each: not isinstance(each, cst.FunctionDef), draft.above(node))
                around = [each for each in inside if isinstance(each, cst.If | cst.Try | cst.For | cst.While)]
                is_bound = is_bound or not (is_part or around)
                # A part that is set (`batches[at] = …`) must be there already.
                is_filled = is_filled or (bool(_iters(draft, value)) and not (is_part and isinstance(node, cst.Assign)))
    return is_bound and is_filled


def _is_field_only_drawn(draft: Draft, nodes: Sequence[cst.CSTNode], field: str, kind: str) -> bool:
    """Whether nothing else is done with a field, in its class or from outside."""
    name = field.removeprefix("self.")
    inside = {id(node) for node in nodes}
    uses = (node for each in (draft, *draft.others) for node in each.of(cst.Attribute) if node.attr.value == name)
    looks = {"next", "len"} if kind else {"next"}
    return all(id(node) in inside and dotted(node) == field and _is_drawing(draft, nodes, node, looks) for node in uses)


def _is_drawing(draft: Draft, nodes: Sequence[cst.CSTNode], node: cst.CSTNode, looks: Collection[str]) -> bool:
    """`next(self.batches)`, `self.batches[0] = …`, `self.batches.append(…)`, `for each in self.batches: next(each)`."""
    parent = draft.parent(node)
    if isinstance(parent, cst.Subscript) and parent.value is node:
        node, parent = parent, draft.parent(parent)
    if isinstance(parent, cst.AssignTarget):
        return True
    if isinstance(parent, cst.Attribute):
        return tail(parent) == "append"
    if isinstance(parent, cst.For) and parent.iter is node:
        return _is_loop_drawing(draft, parent, parent.target)
    call = draft.parent(parent) if isinstance(parent, cst.Arg) else None
    if not isinstance(call, cst.Call) or not isinstance(parent, cst.Arg):
        return False
    if tail(call.func) in looks or _is_drawn_by_method(draft, nodes, call, parent):
        return True
    loop = draft.parent(call)
    parts = loop.target.elements if isinstance(loop, cst.For) and isinstance(loop.target, cst.Tuple) else ()
    at = 1 if tail(call.func) == "enumerate" else [arg is parent for arg in call.args].index(True)
    is_dealt = tail(call.func) in ("enumerate", "zip") and isinstance(loop, cst.For) and loop.iter is call
    return is_dealt and at < len(parts) and isinstance(loop, cst.For) and _is_loop_drawing(draft, loop, parts[at].value)


def _is_drawn_by_method(draft: Draft, nodes: Sequence[cst.CSTNode], call: cst.Call, given: cst.Arg) -> bool:
    """`self.check(self.batches)`, whose method only draws from what it is handed."""
    called = [
        node for node in nodes if isinstance(node, cst.FunctionDef) and dotted(call.func) == f"self.{node.name.value}"
    ]
    if len(called) != 1 or any(arg.star for arg in call.args):
        return False
    places = parameters_of(called[0])[1:]
    at = [arg is given for arg in call.args].index(True)
    name = given.keyword.value if given.keyword is not None else "".join(places[at : at + 1])
    return name in places and _is_only_given_to_next(draft, called[0].body, name)


def _is_loop_drawing(draft: Draft, loop: cst.For, target: cst.BaseExpression) -> bool:
    """Whether a loop over iterators only draws from each."""
    return isinstance(target, cst.Name) and _is_only_given_to_next(draft, loop.body, target.value)


def _is_only_given_to_next(draft: Draft, block: cst.BaseSuite, name: str) -> bool:
    names = [node for node in draft.below(block) if isinstance(node, cst.Name) and node.value == name]
    return all(
        isinstance(arg := draft.parent(node), cst.Arg) and isinstance(call := draft.parent(arg), cst.Call)
        and tail(call.func) == "next"
        for node in names
    )  # fmt: skip
