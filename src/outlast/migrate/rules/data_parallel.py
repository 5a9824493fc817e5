"""`DataParallel` does not exist on an NPU: one process per card, or the bare model on one card."""

from __future__ import annotations

from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import ONE_WAY, Kind, Rule, Script
from outlast.migrate.lines import remove_line
from outlast.migrate.tree import argument, dotted, positional

_NAMES = frozenset(
    {"torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.nn.parallel.data_parallel.DataParallel"}
)
_FUNCTIONS = frozenset({"torch.nn.parallel.data_parallel", "torch.nn.parallel.replicate", "torch.nn.parallel.scatter",
                        "torch.nn.parallel.parallel_apply", "torch.nn.parallel.gather"})  # fmt: skip
#: The wrapper shows in these: `model.module`, and the prefix `module.` of every key.
_LOOKED_THROUGH = ("module", "state_dict", "load_state_dict")
_ADVICE = "use DistributedDataParallel, one process per card; on one card use the model itself"


class DataParallel(Rule):
    name: ClassVar[str] = "data-parallel"
    summary: ClassVar[str] = "DataParallel is taken away where the script does not look through it, else reported"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Call,)

    def look(self, node: Any, script: Script) -> None:
        if script.direction.target == "cuda":
            return
        found = script.resolve(node.func)
        if found in _FUNCTIONS:
            script.report(node, Kind.HAND, f"{found} is not supported on an NPU", _ADVICE)
        elif found in _NAMES:
            self._wrapper(node, script)

    def _wrapper(self, node: cst.Call, script: Script) -> None:
        model = positional(node, 0) or getattr(argument(node, "module"), "value", None)
        target = self._target(script)
        simple = isinstance(model, cst.Name | cst.Attribute) and script.direction.target == "npu"
        name = dotted(model).rpartition(".")[2]
        seen = any((name, attribute) in script.names.attributes for attribute in _LOOKED_THROUGH)
        if not simple or model is None or not target or target != dotted(model) or seen:
            script.report(node, Kind.HAND, "DataParallel is not supported on an NPU", _ADVICE)
            return
        message = f"DataParallel({target}) → {target}"
        advice = f"one card; with several, use DistributedDataParallel; {ONE_WAY}"
        if isinstance(script.parent(), cst.Assign):
            self._without_assignment(script, message, advice)
        else:
            script.change(node, script.source(model), message, advice=advice)
        script.claim(node)

    def _without_assignment(self, script: Script, message: str, advice: str) -> None:
        """`model = model` says nothing, so the line goes; where it cannot, `pass` stays."""
        assignment, statement, block = script.parents[-1], script.parent(2), script.parent(3)
        alone = isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1
        follows = isinstance(block, cst.Module) or (isinstance(block, cst.IndentedBlock) and len(block.body) > 1)
        if not (alone and follows and statement and remove_line(script, statement, message, advice=advice)):
            script.change(assignment, "pass", message, advice=advice)

    def _target(self, script: Script) -> str:
        """`model` of `model = DataParallel(model).cuda()`."""
        for parent in reversed(script.parents):
            if isinstance(parent, cst.Assign):
                return dotted(parent.targets[0].target) if len(parent.targets) == 1 else ""
            if not isinstance(parent, cst.Call | cst.Attribute):
                return ""
        return ""
