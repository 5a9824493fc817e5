"""MindSpore: `device_target`, `set_device` and the collective library."""

from __future__ import annotations

from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.tree import argument, inner, opening, positional, tail

_WORDS = {"npu": ("GPU", "Ascend"), "cuda": ("Ascend", "GPU")}


class MindsporeTarget(Rule):
    name: ClassVar[str] = "mindspore-target"
    summary: ClassVar[str] = "MindSpore: device_target='GPU' ↔ 'Ascend', in contexts, defaults and set_device"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Call, cst.Assign, cst.Comparison)

    def look(self, node: Any, script: Script) -> None:
        if "mindspore" not in script.names.roots or script.direction.target == "any":
            return
        if isinstance(node, cst.Assign):
            if any(tail(each.target) == "device_target" for each in node.targets):
                self._target(node.value, script)
            return
        if isinstance(node, cst.Comparison):
            self._compared(node, script)
            return
        name = tail(node.func)
        if name in ("set_context", "set_auto_parallel_context", "dict"):
            target = argument(node, "device_target")
            self._target(target.value if target else None, script)
        elif name == "set_device":
            self._target(positional(node, 0), script)
        elif name == "add_argument" and "device_target" in inner(positional(node, 0)):
            self._option(node, script)

    def _compared(self, node: cst.Comparison, script: Script) -> None:
        """Programs that ask have a branch for each device; which one is right now is for people to say."""
        sides = [node.left, *(each.comparator for each in node.comparisons)]
        old, new = _WORDS[script.direction.target]
        if any(tail(side) == "device_target" for side in sides):
            for side in sides:
                if inner(side) == old:
                    script.report(side, Kind.KEPT, f"{old!r} kept: a branch of its own", f"see that {new!r} has one")

    def _option(self, node: cst.Call, script: Script) -> None:
        default = argument(node, "default")
        self._target(default.value if default else None, script)
        choices = argument(node, "choices")
        elements = choices.value.elements if choices and isinstance(choices.value, cst.List | cst.Tuple) else ()
        known = {inner(element.value) for element in elements}
        if _WORDS[script.direction.target][1] not in known:
            for element in elements:
                self._target(element.value, script)

    def _target(self, node: cst.CSTNode | None, script: Script) -> None:
        old, new = _WORDS[script.direction.target]
        if isinstance(node, cst.SimpleString) and inner(node) == old:
            start = script.span(node)[0] + opening(node)
            script.replace(start, start + len(old), new)
            script.claim(node)
        elif inner(node) == "CPU" and script.direction.target == "npu" and node is not None:
            script.report(node, Kind.KEPT, "device_target CPU kept", "'Ascend' trains on the card")
        elif isinstance(node, cst.IfExp):
            self._target(node.body, script)
            self._target(node.orelse, script)
