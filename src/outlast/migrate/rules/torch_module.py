"""`torch.cuda.…` and `torch.npu.…`: every name is looked up; only what exists on the other side is written."""

from __future__ import annotations

from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import ONE_WAY, Kind, Rule, Script
from outlast.migrate.namespace import ACCELERATOR, CUDA, NEUTRAL, NPU
from outlast.migrate.neutral import ADVICE, torch_name
from outlast.migrate.quiet import change_quiet, is_quiet
from outlast.migrate.rules.advice import ABSENT, DIFFERENT
from outlast.migrate.tree import dotted, tail

_RENAMED = {
    "npu": {"CUDAGraph": "NPUGraph", "CUDAPluggableAllocator": "NPUPluggableAllocator"},
    "cuda": {"NPUGraph": "CUDAGraph", "NPUPluggableAllocator": "CUDAPluggableAllocator"},
}
_ROOTS = {
    "npu": ("torch.cuda",),
    "cuda": ("torch.npu", "torch_npu.npu"),
    "any": ("torch.cuda", "torch.npu", "torch_npu.npu"),
}
_NO_TWIN = "no such name on the other side: look for another way, or guard it"
#: What the amp rule does itself for `--to any`.
_AMP = frozenset({"amp.autocast", "amp.GradScaler"})


