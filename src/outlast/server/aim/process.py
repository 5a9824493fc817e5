"""How Aim is started for one repository: in a sandbox, without a network, behind a socket that only we can open.

Aim evaluates Python that its users type, and opens whatever a training has written: it sees its own repository and
programs, and nothing of this server.
"""

from __future__ import annotations

import functools
from pathlib import Path

from outlast.errors import OutlastError, UsageError
from outlast.inside.place import Place
from outlast.inside.sandbox import HOW_TO_GET, bwrap_command, find_bwrap, usable
from outlast.operations.aim import INSTALL, aim_command

_ENVIRON = {"HOME": "/tmp", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", "AIM_UI_TELEMETRY_ENABLED": "0"}


@functools.cache
def require_aim() -> Path:
    """Aim's program; `UsageError` says what this machine lacks. Looked for once: every request asks."""
    try:
        program = Path(aim_command()[0])
    except OutlastError:
        raise UsageError("Aim is not installed on this server", hint=f"its admin gets it with: {INSTALL}") from None
    works, why = usable(find_bwrap())
    if not works:
        raise UsageError(f"Aim is shown from a sandbox only, and {why}", hint=HOW_TO_GET)
    return program


@functools.cache
def has_aim() -> bool:
    """Whether Aim's interface can be opened here."""
    try:
        return bool(require_aim())
    except UsageError:
        return False


def environ() -> dict[str, str]:
    return dict(_ENVIRON)


def aim_in_sandbox(folder: Path, repository: Path, socket: Path, base: str, hidden: list[Path]) -> list[str]:
    """The command that serves a repository at a socket, as if everything lay below the path `base`.

    `folder` holds both, and a /tmp of its own; `hidden` folders are not there for it.
    """
    program = require_aim()
    argv = [str(program), "up", "--repo", str(repository), "--uds", str(socket), "--base-path", base]
    argv += ["--workers", "1", "--read-only", "--yes"]
    place = Place(
        store="", run="", stint=0, token="", work=str(folder), shared=str(folder), cache="",
        hide=[str(each) for each in hidden],
    )  # fmt: skip
    return bwrap_command(
        place, argv, code_dir=str(repository), writable=[str(repository), str(socket.parent)],
        readonly=_programs(program, hidden), binds=(), network=False,
    )  # fmt: skip


def _programs(program: Path, hidden: list[Path]) -> list[str]:
    """The folders that Aim needs to start, its environment and the Python below it, unless they hold what is hidden."""
    found = (program.parent.parent, (program.parent / "python").resolve().parent.parent)
    covered = [each.resolve() for each in hidden]
    return [str(each) for each in found if not any(inner.is_relative_to(each.resolve()) for inner in covered)]
