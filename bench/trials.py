"""One training script before and after `outlast adapt`: run straight, without and with the options, and killed.

A trial is a folder with `trial.json`:

    {"script": "train.py", "python": "/envs/torch/bin/python", "args": ["--epochs", "3"], "contract": "modelarts",
     "code": "code", "home": "home", "options": {"data_url": "in/data"}, "cwd": ".", "limit_s": 300, "kills": 3}

`code` is the program as it was found; `home` lies over it where the original runs (data and weights at their old
places); `options` are what the adapted script is given instead, as paths below the folder. All but `script` and
`python` may be left out.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterable
from pathlib import Path

from bench.common import SCRIPTS
from outlast.operations.adapt import Adaptation, adapt

#: What differs between two runs without being a result: times, dates, addresses in memory.
_PASSING = re.compile(
    r"(?i)\d+(?:\.\d+)? ?(?:s|sec|secs|seconds|ms|us|it/s)(?:/step|/epoch)?\b"
    # `epoch 3: 75.00` is a result, `3:07` and `0: 03: 07` are clocks.
    r"|\d+:\d\d(?::\d\d)?(?:[.,]\d+)?|\d+: ?\d\d: ?\d\d(?:[.,]\d+)?"
    r"|0x[0-9a-f]+|\d{4}-\d\d-\d\d|(?:time|runtime|per_second)\W+\d+(?:\.\d+)?(?: \(\d+\.\d+\))?"
)
#: What libraries say of themselves, with numbers of processes and clocks.
_ASIDE = re.compile(r"Warning|^(?:[IWE]\d{4} |\[?(?:WARNING|INFO|ERROR)\b)|^ +warnings\.warn")
#: How far a round is, as often as the machine's pace allows: only its end is the same in each run.
_UNDER_WAY = re.compile(r"(\d+)/(\d+)\b.*━")
#: Files that name the moment of their making, or are the checkpoint itself: no result of the script.
_OWN = re.compile(r"(?:^|/)(?:resume[\w.-]*(?:/.*)?|events\.out\.tfevents[^/]*)$")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_OUTPUT = {"xihe": "output_path"}
_LAST_LINES = 3


@dataclasses.dataclass(frozen=True)
class Trial:
    folder: Path
    script: str
    python: str
    args: tuple[str, ...] = ()
    contract: str = "modelarts"
    code: str = "code"
    home: str = ""
    options: dict[str, str] = dataclasses.field(default_factory=dict)
    cwd: str = "."
    limit_s: float = 300.0
    kills: int = 3

    @classmethod
    def read(cls, folder: Path) -> Trial:
        return cls(folder, **json.loads((folder / "trial.json").read_text()))


@dataclasses.dataclass
class Verdict:
    """What a trial showed; each list names what is wrong, and is empty where nothing is."""

    name: str
    report: Adaptation
    without_options: list[str] = dataclasses.field(default_factory=list)
    with_options: list[str] = dataclasses.field(default_factory=list)
    killed: list[str] = dataclasses.field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        return self.without_options + self.with_options + self.killed

    @property
    def is_refused(self) -> bool:
        return bool(self.report.by_hand)


@dataclasses.dataclass(frozen=True)
class Ran:
    code: int
    lines: list[str]
    files: dict[str, str]

    @property
    def last_words(self) -> str:
        return f"ended with {self.code}: {' / '.join(self.lines[-_LAST_LINES:])}"


class OriginalError(Exception):
    """The script does not run as it was found, so that nothing can be said of its adaptation."""


def judge(trial: Trial, work: Path, seed: int) -> Verdict:
    """Run the trial below `work`, which is left behind to be looked at. The original must run."""
    before = _run(trial, _place(trial, work / "original", at_home=True))
    if before.code:
        raise OriginalError(before.last_words)
    fitted = _place(trial, work / "fitted")
    verdict = Verdict(trial.folder.name, adapt(str(fitted / trial.script), contract=trial.contract, write=True))
    again = adapt(str(fitted / trial.script), contract=trial.contract)
    if again.changed:
        verdict.without_options.append(f"a second adapt changes {', '.join(again.changed)}")
    at_home = shutil.copytree(fitted, work / "at-home", ignore=shutil.ignore_patterns("*.orig"))
    _add_home(trial, at_home)
    after = _run(trial, at_home)
    verdict.without_options += _differences(before, after, before.lines, after.lines)
    moved = _timeless(before.files) ^ _timeless(after.files)
    verdict.without_options += [f"{name} is only in one of both" for name in sorted(moved)]

    output = work / "output"
    given = _inputs(trial)
    straight = _run_with_options(trial, fitted, work / "straight", output)
    verdict.with_options += [f"{name} is written to the inputs" for name in sorted(_inputs(trial) - given)]
    made = {name: content for name, content in _files(output).items() if not _OWN.search(name)}
    if straight.code:
        verdict.with_options.append(straight.last_words)
        return verdict
    stray = [name for name, content in straight.files.items() if _files(fitted).get(name) != content]
    verdict.with_options += [f"{name} lies outside of the output folder" for name in stray]
    chance = random.Random(seed)
    for _ in range(trial.kills):
        verdict.killed += _kill(trial, fitted, work / "killed", output, chance, straight, made)
    return verdict


def _kill(
    trial: Trial, fitted: Path, place: Path, output: Path, chance: random.Random, straight: Ran, made: dict[str, str]
) -> list[str]:
    """What is wrong with a training that was killed twice and then left to its end."""
    shutil.rmtree(output, ignore_errors=True)
    said = max(2, len(straight.lines))
    ends = [chance.randint(max(1, said // 6), said * 5 // 6) for _ in range(2)]
    for end in ends:
        _run_with_options(trial, fitted, place, output, goes_on=True, kill_at=end)
    last = _run_with_options(trial, fitted, place, output, goes_on=True)
    where = f"killed at lines {ends}"
    if last.code:
        return [f"{where}: {last.last_words}"]
    count = min(len(straight.lines), len(last.lines), _LAST_LINES)
    wrong = _differences(
        straight, last, straight.lines[len(straight.lines) - count :], last.lines[-count:] if count else []
    )
    kept = _files(output)
    wrong += [f"{name} is another or missing" for name, content in made.items() if kept.get(name) != content]
    return [f"{where}: {each}" for each in wrong]


def _run_with_options(
    trial: Trial, fitted: Path, place: Path, output: Path, *, goes_on: bool = False, kill_at: int = 0
) -> Ran:
    """A stint on a machine that has the code and what the options name, and nothing else."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(fitted, place, ignore=shutil.ignore_patterns("*.orig"))
    if not goes_on:
        shutil.rmtree(output, ignore_errors=True)
    output.mkdir(exist_ok=True)
    given = [f"--{name}={trial.folder / path}" for name, path in trial.options.items()]
    return _run(trial, place, *given, f"--{_OUTPUT.get(trial.contract, 'train_url')}={output}", kill_at=kill_at)


