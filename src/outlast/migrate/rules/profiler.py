"""The profiler: `torch.profiler` with CUDA activities ↔ `torch_npu.profiler` with NPU activities."""

from __future__ import annotations

from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.namespace import NPU
from outlast.migrate.neutral import ADVICE
from outlast.migrate.tree import dotted, tail

_SIDES = {"npu": ("torch.profiler", "torch_npu.profiler", "CUDA", "NPU"),
          "cuda": ("torch_npu.profiler", "torch.profiler", "NPU", "CUDA")}  # fmt: skip


class Profiler(Rule):
    name: ClassVar[str] = "profiler"
    summary: ClassVar[str] = "torch.profiler with ProfilerActivity.CUDA ↔ torch_npu.profiler with ProfilerActivity.NPU"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Attribute, cst.ImportFrom)

    def look(self, node: Any, script: Script) -> None:
        target = script.direction.target
        if ("ProfilerActivity", "CUDA") not in script.names.attributes | _swapped(script):
            return
        if target == "any":
            if isinstance(node, cst.Attribute) and tail(node.value) == "ProfilerActivity" and node.attr.value != "CPU":
                script.report(node, Kind.HAND, f"{script.source(node)} belongs to one device", ADVICE)
            return
        old, new, old_word, new_word = _SIDES[target]
        if isinstance(node, cst.ImportFrom):
            self._import_from(node, old, new, script)
        elif node.attr.value == old_word and tail(node.value) == "ProfilerActivity":
            script.change(node.attr, new_word)
        elif script.resolve(node) == old and isinstance(script.parent(), cst.Attribute):
            name = tail(script.parent())
            if name in NPU["torch_npu.profiler"]:
                script.change(node, new)
            else:
                script.report(node, Kind.HAND, f"{old}.{name} has no twin", "leave it out")

    def _import_from(self, node: cst.ImportFrom, old: str, new: str, script: Script) -> None:
        if dotted(node.module) != old or isinstance(node.names, cst.ImportStar) or node.module is None:
            return
        missing = [tail(each.name) for each in node.names if tail(each.name) not in NPU["torch_npu.profiler"]]
        if missing:
            script.report(node, Kind.HAND, f"{old}.{missing[0]} has no twin", f"import the others from {new}")
        else:
            script.change(node.module, new)


def _swapped(script: Script) -> set[tuple[str, str]]:
    """Coming from the NPU the activity has the other name."""
    found = ("ProfilerActivity", "NPU") in script.names.attributes
    return {("ProfilerActivity", "CUDA")} if found and script.direction.target != "npu" else set()
