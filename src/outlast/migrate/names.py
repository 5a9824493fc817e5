"""What the names of a file stand for: imports, aliases, shadows, and which variables hold a device.

One pass over the tree before the rules look at it. `resolve` follows imports through nested functions, so that a
user's own `cuda` is never taken for torch's.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from outlast.migrate.tree import children, dotted, inner, tail

#: Nothing is derived from these, so `type(node) in SCOPES` will do: `isinstance` takes long with abstract classes.
SCOPES = frozenset({
    cst.Module, cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp,
})  # fmt: skip
_DEVICE_NAME = re.compile(r"(?:^|_|[a-z](?=[DM]))-*(?:device|devices|dev|devs|map_?loc(?:ation)?)(?:$|[_\d])", re.I)
_CAMEL = re.compile(r"(?:device|mapLocation)(?:$|[A-Z_])|Device(?:$|[A-Z_\d])")
#: torch as some other module imported it: `helpers.torch.cuda`.
_BORROWED = re.compile(r"\.(torch\.(?:cuda|npu)\b)")
#: Libraries whose modules people give short names: `cuda = torch.cuda`, `mnist = tf.keras.datasets.mnist`.
_ALIASED = frozenset({"torch", "torch_npu", "tensorflow", "keras", "tf_keras", "mindspore"})
#: Variables that choose a way of working: 'cpu' and 'cuda' are only names of such ways there.
_MODE = re.compile(r"(?:^|_)(?:mode|impl|kernel|method|strategy)$")
#: Modules of the standard library whose names draw from a state, for those who import all of them: `shuffle(rows)`.
_STARS = {"random": frozenset(random.__all__)}
#: Calls whose first argument is a device.
SINKS = frozenset({"to", "cuda", "npu", "set_device", "device", "set_default_device"})
#: Strings that are devices beyond doubt: whatever is compared with or listed beside them is one too.
OTHER_DEVICES = frozenset({"cpu", "mps", "xpu", "meta", "mlu", "hpu"})


def is_device_name(name: str) -> bool:
    """Whether people call a device so: `device`, `--device`, `self.map_location`, `gpu_device`, `deviceType`."""
    name = name.rsplit(".", 1)[-1]
    return bool(_DEVICE_NAME.search(name.replace("-", "_")) or _CAMEL.search(name))


class Names:
    """Bindings of one module, by scope, and the variables that reach a device somewhere in it."""

    def __init__(self, module: cst.Module) -> None:
        self._bound: dict[int, dict[str, str | None]] = {}
        self._aliases: list[tuple[dict[str, str | None], str, cst.BaseExpression, list[cst.CSTNode]]] = []
        #: names that get a value again in one scope
        self._rebound: set[tuple[int, str]] = set()
        #: variables, attributes and keys that hold a device
        self.devices: set[str] = set()
        #: names that are called somewhere
        self.called: set[str] = set()
        #: module → whether it is imported anywhere; only the first parts
        self.roots: set[str] = set()
        #: function name → names of its parameters, for functions of this file
        self.functions: dict[str, tuple[str, ...]] = {}
        #: attribute names that are read, with the name before the dot: `model.module` → ("model", "module")
        self.attributes: set[tuple[str, str]] = set()
        self._stars: list[tuple[cst.CSTNode, str]] = []
        self._visit(module, [])
        for scope, path in self._stars:  # what the file itself gives such a name to is that
            for name in _STARS.get(path, ()):
                self._bound.setdefault(id(scope), {}).setdefault(name, f"{path}.{name}")
        self._follow_aliases()

    def resolve(self, node: cst.CSTNode | None, parents: Sequence[cst.CSTNode]) -> str:
        """The full dotted name of an expression (`torch.cuda.amp`), or an empty string for anything local.

        A root that nothing in the file binds counts as itself: star imports give no better answer.
        """
        chain = dotted(node)
        if not chain:
            return ""
        borrowed = _BORROWED.search(chain)
        if borrowed:
            return chain[borrowed.start(1) :]
        root, dot, rest = chain.partition(".")
        found = self._lookup(root, parents)
        return f"{found}{dot}{rest}" if found else ""

    def _lookup(self, name: str, parents: Sequence[cst.CSTNode]) -> str | None:
        inside_function = False
        for parent in reversed(parents):
            kind = type(parent)
            if kind not in SCOPES or (inside_function and kind is cst.ClassDef):
                continue
            bound = self._bound.get(id(parent), {})
            if name in bound:
                return bound[name]
            inside_function = inside_function or kind is cst.FunctionDef
        return name

    def name_for(self, qualified: str, parents: Sequence[cst.CSTNode]) -> str:
        """What to write here for an imported module (`th` after `import torch as th`), or an empty string."""
        for parent in reversed(parents):
            for name, target in self._bound.get(id(parent), {}).items():
                if target == qualified and self._lookup(name, parents) == qualified:
                    return name
        return ""

    def open(self, module: cst.Module, other: Names, its: cst.Module) -> None:
        """Take what a star import of another file brings of what that imports, unless it says what it gives."""
        mine, theirs = self._bound.setdefault(id(module), {}), other._bound.get(id(its), {})
        for name, target in theirs.items() if "__all__" not in theirs else ():
            if target is not None and not name.startswith("_") and name not in mine:
                mine[name] = target
                self.roots.add(target.partition(".")[0])

    def _follow_aliases(self) -> None:
        """`cuda = torch.cuda` is as good as an import, if the name is bound once."""
        for bound, name, value, scopes in self._aliases:
            found = self.resolve(value, scopes)
            is_once = bound.get(name, "") is None and (id(bound), name) not in self._rebound
            if is_once and found.partition(".")[0] in _ALIASED and "." in found:
                bound[name] = found

    def _bind(self, scopes: list[cst.CSTNode], name: str, target: str | None) -> None:
        bound = self._bound.setdefault(id(scopes[-1]), {})
        if name in bound:
            self._rebound.add((id(bound), name))
        # Bound twice to different things (try/except imports aside): nobody knows which one it is.
        bound[name] = target if bound.get(name, target) == target else bound[name] or target

    def _visit(self, node: cst.CSTNode, scopes: list[cst.CSTNode]) -> None:
        enters = type(node) in SCOPES
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self._bind(scopes, node.name.value, None)
        if isinstance(node, cst.FunctionDef):
            params = [*node.params.posonly_params, *node.params.params, *node.params.kwonly_params]
            self.functions[node.name.value] = tuple(param.name.value for param in params)
        if enters:
            scopes.append(node)
        look = _LOOKS.get(type(node))
        if look is not None:
            look(self, node, scopes)
        for child in children(node):
            self._visit(child, scopes)
        if enters:
            scopes.pop()

    def _import(self, node: cst.Import, scopes: list[cst.CSTNode]) -> None:
        for alias in node.names:
            path = dotted(alias.name)
            self.roots.add(path.partition(".")[0])
            name = tail(alias.asname.name) if alias.asname else ""
            self._bind(scopes, name or path.partition(".")[0], path if name else path.partition(".")[0])

    def _import_from(self, node: cst.ImportFrom, scopes: list[cst.CSTNode]) -> None:
        path = "." * len(node.relative) + dotted(node.module)
        self.roots.add(path.partition(".")[0])
        if isinstance(node.names, cst.ImportStar):
            self._stars.append((scopes[-1], path))
            return
        for alias in node.names:
            name = tail(alias.asname.name) if alias.asname else dotted(alias.name)
            self._bind(scopes, name, f"{path}.{dotted(alias.name)}")

    def _assign(self, node: cst.Assign | cst.AnnAssign, scopes: list[cst.CSTNode]) -> None:
        targets = [each.target for each in node.targets] if isinstance(node, cst.Assign) else [node.target]
        for target in targets:
            if isinstance(target, cst.Name) and dotted(node.value) and node.value is not None:
                bound = self._bound.setdefault(id(scopes[-1]), {})
                if target.value not in bound:
                    self._aliases.append((bound, target.value, node.value, list(scopes)))
            self._bind_targets(target, scopes)
            if _mentions_device(node.value) and not _MODE.search(tail(target)):
                self.devices.add(tail(target))

    def _bind_targets(self, target: cst.CSTNode, scopes: list[cst.CSTNode]) -> None:
        if isinstance(target, cst.Name):
            # `torch, nn = try_import_torch()`: nobody gives that name to anything else.
            self._bind(scopes, target.value, "torch" if target.value == "torch" else None)
        elif isinstance(target, cst.Tuple | cst.List):
            for element in target.elements:
                self._bind_targets(element.value, scopes)

    def _bind_other(self, node: cst.CSTNode, scopes: list[cst.CSTNode]) -> None:
        for field in ("target", "name"):
            target = getattr(node, field, None)
            if isinstance(target, cst.CSTNode):
                self._bind_targets(target, scopes)

    def _param(self, node: cst.Param, scopes: list[cst.CSTNode]) -> None:
        self._bind(scopes, node.name.value, None)
        if inner(node.default) in OTHER_DEVICES:
            self.devices.add(node.name.value)

    def _call(self, node: cst.Call, scopes: list[cst.CSTNode]) -> None:
        self.called.add(tail(node.func))
        for at, arg in enumerate(node.args):
            sink = is_device_name(arg.keyword.value) if arg.keyword else at == 0 and tail(node.func) in SINKS
            if sink and isinstance(arg.value, cst.Name | cst.Attribute | cst.Subscript):
                self.devices.add(tail(arg.value))

    def _comparison(self, node: cst.Comparison, scopes: list[cst.CSTNode]) -> None:
        sides = [node.left, *(each.comparator for each in node.comparisons)]
        if any(_mentions_device(side) for side in sides):
            names = [tail(side) for side in sides if isinstance(side, cst.Name | cst.Attribute)]
            self.devices.update(name for name in names if not _MODE.search(name))

    def _attribute(self, node: cst.Attribute, scopes: list[cst.CSTNode]) -> None:
        self.attributes.add((tail(node.value), node.attr.value))


def _mentions_device(node: cst.CSTNode | None) -> bool:
    """`'cpu'`, `x if y else 'cpu'`, `['cpu', …]`, `x.device`, `x.device.type`, `str(x.device)`."""
    if isinstance(node, cst.Attribute):
        return node.attr.value == "device" or (node.attr.value == "type" and is_device_name(tail(node.value)))
    if isinstance(node, cst.Call) and tail(node.func) in ("str", "device"):
        return tail(node.func) == "device" or any(_mentions_device(arg.value) for arg in node.args)
    if isinstance(node, cst.SimpleString):
        return inner(node) in OTHER_DEVICES
    if isinstance(node, cst.IfExp):
        return _mentions_device(node.body) or _mentions_device(node.orelse)
    if isinstance(node, cst.List | cst.Tuple | cst.Set):
        return any(_mentions_device(element.value) for element in node.elements)
    return False


_LOOKS: dict[type, Callable[[Names, Any, list[cst.CSTNode]], None]] = {
    cst.Import: Names._import,
    cst.ImportFrom: Names._import_from,
    cst.Assign: Names._assign,
    cst.AnnAssign: Names._assign,
    cst.Param: Names._param,
    cst.Call: Names._call,
    cst.Comparison: Names._comparison,
    cst.Attribute: Names._attribute,
    cst.For: Names._bind_other,
    cst.CompFor: Names._bind_other,
    cst.AsName: Names._bind_other,
    cst.NamedExpr: Names._bind_other,
    cst.AugAssign: Names._bind_other,
}
