"""What a user should know before a run that can work, but perhaps not as they think."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from outlast.model.quantities import format_duration
from outlast.model.spec import DEFAULT_CHECKPOINT
from outlast.operations.inputs import FoundInput
from outlast.operations.said import Sayings

if TYPE_CHECKING:
    from outlast.operations.resolve import Resolved

#: it uses outlast itself, or `outlast adapt` has taught it where its checkpoints go
_KNOWS_OUTLAST = re.compile(r"^\s*(?:import|from)\s+outlast\b|\bOUTLAST_CHECKPOINT\b", re.MULTILINE)
#: the option by which scripts of a contract take the folder of their results
_RESULTS = {"modelarts": "train_url", "modelarts-v1": "train_url", "xihe": "output_path"}
#: what a script needs to hear of an option, or of the folders and addresses that a contract has besides
_HEARS = re.compile(
    r"\b(?:argv|argparse|ArgumentParser|optparse|getopt|docopt|absl|gflags|FLAGS|click|typer|fire|hydra|tyro|Tap|plac|"
    r"simple_parsing|jsonargparse|sacred|\w*CLI|moxing|outlast|CONTRACT_\w+|OUTLAST_\w+|MA_\w+|DLS_\w+|VC_\w+)\b"
    r"|obs://|/cache|\binputs/"
)
_IMPORTED = re.compile(r"^\s*(?:from|import)\s+(\.*\w[\w.]*)", re.MULTILINE)
_SECRET = re.compile(r"token|secret|passw|credential|(?:api|access|private)[_-]?key", re.IGNORECASE)
_MANY_MODULES = 100
_MODULE_CHARACTERS = 1 << 20  # the script may be a program of any size


def find_notices(resolved: Resolved, said: Sayings, found: Sequence[FoundInput]) -> tuple[str, ...]:
    """One sentence for each thing worth a second look; none of them stops the run."""
    notices = []
    place = said.get("checkpoint")
    # The first generation of ModelArts saves by uploading, which is noticed.
    is_known = resolved.checkpoint != DEFAULT_CHECKPOINT or resolved.contract == "modelarts-v1"
    if resolved.limit_s is not None and not is_known and not _knows_outlast(resolved.folder / resolved.script):
        notices.append(
            f"no --checkpoint is given and {resolved.script} does not import outlast: unless it ends within "
            f"{format_duration(resolved.limit_s)}, the run fails at the first limit; name the place it saves to with "
            "--checkpoint PATH"
        )
    option = _RESULTS.get(resolved.contract, "")
    is_given = any(each.name == option for each in resolved.outputs)
    if option and not is_given and _takes(resolved.folder / resolved.script, option):
        notices.append(
            f"{resolved.script} takes --{option} for its results, and no output of that name is given: they are not "
            f"brought home; name a place for them with --output {option}=./out"
        )
    names = dict.fromkeys([*(each.name for each in resolved.inputs), *(each.name for each in resolved.outputs)])
    unheard = " and ".join(f"--{name}" for name in names if name)
    if option and unheard and not _hears(resolved.folder / resolved.script):
        notices.append(
            f"{resolved.script} reads no arguments and will not see {unheard}; teach it to use them: "
            f"outlast adapt {resolved.script} --contract {resolved.contract}"
        )
    if place is not None and _holds_files(resolved.folder / resolved.checkpoint):
        notices.append(f"{resolved.checkpoint} holds files here; they are not packed: the run starts without them")
    if resolved.max_stints is not None and resolved.limit_s is None:
        notices.append("--stints has little to count without --limit: a stint lasts until the script ends")
    for given in found:
        if given.path.startswith("../") and said.request.cwd != resolved.folder:
            notices.append(f"{given.where} is found by the script at {given.path}, seen from its own folder")
    for kind, values in (("variable", resolved.env), ("parameter", resolved.params)):
        for name, value in values.items():
            if value and _SECRET.search(name):
                notices.append(
                    f"the {kind} {name} looks like a secret and is kept in plain text; to hide it, set it here and use "
                    f"--secret {name}"
                )
    return tuple(notices)


def _knows_outlast(script: Path) -> bool:
    """Whether the script, or a module beside it, saves where outlast looks."""
    beside = sorted(script.parent.glob("*.py"))[:_MANY_MODULES]
    return any(_KNOWS_OUTLAST.search(_read(path)) for path in (script, *beside))


def _hears(script: Path) -> bool:
    """Whether the script, or a module of its own that it imports, may hear of the contract: in doubt it does."""
    text = _read(script)
    roots = {name.partition(".")[0] for name in _IMPORTED.findall(text)}
    packages = [script.parent / root for root in roots if root and (script.parent / root).is_dir()]
    modules = [path for root in roots if (path := script.parent / f"{root}.py").is_file()]
    below = [path for package in packages for path in itertools.islice(package.rglob("*.py"), _MANY_MODULES)]
    return bool(_HEARS.search(text)) or any(_HEARS.search(_read(path)) for path in (*modules, *below))


def _takes(script: Path, option: str) -> bool:
    return re.search(rf"""["']--{option}["']""", _read(script)) is not None


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MODULE_CHARACTERS)
    except OSError:
        return ""


def _holds_files(place: Path) -> bool:
    try:
        return place.is_file() or any(place.iterdir())
    except OSError:
        return False
