"""The profiler: `torch.profiler` with CUDA activities ↔ `torch_npu.profiler` with NPU activities."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import ONE_WAY, Kind, Rule, Script
from outlast.migrate.lines import add_line, can_stand_beside
from outlast.migrate.namespace import NPU
from outlast.migrate.neutral import ADVICE
from outlast.migrate.tree import argument, dotted, inner, tail

_SIDES = {"npu": ("torch.profiler", "torch_npu.profiler", "CUDA", "NPU"),
          "cuda": ("torch_npu.profiler", "torch.profiler", "NPU", "CUDA")}  # fmt: skip
#: what both modules have
_TWINS = NPU["torch_npu.profiler"] & frozenset(
    "profile schedule supported_activities tensorboard_trace_handler ProfilerAction ProfilerActivity profiler".split()
)
#: of torch alone, and good on every device
_SHARED = frozenset({"record_function"})
_ACTIVITIES = frozenset({"CPU", "CUDA", "NPU"})
#: Columns of the profiler's table, and attributes of its events.
_COLUMN = re.compile(r"(?:self_)?cuda_(?:time(?:_total|_str|_total_str)?|memory_usage)")
_COLUMN_ADVICE = "newer versions of torch call it device_…; torch_npu.profiler writes its tables to files"
_OLD = "torch.autograd.profiler.profile"


class Profiler(Rule):
    name: ClassVar[str] = "profiler"
    summary: ClassVar[str] = "torch.profiler with ProfilerActivity.CUDA ↔ torch_npu.profiler with ProfilerActivity.NPU"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Attribute, cst.ImportFrom, cst.Call, cst.SimpleString)

    def look(self, node: Any, script: Script) -> None:
        target = script.direction.target
        if isinstance(node, cst.Call):
            self._old_profiler(node, script)
            return
        if _COLUMN.fullmatch(inner(node) if isinstance(node, cst.SimpleString) else tail(node)):
            self._column(node, script)
        known = script.names.attributes | _swapped(script)
        if isinstance(node, cst.SimpleString) or ("ProfilerActivity", "CUDA") not in known:
            return
        if target == "any":
            if isinstance(node, cst.Attribute) and tail(node.value) == "ProfilerActivity" and node.attr.value != "CPU":
                script.report(node, Kind.HAND, f"{script.source(node)} belongs to one device", ADVICE)
            return
        old, new, old_word, new_word = _SIDES[target]
        if isinstance(node, cst.ImportFrom):
            self._import_from(node, old, new, script)
        elif node.attr.value == old_word and tail(node.value) == "ProfilerActivity":
            self._activity(node, old, new_word, script)
        elif node.attr.value == "key_averages" and target == "npu":
            script.report(node, Kind.HAND, "key_averages is not there", "torch_npu.profiler writes its tables to files")
        elif script.resolve(node) == old and isinstance(script.parent(), cst.Attribute):
            self._module(node, old, new, script)

    def _column(self, node: cst.Attribute | cst.SimpleString, script: Script) -> None:
        if script.direction.target != "cuda" and script.is_torch():
            script.report(node, Kind.HAND, f"{script.source(node)} is the time or memory of CUDA", _COLUMN_ADVICE)

    def _old_profiler(self, node: cst.Call, script: Script) -> None:
        asks = argument(node, "use_cuda")
        is_asked = asks is not None and script.source(asks.value) != "False"
        if script.direction.target != "cuda" and is_asked and script.resolve(node.func) == _OLD:
            script.report(node, Kind.HAND, f"{_OLD}(use_cuda=…) measures CUDA only", "use torch_npu.profiler.profile")

    def _activity(self, node: cst.Attribute, old: str, new_word: str, script: Script) -> None:
        if script.resolve(node.value) == f"{old}.ProfilerActivity":
            script.change(node.attr, new_word)
        else:
            script.report(node, Kind.HAND, f"{script.source(node)} of an unknown module", f"it is called {new_word}")

    def _module(self, node: cst.Attribute, old: str, new: str, script: Script) -> None:
        user, above = script.parent(), script.parent(2)
        name = tail(user)
        other = name == "ProfilerActivity" and isinstance(above, cst.Attribute) and above.attr.value not in _ACTIVITIES
        if name in _TWINS and not other:
            script.change(node, new)
        elif name not in _SHARED:
            script.report(node, Kind.HAND, f"{old}.{name} has no twin", "leave it out")

    def _import_from(self, node: cst.ImportFrom, old: str, new: str, script: Script) -> None:
        if dotted(node.module) != old or isinstance(node.names, cst.ImportStar) or node.module is None:
            return
        twins = [each for each in node.names if tail(each.name) in _TWINS]
        rest = [each for each in node.names if tail(each.name) not in _TWINS]
        alone = [tail(each.name) for each in rest if tail(each.name) not in _SHARED]
        if alone:
            script.report(node, Kind.HAND, f"{old}.{alone[0]} has no twin", "leave it out")
        if not rest:
            script.change(node.module, new)
        elif twins:
            self._split(node, twins, rest, old, new, script)

    def _split(
        self,
        node: cst.ImportFrom,
        twins: list[cst.ImportAlias],
        rest: list[cst.ImportAlias],
        old: str,
        new: str,
        script: Script,
    ) -> None:
        """Some names come from the other module, the others from where they came before."""
        statement = script.parent()
        if statement is None or not can_stand_beside(script, statement):
            script.report(node, Kind.HAND, f"only some of these names are in {new}", "import them one by one")
            return
        script.change(node, f"from {new} import {_listed(twins)}", advice=ONE_WAY)
        add_line(script, statement, f"from {old} import {_listed(rest)}")


def _listed(aliases: list[cst.ImportAlias]) -> str:
    names = [(tail(each.name), tail(each.asname.name) if each.asname else "") for each in aliases]
    return ", ".join(f"{name} as {own}" if own else name for name, own in names)


def _swapped(script: Script) -> set[tuple[str, str]]:
    """Coming from the NPU the activity has the other name."""
    found = ("ProfilerActivity", "NPU") in script.names.attributes
    return {("ProfilerActivity", "CUDA")} if found and script.direction.target != "npu" else set()
