"""What runs on an NPU with other numbers or another speed: float64, complex, compiled and deterministic code."""

from __future__ import annotations

from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.tree import argument, positional

_DOUBLE = "few NPU operators take float64, and collectives do not: use float32 where the precision allows"
_CALLS: dict[str, tuple[str, str]] = {
    "torch.jit.script": ("scripted code", "fine after this migration; transfer_to_npu would switch it off"),
    "torch.compile": ("compiled code", "needs an NPU back end for the compiler; try without it first"),
    "torch.use_deterministic_algorithms": (
        "deterministic kernels",
        "also set HCCL_DETERMINISTIC=true for several cards",
    ),
}
_DTYPES = frozenset({"torch.float64", "torch.double", "torch.complex64", "torch.complex128", "torch.cdouble"})


class Precision(Rule):
    name: ClassVar[str] = "precision"
    summary: ClassVar[str] = "Silent differences: float64, complex numbers, compiled and deterministic code"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Attribute, cst.Call)

    def look(self, node: Any, script: Script) -> None:
        if script.direction.target != "npu":
            return
        if isinstance(node, cst.Attribute):
            if not isinstance(script.parent(), cst.Attribute) and script.resolve(node) in _DTYPES:
                script.report(node, Kind.DIFFERS, f"{script.source(node)} on the device", _DOUBLE)
            return
        found = script.resolve(node.func)
        if found in _CALLS:
            script.report(node, Kind.DIFFERS, f"{_CALLS[found][0]}: {found}", _CALLS[found][1])
        elif isinstance(node.func, cst.Attribute) and node.func.attr.value == "double" and not node.args:
            if script.is_torch() and not found.startswith("torch."):
                script.report(node, Kind.DIFFERS, ".double() on the device", _DOUBLE)
        elif found == "torch.load":
            self._load(node, script)

    def _load(self, node: cst.Call, script: Script) -> None:
        if argument(node, "map_location") is None and positional(node, 1) is None:
            script.report(
                node, Kind.DIFFERS, "torch.load without map_location: a checkpoint saved on CUDA asks for CUDA",
                "add map_location='cpu'",
            )  # fmt: skip
