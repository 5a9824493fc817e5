"""Programs that read error messages: `'CUDA out of memory' in str(error)` is never true on an NPU."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.tree import inner, tail

#: What CUDA and its libraries call themselves in their messages; device strings are written small.
_SPEAKER = re.compile(r"(?<![A-Za-z_])(?:CUDA|cuDNN|CUDNN|CUBLAS|cuBLAS|NCCL)(?![A-Za-z])|^(?:nvidia|NVIDIA)$")
_METHODS = frozenset({"startswith", "endswith", "find", "search", "match", "findall", "count"})
_ADVICE = "ask for what every device says ('out of memory'), or catch torch.OutOfMemoryError"


class ErrorText(Rule):
    name: ClassVar[str] = "error-text"
    summary: ClassVar[str] = "Messages of CUDA that a program looks for are listed: an NPU says it in other words"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.SimpleString,)

    def look(self, node: Any, script: Script) -> None:
        if script.direction.target == "cuda" or not _SPEAKER.search(inner(node)) or not self._is_sought(node, script):
            return
        script.report(node, Kind.DIFFERS, f"{node.value} is looked for: an NPU words its errors differently", _ADVICE)

    def _is_sought(self, node: cst.SimpleString, script: Script) -> bool:
        """`'…' in text`, `text.startswith('…')`, `re.search('…', text)`."""
        parent, above = script.parent(), script.parent(2)
        if isinstance(parent, cst.Comparison):
            return any(isinstance(each.operator, cst.In | cst.NotIn) for each in parent.comparisons)
        return isinstance(parent, cst.Arg) and isinstance(above, cst.Call) and tail(above.func) in _METHODS
