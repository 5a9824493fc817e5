"""Files that a file of the data names: `Image.open(path)` for each `path` of a list that was read from somewhere.

Such names hold where the list was made. Below the contract's folder each is looked for by the end of its path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.sinks import Sink
from outlast.adapt.placing.sources import Use
from outlast.migrate.tree import argument, dotted, inner, positional, tail

if TYPE_CHECKING:
    from outlast.adapt.placing.paths import Paths

#: what gives back what a file holds
_READERS = re.compile(
    r"(?:json|pickle|yaml)\.(?:load|safe_load)|pandas\.read_\w+|csv\.(?:reader|DictReader)|numpy\.(?:loadtxt|genfromtxt)"
)
#: calls that hand out parts of what they are given, and methods that do so of what they are called on
_THROUGH = frozenset("list sorted enumerate zip tqdm reversed tuple shuffle str array asarray next iter".split())
_PARTS = frozenset(
    "tolist to_list to_numpy strip rstrip split splitlines readlines read iterrows itertuples items values get replace "
    "rsplit".split()
)
#: calls that make another path of those that they are given: the file of labels beside a picture
_MAKES = frozenset({"os.path.join", "os.path.dirname", "os.path.basename", "os.path.splitext"})


def add_listed(draft: Draft, found: Paths, sinks: Sequence[Sink], flow: Flow) -> None:
    """Let what is read by such a name follow the data, where nothing else is known of its path."""
    listed = [sink for sink in sinks if sink.role is Role.DATA and not sink.is_guess and _is_listed(draft, sink, flow)]
    read = {(id(draft.scope(sink.call)), dotted(sink.path)) for sink in listed if dotted(sink.path)}
    # Whoever asks whether such a file is there (`if os.path.exists(labels)`) means the same one.
    listed += [
        replace(sink, role=Role.DATA) for sink in sinks
        if sink.role is None and (id(draft.scope(sink.call)), dotted(sink.path)) in read
    ]  # fmt: skip
    for sink in listed:
        found.others.setdefault(Role.DATA, []).append(Use(sink, False, other=sink.path, is_many=True))


def _is_listed(draft: Draft, sink: Sink, flow: Flow) -> bool:
    is_bare = isinstance(sink.path, cst.Name | cst.Subscript | cst.Attribute)
    if not is_bare or sink.is_folder or sink.makes or _is_open_file(draft, sink.path):
        return False
    return not any(use.is_known for use in flow.ways(sink)) and all(_origins(draft, sink.path))


def _is_open_file(draft: Draft, path: cst.BaseExpression) -> bool:
    """`with open(path, "rb") as file: Image.open(file)`: what is read there has been found already."""
    if not isinstance(path, cst.Name):
        return False
    opened = [each for each in draft.calls() if tail(each.func) == "open" and draft.scope(each) is draft.scope(path)]
    homes = [draft.parent(each) for each in opened]
    return any(
        (isinstance(home, cst.WithItem) and home.asname is not None and tail(home.asname.name) == path.value)
        or (isinstance(home, cst.Assign) and any(_has(draft, each.target, path.value) for each in home.targets))
        for home in homes
    )


def _origins(draft: Draft, path: cst.BaseExpression) -> list[bool]:
    """For each way to a value whether it was read from a file; one that is not where nothing is known."""
    return list(_ways(draft, path, set())) or [False]


def _ways(draft: Draft, node: cst.CSTNode, seen: set[int]) -> Iterator[bool]:
    """`seen`: what was asked on the way here; a list that is made of itself (`np.array(self.paths)`) tells no more."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, cst.Subscript):
        yield from _ways(draft, node.value, seen)
    elif isinstance(node, cst.Attribute):
        whole = list(_fields(draft, node)) if dotted(node.value) == "self" else [node.value]
        yield from (way for each in whole for way in _ways(draft, each, seen))
    elif isinstance(node, cst.Call):
        if _READERS.fullmatch(draft.resolve(node.func)):
            yield True
        elif isinstance(node.func, cst.Attribute) and node.func.attr.value in _PARTS:
            yield from _ways(draft, node.func.value, seen)
        elif draft.resolve(node.func) in _MAKES or _is_text_joined(node):
            yield from (way for each in node.args for way in _ways(draft, each.value, seen))
        elif tail(node.func) in _THROUGH and node.args:
            yield from _ways(draft, node.args[0].value, seen)
        elif given := list(_given_back(draft, node)):
            yield from (way for each in given for way in _ways(draft, each, seen))
        else:
            yield tail(node.func) == "open" and not re.search("[wax]", inner(positional(node, 1)))
    elif isinstance(node, cst.Tuple):
        # What is added to a list in pieces has a path among them; numbers and words are none.
        ways = [list(_ways(draft, each.value, seen)) for each in node.elements]
        yield any(found and all(found) for found in ways)
    elif isinstance(node, cst.ListComp):
        yield from _ways(draft, node.elt, seen)
    elif isinstance(node, cst.BinaryOperation) and inner(node.right):  # `os.path.splitext(name)[0] + ".txt"`
        yield from _ways(draft, node.left, seen)
    elif isinstance(node, cst.Name):
        yield from (way for each in _values(draft, node) for way in _ways(draft, each, seen))
    else:
        yield False


