"""Files that speak of both devices before the migration: the way back would change what was there already."""

from __future__ import annotations

import re
from typing import ClassVar

from outlast.migrate.engine import ONE_WAY, Kind, Rule, Script

_TARGETS = {
    "npu": re.compile(
        rb"torch\.npu\b|torch_npu\b|[\"']npu[\"':]|\.npu\(|[\"']hccl[\"']|device_target=[\"']Ascend|\bASCEND_RT_VIS"
    ),
    "cuda": re.compile(rb"torch\.cuda\b|[\"']cuda[\"':]|\.cuda\(|[\"']nccl[\"']|device_target=[\"']GPU|\bCUDA_VIS"),
}
_IMPORT = re.compile(rb"(?m)^\s*import torch_npu\s*$")


class BothDevices(Rule):
    name: ClassVar[str] = "both-devices"
    summary: ClassVar[str] = "A file that names both devices already is pointed out: its branches want a look"

    def finish(self, script: Script) -> None:
        target = _TARGETS.get(script.direction.target)
        if target is None or not (script.edits or _has_own_branch(script)):
            return
        if target.search(_IMPORT.sub(b"", script.data)):
            message = f"this file speaks of {script.direction.target} already"
            script.report(script.module, Kind.DIFFERS, message, f"look at its branches; {ONE_WAY}")


def _has_own_branch(script: Script) -> bool:
    """Nothing to change, and not because it was changed before: that leaves the import at the top."""
    words = b"|".join(word.encode() for word in script.direction.sources)
    return re.search(words, script.data) is not None and re.search(rb"(?m)^import torch_npu\b", script.data) is None
