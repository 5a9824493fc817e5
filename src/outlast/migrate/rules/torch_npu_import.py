"""`import torch_npu`, right behind the first import of torch; gone again on the way back."""

from __future__ import annotations

from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.lines import add_line, can_stand_beside, remove_line
from outlast.migrate.tree import dotted

_LINE = "import torch_npu"
_ACTIVATIONS = frozenset({"torch_npu", "torch_npu.contrib.transfer_to_npu"})

#: Rules whose changes have nothing to do with torch.
_WITHOUT_TORCH = frozenset({"environment", "mindspore-target", "tensorflow-device", "tensorflow-session"})


class TorchNpuImport(Rule):
    name: ClassVar[str] = "torch-npu-import"
    summary: ClassVar[str] = "import torch_npu behind the first import of torch, where something was changed"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Import, cst.ImportFrom)

    def __init__(self) -> None:
        self._first: cst.CSTNode | None = None
        self._is_top = False
        self._before = False
        self._present = False

    def look(self, node: Any, script: Script) -> None:
        modules = _modules(node)
        if any(module.partition(".")[0] == "torch_npu" for module in modules):
            self._present = True
            if script.direction.target != "npu":
                self._remove(node, modules, script)
        statement = script.parent()
        top = not any(isinstance(each, cst.FunctionDef | cst.ClassDef) for each in script.parents)
        better = self._first is None or (top and not self._is_top)
        if better and any(module.partition(".")[0] == "torch" for module in modules) and statement is not None:
            self._first, self._is_top = statement, top
            # The line must not come behind `from torch.npu.amp import …`: that module is only there afterwards.
            self._before = all(module.startswith("torch.cuda") for module in modules)

    def finish(self, script: Script) -> None:
        first = self._first
        changes = {finding.rule for finding in script.findings if finding.kind is Kind.CHANGED} - _WITHOUT_TORCH
        if script.direction.target != "npu" or first is None or self._present or not changes:
            return
        if can_stand_beside(script, first):
            add_line(script, first, _LINE, before=self._before)
        else:
            script.report(first, Kind.HAND, "no line of its own for import torch_npu", "import it behind torch")

    def _remove(self, node: cst.Import | cst.ImportFrom, modules: list[str], script: Script) -> None:
        statement, block = script.parent(), script.parent(2)
        renamed = isinstance(node, cst.Import) and any(alias.asname for alias in node.names)
        if not set(modules) <= _ACTIVATIONS:
            return
        only = isinstance(block, cst.IndentedBlock) and len(block.body) == 1
        if only and not renamed:
            script.change(node, "pass", "import torch_npu is not needed")
        elif renamed or statement is None or not remove_line(script, statement, "import torch_npu is not needed"):
            script.report(node, Kind.HAND, f"{script.source(node)} belongs to the NPU", "leave it out")


def _modules(node: cst.Import | cst.ImportFrom) -> list[str]:
    """Imported modules; names of torch_npu.contrib count as modules, which they are."""
    if isinstance(node, cst.Import):
        return [dotted(alias.name) for alias in node.names]
    module = dotted(node.module)
    if node.relative or isinstance(node.names, cst.ImportStar) or module != "torch_npu.contrib":
        return [] if node.relative else [module]
    return [f"{module}.{dotted(alias.name)}" for alias in node.names]
