"""Arrays and tensors that rounds change where they lie: `table[epoch] = loss`, `mean.mul_(0.9)`, by a view, too."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.called import whole_of
from outlast.adapt.resuming.parts import targets_in
from outlast.migrate.tree import dotted, tail

#: name → the statements that bind it, each with the value
Bindings = Mapping[str, Sequence[tuple[cst.CSTNode, cst.BaseExpression | None]]]

_LIBRARIES = frozenset({"torch", "numpy"})
_TABLES = frozenset({*_LIBRARIES, "pandas"})
#: Functions of these that give something else.
_OTHERS = frozenset({"device", "load", "Generator", "default_rng", "RandomState", "compile"})
#: Methods of torch that give the same memory, or may.
_VIEWS = frozenset(
    "view reshape squeeze unsqueeze flatten ravel t transpose permute detach numpy expand narrow select".split()
)
_FIELDS = frozenset({"T", "data"})
#: Methods of torch that leave nothing of what was there, or are no change of it.
_ANEW = frozenset(
    "resize_ resize_as_ normal_ uniform_ random_ bernoulli_ fill_ zero_ requires_grad_ share_memory_".split()
)
_DEPTH = 6


def is_table(draft: Draft, bindings: Bindings, value: cst.CSTNode | None) -> bool:
    """Whether an expression makes an array, a tensor or a table of pandas."""
    return is_array(draft, bindings, value, libraries=_TABLES)


def is_array(
    draft: Draft,
    bindings: Bindings,
    value: cst.CSTNode | None,
    depth: int = _DEPTH,
    libraries: Collection[str] = _LIBRARIES,
) -> bool:
    """Whether an expression makes an array or a tensor, by a call of its library, by arithmetic, or of another one."""
    if not depth:
        return False
    if isinstance(value, cst.BinaryOperation):
        return any(is_array(draft, bindings, each, depth - 1, libraries) for each in (value.left, value.right))
    if isinstance(value, cst.Subscript):
        return is_array(draft, bindings, value.value, depth - 1, libraries)
    if isinstance(value, cst.Name):
        made = [each for _, each in bindings.get(value.value, ())]
        return any(is_array(draft, bindings, each, depth - 1, libraries) for each in made)
    if not isinstance(value, cst.Call):
        return False
    root, _, rest = draft.resolve(value.func).partition(".")
    last = rest.rpartition(".")[2]
    if root in libraries and rest:
        is_class = last[:1].isupper() and not last.endswith(("Tensor", "DataFrame", "Series"))
        return not is_class and (last not in _OTHERS or (root, last) == ("numpy", "load"))
    on = value.func.value if isinstance(value.func, cst.Attribute) else None
    return is_array(draft, bindings, on, depth - 1, libraries)


def is_in_place(call: cst.Call) -> bool:
    """`mean.mul_(0.9)`: a method of torch that changes what it is called on; `noise.normal_()` leaves nothing of it."""
    name = tail(call.func)
    is_method = isinstance(call.func, cst.Attribute) and name.endswith("_") and not name.startswith("_")
    if not is_method or not isinstance(call.func, cst.Attribute) or name in _ANEW:
        return False
    on = call.func.value
    return not (isinstance(on, cst.Call) and tail(on.func) in _ANEW)  # x.resize_(4).copy_(rows)


def filled_places(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """What a node changes a part of, or changes by a method of torch: `self.rows` of `self.rows[0] = 1`."""
    if isinstance(node, cst.Call):
        if tail(node.func) == "shuffle" and len(node.args) == 1 and isinstance(node.func, cst.Attribute):
            return [whole_of(node.args[0].value)]  # `random.shuffle(self.rows)`
        on = node.func.value if isinstance(node.func, cst.Attribute) and is_in_place(node) else None
        return [whole_of(on)] if on is not None else []
    return [whole_of(each) for each in targets_in(node) if isinstance(each, cst.Subscript)]


def changed_parts(node: cst.CSTNode, views: Mapping[str, str]) -> Iterator[str]:
    """Names of which a part is set (`table[0] = 1`), or that a method of torch changes; also by views of them."""
    if isinstance(node, cst.Call) and is_in_place(node):
        yield from _seen(root_of(node.func), views)
    is_added_to = isinstance(node, cst.AugAssign)
    for target in targets_in(node):
        if isinstance(target, cst.Subscript) or is_added_to:
            yield from _seen(root_of(target), views)


def _seen(name: str, views: Mapping[str, str]) -> list[str]:
    found = [name]
    while name in views and views[name] not in found:
        name = views[name]
        found.append(name)
    return found


def find_views(nodes: Sequence[cst.CSTNode]) -> dict[str, str]:
    """Names of parts of others that share their memory: `seen` of `seen = rows[2:4]`; chosen by a list they do not."""
    counters = {
        tail(node.target)
        for node in nodes
        if isinstance(node, cst.For) and isinstance(node.iter, cst.Call) and tail(node.iter.func) in ("range", "trange")
    }
    found: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, cst.Assign) and len(node.targets) == 1 and isinstance(node.targets[0].target, cst.Name):
            base = _base(node.value, counters)
            found.update({node.targets[0].target.value: base} if base else {})
    return found


def _base(value: cst.BaseExpression, counters: set[str]) -> str:
    """What an expression is a view of; empty where it may be a copy."""
    is_part = False
    while True:
        if isinstance(value, cst.Subscript) and all(_is_plain_index(each, counters) for each in value.slice):
            value, is_part = value.value, True
        elif isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) and tail(value.func) in _VIEWS:
            value, is_part = value.func.value, True
        elif isinstance(value, cst.Attribute) and value.attr.value in _FIELDS:
            value, is_part = value.value, True
        else:
            return value.value if is_part and isinstance(value, cst.Name) else ""


def _is_plain_index(element: cst.SubscriptElement, counters: set[str]) -> bool:
    if isinstance(element.slice, cst.Slice):
        return True
    value = element.slice.value if isinstance(element.slice, cst.Index) else None
    return isinstance(value, cst.Integer | cst.Ellipsis) or (isinstance(value, cst.Name) and value.value in counters)


def root_of(node: cst.CSTNode) -> str:
    """`rows` of `rows[0].data` and of `rows.view(-1).mul_`."""
    while isinstance(node, cst.Attribute | cst.Subscript | cst.Call):
        node = node.func if isinstance(node, cst.Call) else node.value
    return dotted(node) if isinstance(node, cst.Name) else ""