def _run(trial: Trial, place: Path, *options: str, kill_at: int = 0) -> Ran:
    folder = place / trial.cwd
    script = os.path.relpath(place / trial.script, folder)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
    environ |= {
        "CUDA_VISIBLE_DEVICES": "", "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "TQDM_DISABLE": "1",
    }  # fmt: skip
    with subprocess.Popen(
        [trial.python, str(SCRIPTS / "seeded.py"), script, *trial.args, *options],
        cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        start_new_session=True,
    ) as child:  # fmt: skip
        late = threading.Timer(trial.limit_s, _end, (child,))
        late.start()
        lines: list[str] = []
        warned = False
        assert child.stdout is not None
        for line in child.stdout:
            # Below a warning stands the line of code that it is about.
            if not (warned and line.startswith("  ")):
                lines += _results_of(line.replace(str(place), ""))
            warned = "Warning: " in line
            if kill_at and len(lines) >= kill_at:
                _end(child)
        code = child.wait()
        late.cancel()
    return Ran(code, lines, _files(place))


def _results_of(line: str) -> list[str]:
    """What a line tells of the training, if anything."""
    found = []
    for part in re.split(r"[\r\x08]+", _COLOUR.sub("", line.rstrip())):
        way = _UNDER_WAY.search(part)
        if part.strip() and not _ASIDE.search(part) and (way is None or way[1] == way[2]):
            found.append(_PASSING.sub("…", part.rstrip()))
    return found


def _end(child: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _place(trial: Trial, place: Path, *, at_home: bool = False) -> Path:
    shutil.copytree(trial.folder / trial.code, place)
    if at_home:
        _add_home(trial, place)
    return place


def _add_home(trial: Trial, place: Path) -> None:
    if trial.home:
        shutil.copytree(trial.folder / trial.home, place, dirs_exist_ok=True)


def _files(place: Path) -> dict[str, str]:
    """Every file with a digest of its content."""
    found = {}
    for folder, _, names in os.walk(place):
        for name in names:
            path = Path(folder, name)
            if path.suffix not in (".pyc", ".orig") and path.is_file():
                found[str(path.relative_to(place))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def _inputs(trial: Trial) -> set[str]:
    """What lies in the folders around all inputs: a platform's are read, and lost behind a run."""
    places = [trial.folder / path for path in trial.options.values()]
    folders = {place if place.parent == trial.folder else place.parent for place in places}
    return {str(path) for folder in folders for path in folder.rglob("*")}


def _timeless(files: Iterable[str]) -> set[str]:
    """Names without their numbers: `runs/Nov18_07-37-17/log.txt` is another one in each start."""
    return {re.sub(r"[A-Z][a-z]{2}\d\d|\d+", "#", name) for name in files}


def _differences(one: Ran, other: Ran, expected: list[str], said: list[str]) -> list[str]:
    if other.code != one.code:
        return [other.last_words]
    for first, second in zip(expected, said, strict=False):
        if first != second:
            return [f"printed {second!r} instead of {first!r}"]
    return [] if len(expected) == len(said) else [f"printed {len(said)} lines instead of {len(expected)}"]
