"""Mixed precision: autocast, GradScaler, and the functions that ask about them."""

from __future__ import annotations

from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import ONE_WAY, Kind, Rule, Script
from outlast.migrate.neutral import ADVICE, torch_name, type_expression
from outlast.migrate.tree import dotted, tail

#: a question about CUDA's autocast → the same about any device
_QUESTIONS = {
    "torch.is_autocast_enabled": "is_autocast_enabled",
    "torch.get_autocast_gpu_dtype": "get_autocast_dtype",
    "torch.set_autocast_gpu_dtype": "set_autocast_dtype",
    "torch.set_autocast_enabled": "set_autocast_enabled",
}
_ARGUMENTS = {"get_autocast_dtype": 0, "is_autocast_enabled": 0, "set_autocast_dtype": 1, "set_autocast_enabled": 1}
_CLASSES = frozenset({"autocast", "GradScaler"})


class Amp(Rule):
    name: ClassVar[str] = "amp"
    summary: ClassVar[str] = "Autocast of one device: torch.is_autocast_enabled() → torch.is_autocast_enabled('npu')"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Call, cst.ImportFrom, cst.Decorator)

    def look(self, node: Any, script: Script) -> None:
        if isinstance(node, cst.ImportFrom):
            self._import_from(node, script)
        elif isinstance(node, cst.Decorator):
            self._decorator(node, script)
        else:
            self._question(node, script)
            if script.direction.target == "any":
                self._class(node, script)

    def _question(self, node: cst.Call, script: Script) -> None:
        found = script.resolve(node.func)
        name = _QUESTIONS.get(found, "")
        if not name or len(node.args) != _ARGUMENTS[name] or script.direction.target == "cuda":
            return
        device = "'npu'" if script.direction.target == "npu" else type_expression(script)
        if not device or not isinstance(node.func, cst.Attribute):
            script.report(node, Kind.HAND, f"{found}() asks about CUDA only", "name the device")
            return
        if node.func.attr.value != name:
            script.change(node.func.attr, name)
        at = script.span(node.args[0])[0] if node.args else script.span(node)[1] - 1
        script.replace(
            at, at, device + (", " if node.args else ""), f"{name} of {script.direction.target}", advice=ONE_WAY
        )

    def _class(self, node: cst.Call, script: Script) -> None:
        found = script.resolve(node.func)
        if found.rpartition(".")[0] not in ("torch.cuda.amp", "torch.npu.amp") or tail(node.func) not in _CLASSES:
            return
        device, torch = type_expression(script), torch_name(script)
        if not device:
            script.report(node, Kind.HAND, f"{found} where torch is not imported", ADVICE)
            return
        if isinstance(node.func, cst.Attribute):
            script.change(node.func, f"{torch}.amp.{tail(node.func)}")
        at = script.span(node.args[0])[0] if node.args else script.span(node)[1] - 1
        script.replace(at, at, device + (", " if node.args else ""), "the device as an argument")
        script.claim(node.func)

    def _decorator(self, node: cst.Decorator, script: Script) -> None:
        found = script.resolve(node.decorator)
        if script.direction.target == "any" and found.rpartition(".")[0] in ("torch.cuda.amp", "torch.npu.amp"):
            script.report(node, Kind.HAND, f"@{found} has no neutral form", "@torch.amp.… with device_type=")

    def _import_from(self, node: cst.ImportFrom, script: Script) -> None:
        if script.direction.target != "any" or dotted(node.module) not in ("torch.cuda.amp", "torch.npu.amp"):
            return
        names = [] if isinstance(node.names, cst.ImportStar) else [tail(alias.name) for alias in node.names]
        if names and set(names) <= _CLASSES and node.module is not None and torch_name(script):
            script.change(node.module, "torch.amp")
        else:
            script.report(node, Kind.HAND, "this import has no neutral form", "import from torch.amp, name the device")