def _given_back(draft: Draft, call: cst.Call) -> Iterator[cst.BaseExpression]:
    """What a function of the same file gives back, or hands out: `names = read_lines(path)`, `next(pairs(path))`."""
    home = draft.home(call)
    found = [
        each for each in home.module.body
        if isinstance(each, cst.FunctionDef) and isinstance(call.func, cst.Name) and each.name.value == call.func.value
    ]  # fmt: skip
    for node in (node for each in found for node in home.below(each)):
        if isinstance(node, cst.Return | cst.Yield) and isinstance(node.value, cst.BaseExpression):
            yield node.value


def _is_text_joined(call: cst.Call) -> bool:
    """`"labels".join(folder.rsplit("images", 1))`: another folder's name in a path."""
    return isinstance(call.func, cst.Attribute) and tail(call.func) == "join" and bool(inner(call.func.value))


def _fields(draft: Draft, node: cst.Attribute) -> Iterator[cst.BaseExpression]:
    home = next((each for each in draft.above(node) if isinstance(each, cst.ClassDef)), None)
    for each in draft.below(home) if home is not None else ():
        if isinstance(each, cst.Assign) and any(dotted(target.target) == dotted(node) for target in each.targets):
            if not _is_empty(each.value):
                yield each.value
        elif isinstance(each, cst.Call) and dotted(each.func) == f"{dotted(node)}.append" and each.args:
            yield each.args[0].value


def _values(draft: Draft, node: cst.Name) -> Iterator[cst.BaseExpression]:
    """What a name is given: by assignments, loops, `with`, or the calls of its function, in any file."""
    draft = draft.home(node)
    scope = draft.scope(node)
    bound = list(_bound(draft, scope, node.value))
    if not bound and isinstance(scope, cst.FunctionDef):
        names = [param.name.value for param in (*scope.params.params, *scope.params.kwonly_params)]
        if node.value in names:
            yield from _given(draft, scope, node.value, names.index(node.value))
            return
        bound = list(_bound(draft, draft.module, node.value))
    yield from bound


def _bound(draft: Draft, scope: cst.CSTNode, name: str) -> Iterator[cst.BaseExpression]:
    for each in draft.below(scope):
        if draft.scope(each) is not scope:
            continue
        if isinstance(each, cst.Assign) and any(_has(draft, target.target, name) for target in each.targets):
            if not _is_empty(each.value):
                yield each.value
        elif isinstance(each, cst.Call) and dotted(each.func) == f"{name}.append" and each.args:
            yield each.args[0].value
        elif isinstance(each, cst.For | cst.CompFor) and _has(draft, each.target, name):
            yield each.iter
        elif isinstance(each, cst.WithItem) and each.asname is not None and tail(each.asname.name) == name:
            yield each.item


def _is_empty(value: cst.BaseExpression) -> bool:
    """`paths = []`: before a list is read or filled it holds nothing."""
    return isinstance(value, cst.List) and not value.elements


def _has(draft: Draft, target: cst.CSTNode, name: str) -> bool:
    if isinstance(target, cst.Tuple | cst.List):
        return any(tail(element.value) == name for element in target.elements)
    return isinstance(target, cst.Name) and target.value == name


def _given(draft: Draft, function: cst.FunctionDef, name: str, at: int) -> Iterator[cst.BaseExpression]:
    home = next((each for each in draft.above(function) if isinstance(each, cst.ClassDef)), None)
    is_made = home is not None and function.name.value == "__init__"
    called = home.name.value if is_made and home is not None else function.name.value
    for call in (call for file in (draft, *draft.others) for call in file.calls()):
        if tail(call.func) == called:
            named = argument(call, name)
            value = named.value if named is not None else positional(call, max(at - (home is not None), 0))
            if value is not None:
                yield value
