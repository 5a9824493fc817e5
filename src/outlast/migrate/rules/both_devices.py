"""Files that speak of both devices before the migration: the way back would change what was there already."""

from __future__ import annotations

import re
from typing import ClassVar

from outlast.migrate.engine import ONE_WAY, Kind, Rule, Script

_TARGETS = {
    "npu": re.compile(rb"torch\.npu\b|torch_npu\b|[\"']npu[\"':]|\.npu\(|[\"']hccl[\"']"),
    "cuda": re.compile(rb"torch\.cuda\b|[\"']cuda[\"':]|\.cuda\(|[\"']nccl[\"']"),
}


class BothDevices(Rule):
    name: ClassVar[str] = "both-devices"
    summary: ClassVar[str] = "A file that names both devices already is pointed out: its branches want a look"

    def finish(self, script: Script) -> None:
        target = _TARGETS.get(script.direction.target)
        found = target.search(script.data) if target and script.edits else None
        if found and not _only_import(script, target):
            message = f"this file speaks of {script.direction.target} already"
            script.report(script.module, Kind.DIFFERS, message, f"look at its branches; {ONE_WAY}")


def _only_import(script: Script, target: re.Pattern[bytes] | None) -> bool:
    rest = re.sub(rb"(?m)^\s*import torch_npu\s*$", b"", script.data)
    return target is None or target.search(rest) is None
