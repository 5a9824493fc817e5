"""Collective libraries: `nccl` ↔ `hccl`, wherever a back end is named."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.context import Shape, Use, use_of
from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.neutral import ADVICE, device_expression, torch_name
from outlast.migrate.tree import inner, opening, tail

#: An expression can stand for a text in all of these; in a comparison it would ask something else.
_VALUE_OF = (cst.Arg, cst.Assign, cst.IfExp)
#: names of torch.distributed that belong to one library
_NAMES = {"is_nccl_available", "ProcessGroupNCCL", "is_hccl_available", "ProcessGroupHCCL"}


class Backend(Rule):
    name: ClassVar[str] = "backend"
    summary: ClassVar[str] = "Collective back ends: 'nccl' ↔ 'hccl', 'cpu:gloo,cuda:nccl' ↔ 'cpu:gloo,npu:hccl'"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.SimpleString, cst.Attribute, cst.ImportFrom)

    def look(self, node: Any, script: Script) -> None:
        if isinstance(node, cst.Attribute):
            self._constant(node, script)
            self._name(node, node.attr.value, script)
            return
        if isinstance(node, cst.ImportFrom):
            for alias in () if isinstance(node.names, cst.ImportStar) else node.names:
                self._name(alias, tail(alias.name), script)
            return
        text = inner(node)
        known = "|".join(script.direction.backends)
        if not re.fullmatch(
            rf"(?:{known})|(?:\w+:\w+,)*(?:{'|'.join(script.direction.sources)}):(?:{known})(?:,\w+:\w+)*", text, re.I
        ):
            return
        use = use_of(node, Shape.BACKEND, script)
        if use is Use.KEY:
            script.report(node, Kind.KEPT, f"{node.value} kept: a name or a key, not a back end")
        elif use is not Use.PROSE:
            self._backend(node, text, script)

    def _backend(self, node: cst.SimpleString, text: str, script: Script) -> None:
        if script.direction.target == "any":
            self._to_any(node, text, script)
            return
        base = script.span(node)[0] + opening(node)
        for found in re.finditer(rf"{script.direction.backends[0]}|{script.direction.sources[0]}", text, re.I):
            is_library = found.group(0).lower() in script.direction.backends
            new = script.direction.backend if is_library else script.direction.target
            new = new.upper() if found.group(0).isupper() else new
            script.replace(base + found.start(), base + found.end(), new)

    def _to_any(self, node: cst.SimpleString, text: str, script: Script) -> None:
        torch, device = torch_name(script), device_expression(script)
        if device and text.lower() in script.direction.backends and isinstance(script.parent(), _VALUE_OF):
            script.change(node, f"{torch}.distributed.get_default_backend_for_device({device})")
        else:
            script.report(node, Kind.HAND, f"{node.value} names the library of one device", ADVICE)

    def _constant(self, node: cst.Attribute, script: Script) -> None:
        """`dist.Backend.NCCL`: torch gives every library that is registered such a name, HCCL too."""
        if tail(node.value) != "Backend" or node.attr.value.lower() not in script.direction.backends:
            return
        if script.direction.target == "any":
            script.report(node, Kind.HAND, f"{script.source(node)} names the library of one device", ADVICE)
        elif node.attr.value.isupper():
            script.change(node.attr, script.direction.backend.upper())

    def _name(self, node: cst.CSTNode, name: str, script: Script) -> None:
        if name in _NAMES and any(word in name.lower() for word in script.direction.backends):
            advice = "torch_npu.distributed has the twin" if script.direction.target == "npu" else ADVICE
            script.report(node, Kind.HAND, f"{name} belongs to one collective library", advice)
