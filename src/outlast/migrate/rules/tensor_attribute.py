"""Attributes of tensors and streams: `is_cuda`, `cuda_stream`."""

from __future__ import annotations

from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.neutral import ADVICE

_LOOSE = (cst.If, cst.While, cst.IfExp, cst.BooleanOperation, cst.UnaryOperation, cst.Return, cst.Assign, cst.Arg,
          cst.Assert)  # fmt: skip


class TensorAttribute(Rule):
    name: ClassVar[str] = "tensor-attribute"
    summary: ClassVar[str] = "x.is_cuda ↔ x.is_npu, stream.cuda_stream ↔ stream.npu_stream"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Attribute, cst.Call)

    def look(self, node: Any, script: Script) -> None:
        if isinstance(node, cst.Call):
            self._probe(node, script)
            return
        for word in script.direction.sources:
            if node.attr.value == f"is_{word}":
                self._is_device(node, script)
            elif node.attr.value == f"{word}_stream":
                self._stream(node, script)

    def _is_device(self, node: cst.Attribute, script: Script) -> None:
        parent = script.parent()
        if isinstance(parent, cst.AssignTarget) or (isinstance(parent, cst.Call) and parent.func is node):
            script.report(node, Kind.KEPT, f"{node.attr.value} kept: a name of this program")
        elif script.direction.target != "any":
            script.change(node.attr, f"is_{script.direction.target}")
        else:
            new = f"{script.source(node.value)}.device.type != 'cpu'"
            script.change(node, new if isinstance(parent, _LOOSE) else f"({new})")
            script.claim(node)

    def _stream(self, node: cst.Attribute, script: Script) -> None:
        if script.direction.target == "any":
            script.report(node, Kind.HAND, f"{node.attr.value} is the handle of one device", ADVICE)
        else:
            script.change(node.attr, f"{script.direction.target}_stream")

    def _probe(self, node: cst.Call, script: Script) -> None:
        """`hasattr(x, 'is_cuda')`, `getattr(x, 'is_cuda', False)`."""
        from outlast.migrate.tree import inner, opening, positional, tail

        word = positional(node, 1)
        known = [f"is_{source}" for source in script.direction.sources]
        if tail(node.func) in ("hasattr", "getattr") and inner(word) in known and script.direction.target != "any":
            assert isinstance(word, cst.SimpleString)
            start = script.span(word)[0] + opening(word)
            script.replace(start, start + len(inner(word)), f"is_{script.direction.target}")
