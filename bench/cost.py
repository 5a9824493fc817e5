"""What a command costs: time, processor time and memory of it and all its children."""

from __future__ import annotations

import contextlib
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.common import SCRIPTS
from outlast.inside.processes import kill_tree

_LOOK_EVERY_S = 0.1
#: Longer than the slowest tool needs for any row: a command that hangs must not hang the benchmark.
_LIMIT_S = 1200.0


class Cost(NamedTuple):
    """One run of a command, or the medians of several."""

    wall_s: float
    cpu_s: float
    peak_mib: float

    @classmethod
    def median(cls, costs: list[Cost]) -> Cost:
        return cls(*(statistics.median(values) for values in zip(*costs, strict=True)))


def run(command: list[str], environ: dict[str, str]) -> Cost:
    """Run a command to its end; one that fails ends the benchmark with its last words."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "said").open("w+b") as said:
        report = Path(folder) / "report"
        launch = [sys.executable, "-I", "-S", str(SCRIPTS / "launch.py"), str(report), *command]
        process = subprocess.Popen(launch, env=environ, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        family_mib = _watch(process, Path(f"{report}.pid"))
        if process.returncode:
            said.seek(0)
            last = said.read()[-2000:].decode("utf-8", "replace")
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{last}")
        cost = Cost(*json.loads(report.read_text()))
    return cost._replace(peak_mib=max(cost.peak_mib, family_mib))


def _watch(process: subprocess.Popen[bytes], pid_file: Path) -> float:
    """Wait for the end, and add up the memory of a command with children; of one process the kernel knows the peak."""
    peak_kib, deadline = 0, time.monotonic() + _LIMIT_S
    while True:
        if time.monotonic() > deadline:
            kill_tree(process.pid)
            process.wait()
            return 0.0
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_EVERY_S)
            return peak_kib / 1024
        with contextlib.suppress(OSError, ValueError):
            family = list(_family(int(pid_file.read_text())))
            if len(family) > 1:
                peak_kib = max(peak_kib, sum(map(_share_kib, family)))


def _family(pid: int) -> Iterator[int]:
    yield pid
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))
    except OSError:
        return


def _share_kib(pid: int) -> int:
    """The proportional share of a process: pages that a fork shares are not counted twice."""
    try:
        found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found.group(1)) if found else 0
