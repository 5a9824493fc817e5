"""Whatever else torch and the libraries around it have that is named for CUDA: `torch._C._cuda_…`, `CUDA_HOME`.

The other rules know what to do about the names that scripts use every day. There are thousands more, and each release
brings others; these are not known one by one, so they are listed.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.tree import dotted, tail

_ROOTS = frozenset(
    "torch torchvision torchaudio lightning pytorch_lightning lightning_fabric accelerate transformers numba".split()
)
_NAMED = re.compile(r"cuda|nccl|cudnn|nvtx", re.I)
_ADVICE = "made for NVIDIA cards: look for a way that every device has, or guard it"


class NamedForCuda(Rule):
    name: ClassVar[str] = "named-for-cuda"
    summary: ClassVar[str] = "Other names of torch and the libraries around it that are made for CUDA are listed"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Attribute, cst.Import, cst.ImportFrom)

    def __init__(self) -> None:
        self._found: list[tuple[cst.CSTNode, str]] = []

    def look(self, node: Any, script: Script) -> None:
        if script.direction.target == "cuda":
            return
        if isinstance(node, cst.Attribute):
            if not isinstance(script.parent(), cst.Attribute):
                self._note(node, script.resolve(node))
        elif isinstance(node, cst.Import):
            for alias in node.names:
                self._note(node, dotted(alias.name))
        elif not node.relative:
            names = [] if isinstance(node.names, cst.ImportStar) else [tail(alias.name) for alias in node.names]
            for name in names or [""]:
                self._note(node, f"{dotted(node.module)}.{name}".rstrip("."))

    def _note(self, node: cst.CSTNode, name: str) -> None:
        root, _, path = name.partition(".")
        if root in _ROOTS and _NAMED.search(path):
            self._found.append((node, name))

    def finish(self, script: Script) -> None:
        """Only now is it known which of them a rule of their own has dealt with."""
        for node, name in self._found:
            if script.is_said(node):
                continue
            if name.startswith("torch.backends.cudnn"):
                script.report(node, Kind.DIFFERS, f"{name} has no effect on an NPU", "it may stay")
            elif name.startswith("numba."):
                # The import is listed as something to do; the lines of a kernel are parts of that.
                script.report(node, Kind.KEPT, f"{name} kept: part of a kernel for CUDA")
            else:
                script.report(node, Kind.HAND, f"{name} is named for CUDA", _ADVICE)
