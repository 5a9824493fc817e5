"""Tensor types as text: `x.type('torch.cuda.FloatTensor')`, and the default type."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.namespace import CUDA, NPU
from outlast.migrate.neutral import ADVICE
from outlast.migrate.rules.advice import ABSENT
from outlast.migrate.tree import inner, opening, tail

_TYPE = re.compile(r"torch\.(cuda|npu)\.(sparse\.)?([A-Z]\w+(?:Tensor|Storage))")


class TypedTensor(Rule):
    name: ClassVar[str] = "typed-tensor"
    summary: ClassVar[str] = "Tensor types as strings: 'torch.cuda.FloatTensor' ↔ 'torch.npu.FloatTensor'"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.SimpleString, cst.Call)

    def look(self, node: Any, script: Script) -> None:
        if isinstance(node, cst.Call):
            if tail(node.func) == "set_default_tensor_type" and b".cuda." in script.source(node).encode():
                self._default(node, script)
            return
        found = _TYPE.fullmatch(inner(node))
        if found is None or found.group(1) not in script.direction.sources or isinstance(script.parent(), cst.Expr):
            return
        table = {"npu": NPU["torch.npu"], "cuda": CUDA["torch.cuda"]}.get(script.direction.target, frozenset())
        if found.group(2) or found.group(3) not in table:
            advice = ABSENT["sparse"] if found.group(2) else ADVICE
            script.report(node, Kind.HAND, f"{node.value} has no twin", advice)
            return
        start = script.span(node)[0] + opening(node) + found.start(1)
        script.replace(start, start + len(found.group(1)), script.direction.target)

    def _default(self, node: cst.Call, script: Script) -> None:
        if script.direction.target == "npu":
            script.report(
                node, Kind.DIFFERS, "set_default_tensor_type is deprecated, and only partly supported on the NPU",
                "prefer torch.set_default_device('npu') and torch.set_default_dtype(…)",
            )  # fmt: skip
