"""Switches of cuDNN and of CUDA's kernels: they may stay, but they do nothing on an NPU."""

from __future__ import annotations

from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.tree import tail

#: full name → (what is different, what to do)
_SWITCHES: tuple[tuple[str, Kind, str, str], ...] = (
    ("torch.backends.cudnn.deterministic", Kind.DIFFERS, "has no effect on an NPU",
     "torch.use_deterministic_algorithms(True), and HCCL_DETERMINISTIC=true for several cards"),
    ("torch.backends.cudnn.allow_tf32", Kind.DIFFERS, "has no effect on an NPU",
     "the counterpart is torch.npu.conv.allow_hf32, on by default"),
    ("torch.backends.cudnn", Kind.DIFFERS, "has no effect on an NPU", "it may stay"),
    ("torch.backends.cuda.matmul.allow_tf32", Kind.DIFFERS, "has no effect on an NPU",
     "the counterpart is torch.npu.matmul.allow_hf32, off by default"),
    ("torch.backends.cuda.matmul", Kind.DIFFERS, "has no effect on an NPU", "it may stay"),
    ("torch.backends.cuda", Kind.HAND, "belongs to CUDA",
     "leave it out, or guard it with `if torch.cuda.is_available():`"),
    ("torch.version.cuda", Kind.HAND, "is None on an NPU", "test for None, or ask torch.npu.get_device_name()"),
    ("torch.autograd.profiler.emit_nvtx", Kind.HAND, "needs NVIDIA's tools", "use torch_npu.profiler"),
)  # fmt: skip


class Switches(Rule):
    name: ClassVar[str] = "switches"
    summary: ClassVar[str] = "Switches of cuDNN and CUDA kernels are listed: they have no effect on an NPU"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Attribute,)

    def look(self, node: Any, script: Script) -> None:
        if script.direction.target == "cuda" or isinstance(
            script.parent(), cst.Attribute | cst.ImportFrom | cst.ImportAlias
        ):
            return
        found = script.resolve(node)
        for name, kind, what, advice in _SWITCHES:
            if found == name or found.startswith(name + "."):
                script.report(node, kind, f"{found} {what}", advice)
                return
        if tail(node) == "cudnn" or (tail(node.value) == "cudnn" and not found.startswith("torch")):
            script.report(node, Kind.DIFFERS, f"{script.source(node)} has no effect on an NPU", "it may stay")
