"""The one line that `--to any` adds: a name for the accelerator, or the processor where there is none."""

from __future__ import annotations

import re
from typing import ClassVar

import libcst as cst

from outlast.migrate.engine import Rule, Script
from outlast.migrate.lines import add_line, can_stand_beside
from outlast.migrate.neutral import ACCELERATOR


class AcceleratorName(Rule):
    name: ClassVar[str] = "accelerator-name"
    summary: ClassVar[str] = f"{ACCELERATOR} = torch.accelerator.current_accelerator() or torch.device('cpu')"

    def finish(self, script: Script) -> None:
        users = [edit.start for edit in script.edits if re.search(rf"\b{ACCELERATOR}\b", edit.new)]
        torch = script.names.name_for("torch", [script.module])
        if not users or not torch or f"{ACCELERATOR} =".encode() in script.data:
            return
        imports = [
            statement
            for statement in script.module.body
            if script.span(statement)[0] < min(users) and _imports(statement) and can_stand_beside(script, statement)
        ]
        if imports:
            line = f'{ACCELERATOR} = {torch}.accelerator.current_accelerator() or {torch}.device("cpu")'
            add_line(script, imports[-1], line)


def _imports(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and any(
        isinstance(part, cst.Import | cst.ImportFrom) for part in statement.body
    )
