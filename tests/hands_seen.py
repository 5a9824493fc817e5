"""The processes that share the work of moving files, as a test sees them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from outlast.inside import beside


class Spied(subprocess.Popen):
    """`told` is all that anybody else on the machine can see of what it was told."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.told = Path(f"/proc/{self.pid}/cmdline").read_bytes(), Path(f"/proc/{self.pid}/environ").read_bytes()


def watch_hands(monkeypatch) -> list[Spied]:
    """From now on every hand that is started is in this list; there are two of them on any machine."""
    found = []

    def start(*args, **kwargs):
        found.append(Spied(*args, **kwargs))
        return found[-1]

    monkeypatch.setattr(beside.subprocess, "Popen", start)
    monkeypatch.setattr(beside, "processors", lambda: 3)
    return found
