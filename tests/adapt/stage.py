"""A stage on which scripts of the corpus run as `__main__`, in this process, and can be killed at any printed line."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import random
import sys
import types
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from outlast.adapt import CONTRACTS, Adapted, adapt_text

CORPUS = Path(__file__).parent / "corpus"
#: Those that need nothing but numpy, click or typer; absl keeps its flags for the life of a process.
RUNNABLE = sorted(path.stem for path in CORPUS.glob("np_*.py") if path.stem != "np_absl")


class Killed(BaseException):
    """Stands for a kill: no handler of a script catches it."""


class _Output(io.StringIO):
    def __init__(self, limit: int | None) -> None:
        super().__init__()
        self._left = limit

    def write(self, text: str) -> int:
        written = super().write(text)
        if self._left is not None:
            self._left -= text.count("\n")
            if self._left <= 0:
                raise Killed
        return written


@dataclass(frozen=True)
class Played:
    output: str
    files: dict[str, bytes]
    was_killed: bool


def read(name: str) -> str:
    return (CORPUS / f"{name}.py").read_text(encoding="utf-8")


@functools.cache
def adapted_to(contract: str, name: str) -> Adapted:
    """A script of the corpus, adapted once for all tests that look at it."""
    return adapt_text(read(name), CONTRACTS[contract])


def furnish(folder: Path) -> Path:
    """The data that scripts of the corpus read, and nothing else."""
    source = random.Random(7)
    rows = [[source.uniform(-1, 1) for _ in range(3)] for _ in range(24)]
    folder.mkdir(parents=True, exist_ok=True)
    lines = [",".join(f"{value:.6f}" for value in row) for row in rows]
    (folder / "points.csv").write_text("\n".join(lines) + "\n")
    return folder


def play(text: str, cwd: Path, *argv: str, env: dict[str, str] | None = None, kill_after: int | None = None) -> Played:
    """Run a script as `python script.py argv` would, at most until it has printed so many lines."""
    module = types.ModuleType("__main__")
    output, was_killed = _Output(kill_after), False
    before = Path.cwd(), sys.argv, sys.modules["__main__"], dict(os.environ)
    random.seed(0)
    np.random.seed(0)
    try:
        os.chdir(cwd)
        os.environ.update(env or {})
        sys.argv, sys.modules["__main__"] = ["script.py", *argv], module
        with contextlib.redirect_stdout(output), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scripts of users leave files open
            try:
                exec(compile(text, "script.py", "exec"), module.__dict__)
            except SystemExit as left:
                assert not left.code, f"exit {left.code}\n{output.getvalue()}"
            except Killed:
                was_killed = True
    finally:
        os.chdir(before[0])
        sys.argv, sys.modules["__main__"] = before[1], before[2]
        os.environ.clear()
        os.environ.update(before[3])
    return Played(output.getvalue(), contents(cwd), was_killed)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }
