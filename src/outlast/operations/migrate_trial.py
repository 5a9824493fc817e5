"""`outlast migrate --try`: a training as it is and migrated, both on this machine's processor, number by number.

CUDA is played by the processor for the script as it is; the migrated one runs on a stand-in `npu` device. Both work in
throw-away copies of the folder: Python files are copied, everything else is linked.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from outlast.errors import UsageError

#: Sums in another order may differ in the last digits; more than this is another training.
TOLERANCE = 1e-4
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|nan|inf)(?![\w.])")
_BUILD_LIMIT_S = 900.0
_TAIL_LINES = 12
_STANDIN = Path(__file__).parents[1] / "migrate" / "standin"


@dataclass(frozen=True)
class Trial:
    """How the two runs compare. `lines` are the last lines of a run that failed."""

    agree: bool
    sentence: str
    compared: int = 0
    largest_difference: float = 0.0
    light: bool = False
    changes: int = 0
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Outcome:
    code: int | None  # None: the time was over
    numbers: list[float]
    tail: list[str]


def try_migrated(
    home: Path,
    command: Sequence[str],
    *,
    limit_s: float = 300.0,
    light: bool = False,
    tolerance: float = TOLERANCE,
    tell: Callable[[str], None] | None = None,
) -> Trial:
    """Run both ways and compare every number they print, in order, as far as both got."""
    from outlast.operations.migrate import need_libcst

    need_libcst("migrate")
    say = tell or (lambda words: None)
    python = _interpreter(command)
    version = _torch_version(python)
    binary = None if light else _binary(home, python, version, say)
    with tempfile.TemporaryDirectory(prefix="outlast-try-") as scratch:
        plain, moved = Path(scratch, "as-it-is"), Path(scratch, "migrated")
        here = Path.cwd()
        _mirror(here, plain)
        _mirror(here, moved)
        changes = _migrate_folder(moved)
        say("running the training as it is")
        first = _run(command, plain, here, {"OUTLAST_STANDIN": "cuda"}, limit_s)
        if first.code not in (0, None):
            return Trial(False, f"the script as it is ended with {first.code}, before any migration", lines=first.tail)
        say("running the migrated training")
        variables = (
            {"OUTLAST_STANDIN": "npu", "OUTLAST_STANDIN_BINARY": str(binary)}
            if binary
            else {"OUTLAST_STANDIN": "npu-light"}
        )
        second = _run(command, moved, here, variables, limit_s)
    return _compare(first, second, tolerance, light=binary is None, changes=changes)


def _interpreter(command: Sequence[str]) -> str:
    """The Python that will run the script: the command itself, or the one beside `torchrun`."""
    program = shutil.which(command[0])
    if program is None:
        raise UsageError(f"there is no program {command[0]!r}", hint="outlast migrate --try -- python train.py")
    if Path(program).name.startswith("python"):
        return program
    beside = Path(program).parent / "python"
    return str(beside) if beside.exists() else sys.executable


def _torch_version(python: str) -> str:
    environ = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    asked = subprocess.run(
        [python, "-c", "import torch; print(torch.__version__)"],
        capture_output=True,
        text=True,
        env=environ,
        check=False,
    )
    if asked.returncode:
        raise UsageError(
            f"{python} has no torch that can be imported", hint="name the Python of the training's environment"
        )
    return asked.stdout.split()[-1]


def _binary(home: Path, python: str, version: str, say: Callable[[str], None]) -> Path | None:
    """The compiled stand-in, made once per torch; None where there is no compiler."""
    source = _STANDIN / "device.cpp"
    mark = hashlib.sha256(source.read_bytes() + python.encode()).hexdigest()[:12]
    folder = home / "standin" / f"torch-{version}-{mark}"
    binary = folder / "outlast_standin.so"
    if binary.exists():
        return binary
    if not (shutil.which("g++") or shutil.which("c++")):
        return None
    say("compiling the stand-in device, once for this torch (one or two minutes)")
    folder.mkdir(parents=True, exist_ok=True)
    # ninja is often installed beside the interpreter only.
    environ = {
        **os.environ,
        "PATH": f"{Path(python).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    }
    try:
        made = subprocess.run(
            [python, str(_STANDIN / "build.py"), str(source), str(folder)], capture_output=True, text=True, env=environ,
            timeout=_BUILD_LIMIT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    (folder / "build.log").write_text(made.stdout + made.stderr)
    return binary if made.returncode == 0 and binary.exists() else None


def _mirror(source: Path, target: Path) -> None:
    """A folder like `source`: Python files copied, folders without any of them and all other files linked."""
    target.mkdir(parents=True)
    for entry in sorted(source.iterdir()):
        copy = target / entry.name
        if entry.is_dir() and not entry.is_symlink() and not entry.name.startswith(".") and _has_python(entry):
            _mirror(entry, copy)
        elif entry.suffix == ".py" and entry.is_file():
            shutil.copyfile(entry, copy)
        else:
            copy.symlink_to(entry.resolve())


def _has_python(folder: Path) -> bool:
    return not (folder / "pyvenv.cfg").exists() and any(folder.rglob("*.py"))


def _migrate_folder(folder: Path) -> int:
    from outlast.migrate.direction import Direction
    from outlast.migrate.files import find, migrate_bytes
    from outlast.migrate.source import SourceError

    changes = 0
    for path in find([folder], text_files=False):
        try:
            done = migrate_bytes(path.name, path.read_bytes(), Direction("npu")) if not path.is_symlink() else None
        except SourceError:
            continue
        if done is not None and done[1].edits:
            path.write_bytes(done[0].with_text(done[1].text).encode())
            changes += len(done[1].edits)
    return changes


def _run(command: Sequence[str], folder: Path, here: Path, variables: dict[str, str], limit_s: float) -> _Outcome:
    environ = {
        **os.environ, **variables, "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(_STANDIN), os.environ.get("PYTHONPATH", "")])),
    }  # fmt: skip
    # A path into this folder must lead into the copy; the program itself stays where it is.
    words = [command[0], *(word.replace(f"{here}{os.sep}", f"{folder}{os.sep}") for word in command[1:])]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            words,
            cwd=folder,
            env=environ,
            stdout=output,
            stderr=errors,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
        )
        try:
            code: int | None = child.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end_group(child)
        said, complained = _lines(output), _lines(errors)
    # Logging goes to standard error, and so do warnings with numbers of their own: it counts only if nothing else does.
    return _Outcome(code, _numbers(said) or _numbers(complained), [*said, *complained][-_TAIL_LINES:])


def _lines(output: IO[bytes]) -> list[str]:
    output.seek(0)
    return [line for line in re.split(r"[\r\n]+", output.read().decode("utf-8", "replace")) if line.strip()]


def _numbers(lines: Sequence[str]) -> list[float]:
    return [float(found) for line in lines for found in _NUMBER.findall(line)]


def _end_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _compare(first: _Outcome, second: _Outcome, tolerance: float, *, light: bool, changes: int) -> Trial:
    where = "by names only, without a device" if light else "on a stand-in NPU"
    if second.code not in (0, None):
        return Trial(
            False, f"the migrated script ended with {second.code}", light=light, changes=changes, lines=second.tail
        )
    pairs = list(zip(first.numbers, second.numbers, strict=False))
    if not pairs:
        return Trial(False, "neither run printed a number to compare", light=light, changes=changes, lines=second.tail)
    differences = [_difference(a, b) for a, b in pairs]
    largest = max(differences)
    if largest > tolerance:
        at = differences.index(max(differences))
        sentence = f"number {at + 1} of {len(pairs)} is {pairs[at][0]:g} as it is and {pairs[at][1]:g} migrated"
        return Trial(False, sentence, len(pairs), largest, light, changes, second.tail)
    if first.code == second.code == 0 and len(first.numbers) != len(second.numbers):
        sentence = f"{len(first.numbers)} numbers as it is, {len(second.numbers)} migrated"
        return Trial(False, sentence, len(pairs), largest, light, changes)
    equal = "all equal" if largest == 0 else f"the largest difference is {largest:.1e}"
    return Trial(
        True, f"{len(pairs)} numbers compared {where}, {equal}; {changes} changes", len(pairs), largest, light, changes
    )


def _difference(a: float, b: float) -> float:
    """Relative to the larger one; two NaN are equal."""
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    return abs(a - b) / max(abs(a), abs(b), 1e-12) if math.isfinite(a) and math.isfinite(b) else math.inf
