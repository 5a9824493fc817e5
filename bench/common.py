"""What the measurements share: a throw-away home, timing of whole commands, and one form for results."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parent / "scripts"
BIN = Path(sys.executable).parent
RESULTS = Path(__file__).parent / "results.json"


@dataclasses.dataclass
class Result:
    """One figure: what was measured, against what, and whether the target is met."""

    name: str
    value: float
    unit: str
    target: str
    met: bool
    peers: dict[str, float]
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def kept() -> dict[str, list[dict[str, Any]]]:
    """The results of earlier measurements, by the measurement's name."""
    found: dict[str, list[dict[str, Any]]] = json.loads(RESULTS.read_text())["results"] if RESULTS.exists() else {}
    return found


def keep(found: dict[str, list[dict[str, Any]]]) -> None:
    machine = {"python": platform.python_version(), "system": platform.platform(), "cpus": os.cpu_count()}
    body = {"command": "make bench", "at": time.strftime("%Y-%m-%d"), "machine": machine, "results": found}
    RESULTS.write_text(json.dumps(body, indent=1) + "\n")


@contextlib.contextmanager
def home() -> Iterator[tuple[Path, dict[str, str]]]:
    """A home folder and the environment that points to it; the keeper it started is ended."""
    with tempfile.TemporaryDirectory(prefix="outlast-bench-") as folder:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)
        environ.update(OUTLAST_HOME=str(Path(folder) / "home"), NO_COLOR="1")
        try:
            yield Path(folder), environ
        finally:
            end_processes(str(Path(folder) / "home"))


def end_processes(word: str) -> None:
    """End the processes that name this folder in their command line: those this measurement started."""
    from outlast.inside.processes import kill_tree

    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if word.encode() in Path("/proc", name, "cmdline").read_bytes():
                kill_tree(int(name))


def outlast(environ: dict[str, str], *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(BIN / "outlast"), *map(str, arguments)], env=environ, capture_output=True, text=True, **options
    )
    if done.returncode:
        raise SystemExit(f"outlast {' '.join(map(str, arguments))} ended with {done.returncode}:\n{done.stderr}")
    return done


def timed(command: list[str], environ: dict[str, str] | None = None) -> float:
    started = time.perf_counter()
    subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def median_of(measure: Any, times: int) -> float:
    """The median of several measurements, after one that warms caches up."""
    measure()
    return statistics.median(measure() for _ in range(times))