class TorchModule(Rule):
    name: ClassVar[str] = "torch-module"
    summary: ClassVar[str] = "Names of torch.cuda ↔ torch.npu (or torch.accelerator); names without a twin are reported"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Attribute, cst.Name, cst.ImportFrom, cst.Import)

    def look(self, node: Any, script: Script) -> None:
        if isinstance(node, cst.ImportFrom):
            self._import_from(node, script)
        elif isinstance(node, cst.Import):
            self._import(node, script)
        elif isinstance(node, cst.Attribute):
            self._attribute(node, script)
        else:
            self._name(node, script)

    def _attribute(self, node: cst.Attribute, script: Script) -> None:
        if not isinstance(script.parent(), cst.Attribute):
            found = script.resolve(node)
            root = _root(found, script)
            if root:
                self._use(node, found, root, script)
                script.claim(node)

    def _name(self, node: cst.Name, script: Script) -> None:
        """The module itself under a name of its own: `cuda = torch.cuda`, then `f(cuda)`."""
        parent = script.parent()
        if script.direction.target != "any" or isinstance(parent, cst.Param | cst.AssignTarget | cst.FunctionDef):
            return
        is_name_only = (isinstance(parent, cst.Attribute) and parent.attr is node) or (
            isinstance(parent, cst.Arg) and parent.keyword is node
        )
        found = "" if is_name_only else script.resolve(node)
        if found and found == _root(found, script):
            script.report(node, Kind.HAND, f"{found} as a value", ADVICE)

    def _use(self, node: cst.Attribute, found: str, root: str, script: Script) -> None:
        path, target = found[len(root) + 1 :], script.direction.target
        if target == "any":
            self._to_any(node, path, root, script)
            return
        renamed = _RENAMED[target].get(path.rpartition(".")[2], "")
        if path in ("OutOfMemoryError", "AcceleratorError"):
            self._error(node, found, root, script)
        elif path and not renamed and is_absent(root, path, script):
            script.report(node, Kind.HAND, f"{root}.{path} has no twin", ABSENT.get(path.partition(".")[0], _NO_TWIN))
        else:
            self._rename(node, found, root, renamed, script)

    def _rename(self, node: cst.Attribute, found: str, root: str, renamed: str, script: Script) -> None:
        path, target = found[len(root) + 1 :], script.direction.target
        module = _module_node(node, found, root)
        if module is not None:
            said = f"{found} → torch.{target}.{path}".rstrip(".")
            if root.startswith("torch."):
                script.change(module.attr, target, said)
            else:
                script.change(module, f"torch.{target}", said)
        if renamed:
            script.change(node.attr, renamed)
        if target == "npu" and path in DIFFERENT:
            script.report(node, Kind.DIFFERS, f"{root}.{path}: {DIFFERENT[path][0]}", DIFFERENT[path][1])

    def _error(self, node: cst.Attribute, found: str, root: str, script: Script) -> None:
        """Both devices raise the errors that live in torch itself."""
        module = _module_node(node, found, root)
        if module is not None and dotted(module.value):
            script.change(node, f"{dotted(module.value)}.{tail(node)}", advice=ONE_WAY)
        else:
            script.report(node, Kind.HAND, f"{found} does not exist on the other side", ABSENT[tail(node)])

    def _to_any(self, node: cst.Attribute, path: str, root: str, script: Script) -> None:
        if path in _AMP:
            return
        torch = torch_name(script)
        name = path.removeprefix("random.").removeprefix("memory.")
        if torch and is_quiet(name, script):
            change_quiet(name, torch, script)
        elif torch and name in ACCELERATOR:
            script.change(node, f"{torch}.accelerator.{ACCELERATOR[name]}")
        elif torch and name in NEUTRAL:
            script.change(node, f"{torch}.{NEUTRAL[name]}")
        else:
            script.report(node, Kind.HAND, f"{root}.{path}".rstrip(".") + " has no neutral form", ADVICE)

    def _import_from(self, node: cst.ImportFrom, script: Script) -> None:
        module = dotted(node.module)
        if node.relative or isinstance(node.names, cst.ImportStar):
            if not node.relative and _root(module, script):
                script.report(node, Kind.HAND, f"from {module} import *", "import the names that are used")
            return
        target = script.direction.target
        whole = [alias for alias in node.names if f"{module}.{tail(alias.name)}" in _ROOTS[target]]
        if whole:
            self._import_word(node, whole[0], module, script)
            return
        root = _root(module, script)
        if not root or target == "any":
            if root and not module.endswith(".amp"):
                script.report(node, Kind.HAND, f"from {module} import … has no neutral form", ADVICE)
            return
        missing = [
            tail(alias.name)
            for alias in node.names
            if is_absent(root, _join(module[len(root) + 1 :], tail(alias.name)), script)
        ]
        missing = [name for name in missing if name not in _RENAMED[target]]
        if missing:
            advice = ABSENT.get(missing[0], "import it only where this device is there")
            script.report(node, Kind.HAND, f"{module}.{missing[0]} has no twin", advice)
            return
        assert node.module is not None
        script.change(node.module, f"torch.{target}{module[len(root) :]}")
        for alias in node.names:
            new = _RENAMED[target].get(tail(alias.name))
            if new and alias.asname and tail(alias.asname.name) == new:
                script.change(alias, new)
            elif new:
                script.change(alias.name, new if alias.asname else f"{new} as {tail(alias.name)}")

    def _import_word(self, node: cst.ImportFrom, alias: cst.ImportAlias, module: str, script: Script) -> None:
        """`from torch import cuda`: the module changes, the name in this file stays."""
        target, old = script.direction.target, tail(alias.name)
        if target == "any":
            script.report(node, Kind.HAND, f"from {module} import {old} has no neutral form", ADVICE)
        elif alias.asname and tail(alias.asname.name) == target and module == "torch":
            script.replace(*script.span(alias), target)
        elif alias.asname:
            script.change(alias.name, target)
        else:
            script.change(alias, f"{target} as {old}")

    def _import(self, node: cst.Import, script: Script) -> None:
        for alias in node.names:
            path = dotted(alias.name)
            root = _root(path, script)
            if not root:
                continue
            rest = path[len(root) + 1 :]
            if script.direction.target == "any":
                script.report(node, Kind.HAND, f"import {path} has no neutral form", ADVICE)
            elif rest and is_absent(root, rest, script):
                script.report(node, Kind.HAND, f"{path} has no twin", ABSENT.get(rest.partition(".")[0], ADVICE))
            elif alias.asname or root == "torch_npu.npu" or isinstance(alias.name, cst.Attribute):
                script.change(alias.name, f"torch.{script.direction.target}{path[len(root) :]}")


def _root(found: str, script: Script) -> str:
    """`torch.cuda` when a full name is that module or lies in it."""
    return next((root for root in _ROOTS[script.direction.target] if found == root or found.startswith(root + ".")), "")


def is_absent(root: str, path: str, script: Script) -> bool:
    """Whether the other side lacks a name; names below a class or a function belong to it."""
    tables = NPU if script.direction.target == "npu" else CUDA
    module = f"torch.{script.direction.target}"
    first, _, rest = path.partition(".")
    if first not in tables[module]:
        return True
    deeper = tables.get(f"{module}.{first}")
    return bool(rest) and deeper is not None and rest.partition(".")[0] not in deeper


def _join(module: str, name: str) -> str:
    return f"{module}.{name}" if module else name


def _module_node(node: cst.CSTNode, found: str, root: str) -> cst.Attribute | None:
    """The part of a chain that stands for the root as it is written; None when an import hides it."""
    depth = found.count(".") - root.count(".")
    for _ in range(depth):
        if not isinstance(node, cst.Attribute):
            return None
        node = node.value
    word = root.rpartition(".")[2]
    return node if isinstance(node, cst.Attribute) and node.attr.value == word else None
