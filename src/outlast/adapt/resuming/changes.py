"""Which names a block of statements changes, by itself or through functions of the same file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.elsewhere import function_elsewhere
from outlast.adapt.resuming.arrays import changed_parts, find_views, is_in_place
from outlast.adapt.resuming.elements import filled_through
from outlast.adapt.resuming.parts import targets_in
from outlast.migrate.tree import tail

_MUTATORS = frozenset(
    "append extend add update insert pop remove clear setdefault appendleft popleft sort reverse partial_fit fit step "
    "push shuffle permutation integers normal uniform random choice standard_normal randn".split()
)
#: Of these, the ones that lists, dictionaries, sets and queues have.
_CONTAINER_METHODS = frozenset(
    "append extend add update insert pop remove clear setdefault appendleft popleft sort reverse".split()
)
_HELD = (cst.List, cst.Dict, cst.Set, cst.ListComp, cst.DictComp)
_MAKERS = frozenset({"list", "dict", "set", "defaultdict", "deque", "OrderedDict", "Counter"})
#: Functions that change what they are given.
_FILL = frozenset(
    "shuffle fill_diagonal copyto place heappush heappop heapreplace heappushpop heapify insort insort_left "
    "insort_right".split()
)


def changed_in(
    draft: Draft, nodes: Sequence[cst.CSTNode], origins: Mapping[str, cst.BaseExpression | None]
) -> Iterator[str]:
    """Names whose values are changed in place, or may be: by assignment to a part, by a method, by a function."""
    own = {function.name.value: function for function in draft.functions()}
    classes = {node.name.value for node in draft.nodes if isinstance(node, cst.ClassDef)}

    def is_object(name: str) -> bool:
        """Of a class of this file: any method may change it."""
        origin = origins.get(name)
        return isinstance(origin, cst.Call) and tail(origin.func) in classes

    views = find_views(nodes)
    for node in nodes:
        yield from changed_parts(node, views)
        for target in targets_in(node):
            yield _root(target)
            if isinstance(target, cst.Subscript):
                yield from filled_through(draft, target.value, origins)
        if isinstance(node, cst.Call):
            if isinstance(node.func, cst.Attribute) and (
                node.func.attr.value in _MUTATORS or is_object(_root(node.func))
            ):
                yield _root(node.func)
            if isinstance(node.func, cst.Attribute) and node.func.attr.value in _CONTAINER_METHODS:
                yield from filled_through(draft, node.func.value, origins)
            if isinstance(node.func, cst.Attribute) and is_in_place(node):
                yield from filled_through(draft, node.func.value, origins, of_tensors=True)
            function, fills = own.get(tail(node.func)), tail(node.func) in _FILL
            fills = fills or (tail(node.func) == "at" and draft.resolve(node.func).startswith("numpy."))  # np.add.at
            elsewhere = function_elsewhere(draft, node) if function is None else None
            for at, arg in enumerate(node.args):
                if isinstance(arg.value, cst.Name) and (
                    fills
                    or (arg.keyword and arg.keyword.value == "out")
                    or (function is not None and _may_change(draft, function, arg, at, own))
                    or (elsewhere is not None and _fills(*elsewhere, arg, at, origins.get(arg.value.value)))
                ):
                    yield arg.value.value


def _fills(
    home: Draft, function: cst.FunctionDef, arg: cst.Arg, at: int, origin: cst.BaseExpression | None, depth: int = 3
) -> bool:
    """Whether a function of another file shuffles what it is given, or puts something into a list or dictionary."""
    params = [param.name.value for param in (*function.params.params, *function.params.kwonly_params)]
    name = arg.keyword.value if arg.keyword else params[at] if at < len(params) and not arg.star else ""
    is_held = isinstance(origin, _HELD) or (isinstance(origin, cst.Call) and tail(origin.func) in _MAKERS)
    if name not in params or not depth:
        return False
    for node in home.below(function.body):
        if is_held and any(isinstance(each, cst.Subscript) and _root(each) == name for each in targets_in(node)):
            return True
        if not isinstance(node, cst.Call):
            continue
        is_method = isinstance(node.func, cst.Attribute) and tail(node.func) in _CONTAINER_METHODS
        if is_held and is_method and _root(node.func) == name:
            return True
        called = next((each for each in home.functions() if each.name.value == tail(node.func)), None)
        for place, each in enumerate(node.args):
            if isinstance(each.value, cst.Name | cst.Subscript) and _root(each.value) == name:
                if tail(node.func) in _FILL:
                    return True
                if (
                    called is not None
                    and called is not function
                    and _fills(home, called, each, place, origin, depth - 1)
                ):
                    return True
    return False


def _may_change(
    draft: Draft, function: cst.FunctionDef, arg: cst.Arg, at: int, own: dict[str, cst.FunctionDef], depth: int = 3
) -> bool:
    """Whether a function of this file may change what it is given: a value that is only read stays as it is."""
    params = [param.name.value for param in (*function.params.params, *function.params.kwonly_params)]
    at += params[:1] == ["self"]
    name = arg.keyword.value if arg.keyword else params[at] if at < len(params) and not arg.star else ""
    if name not in params or not depth:
        return True
    for node in draft.below(function.body):
        is_added_to = isinstance(node, cst.AugAssign)
        if any(_root(each) == name and (is_added_to or not isinstance(each, cst.Name)) for each in targets_in(node)):
            return True
        if isinstance(node, cst.Call) and _changes(draft, node, name, function, own, depth):
            return True
    return False


def _changes(
    draft: Draft, call: cst.Call, name: str, function: cst.FunctionDef, own: dict[str, cst.FunctionDef], depth: int
) -> bool:
    if isinstance(call.func, cst.Attribute) and _root(call.func) == name:
        method = call.func.attr.value
        if method in _MUTATORS or (method in own and _is_method(own[method])):
            return True
    called = own.get(tail(call.func))
    for place, each in enumerate(call.args):
        if isinstance(each.value, cst.Name) and each.value.value == name:
            if called is function or tail(call.func) in _FILL:
                return True
            if called is not None and _may_change(draft, called, each, place, own, depth - 1):
                return True
    return False


def _is_method(function: cst.FunctionDef) -> bool:
    return bool(function.params.params) and function.params.params[0].name.value == "self"


def _root(node: cst.CSTNode) -> str:
    while isinstance(node, cst.Attribute | cst.Subscript | cst.Call):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else ""
