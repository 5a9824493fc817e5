"""What a user should know before a run that can work, but perhaps not as they think."""

from __future__ import annotations

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

_IMPORTS_OUTLAST = re.compile(r"^\s*(?:import|from)\s+outlast\b", re.MULTILINE)
_SECRET = re.compile(r"token|secret|passw|credential|(?:api|access|private)[_-]?key", re.IGNORECASE)
_MANY_MODULES = 100
_MODULE_CHARACTERS = 1 << 20  # the script may be a program of any size


def find_notices(resolved: Resolved, said: Sayings, found: Sequence[FoundInput]) -> tuple[str, ...]:
    """One sentence for each thing worth a second look; none of them stops the run."""
    notices = []
    place = said.get("checkpoint")
    # The first generation of ModelArts saves by uploading, which is noticed.
    is_known = resolved.checkpoint != DEFAULT_CHECKPOINT or resolved.contract == "modelarts-v1"
    if resolved.limit_s is not None and not is_known and not _imports_outlast(resolved.folder / resolved.script):
        notices.append(
            f"no --checkpoint is given and {resolved.script} does not import outlast: unless it ends within "
            f"{format_duration(resolved.limit_s)}, the run fails at the first limit; name the place it saves to with "
            "--checkpoint PATH"
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


def _imports_outlast(script: Path) -> bool:
    """Whether the script, or a module beside it, uses outlast itself."""
    for path in (script, *sorted(script.parent.glob("*.py"))[:_MANY_MODULES]):
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                if _IMPORTS_OUTLAST.search(file.read(_MODULE_CHARACTERS)):
                    return True
        except OSError:
            continue
    return False


def _holds_files(place: Path) -> bool:
    try:
        return place.is_file() or any(place.iterdir())
    except OSError:
        return False
