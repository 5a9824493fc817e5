"""Which Python runs the script: the one that was named, else the one the user would get by typing `python`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from outlast.operations.said import Said
from outlast.operations.target import absolute


def find_python(said: Said | None, base: Path) -> str:
    """The absolute path of an interpreter that exists. Links are kept: a venv's python is one."""
    if said is None:
        return _active_python()
    if "/" in said.value or said.value.startswith("~"):
        path = absolute(said.value, base)
        if path.is_dir():
            raise said.wrong("a folder, not an interpreter", hint=f"did you mean {said.value.rstrip('/')}/bin/python?")
        if not path.exists():
            raise said.wrong("no such file", hint="give the path of a Python interpreter, or its name on PATH")
        if not os.access(path, os.X_OK):
            raise said.wrong("not executable", hint="give the path of a Python interpreter, or its name on PATH")
        return str(path)
    found: str | None = shutil.which(said.value) if said.value else None
    if found is None:
        raise said.wrong(
            "not found on PATH", hint="give the whole path of a Python interpreter, like ./venv/bin/python"
        )
    return os.path.abspath(found)  # noqa: PTH100 (Path.resolve would follow links)


def _active_python() -> str:
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        folder = os.environ.get(variable)
        if folder and os.access(Path(folder, "bin", "python"), os.X_OK):
            return str(Path(folder, "bin", "python").absolute())
    found = shutil.which("python3")
    return os.path.abspath(found) if found else sys.executable  # noqa: PTH100
