"""`outlast doctor`: what this machine has, what is missing, and how to get it."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from outlast.inside import sandbox
from outlast.inside.environment import find_uv
from outlast.inside.stores import is_remote
from outlast.model.quantities import format_size

_FICLONE = 0x40049409
_LOW_DISK_BYTES = 2 << 30
_TOOL_LIMIT_S = 10.0
_MAKE_ROOM = "checkpoints need room: free some, or run `outlast gc`"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `ok` is None for what is fine to be without."""

    name: str
    ok: bool | None
    value: str
    advice: str = ""  # how to get it, or what goes better with it


def examine(home: Path, store: str = "") -> list[Finding]:
    """Look at this machine and this home folder. Changes nothing but a file that it removes again."""
    return [
        _python(),
        *_home(home),
        *_store(home, store),
        _bubblewrap(),
        _container(),
        _uv(),
        _tool("git", "git", "install it with: apt install git (needed for repositories only)"),
        *_machine(),
        _keyring(home),
    ]


def _python() -> Finding:
    version = ".".join(str(part) for part in sys.version_info[:3])
    return Finding("python", True, f"{version} ({sys.executable})")


def _home(home: Path) -> list[Finding]:
    from outlast.errors import HomeError
    from outlast.keeper.home import Home

    found = _folder("home folder", home, "set OUTLAST_HOME to a folder you can write to")
    if found[0].ok and (home / "version.json").exists():
        try:
            Home(home)
        except HomeError as error:
            return [Finding("home folder", False, error.message, error.hint), *found[1:]]
    return found


def _folder(what: str, folder: Path, advice: str) -> list[Finding]:
    """Can it be written to, how much room is there, does copying cost room? A missing folder: its parent is asked."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with tempfile.TemporaryDirectory(dir=there, prefix=".outlast-doctor-") as scratch:
            reflinks = _can_reflink(Path(scratch))
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        return [Finding(what, False, f"{folder}: {error.strerror}", _MAKE_ROOM if full else advice)]
    free = shutil.disk_usage(there).free
    low = free < _LOW_DISK_BYTES
    disk = Finding(
        f"{what}: disk",
        not low,
        f"{format_size(free)} free",
        _MAKE_ROOM if low else "",
    )
    links = Finding(
        f"{what}: reflinks",
        True if reflinks else None,
        "yes: a snapshot of a checkpoint is instant" if reflinks else "no: snapshots are hard links or copies",
        "" if reflinks else "xfs and btrfs have them",
    )
    return [Finding(what, True, str(folder)), disk, links]


def _can_reflink(scratch: Path) -> bool:
    source, target = scratch / "a", scratch / "b"
    source.write_bytes(b"x" * 4096)
    try:
        with source.open("rb") as reader, target.open("wb") as writer:
            fcntl.ioctl(writer, _FICLONE, reader.fileno())
    except OSError:
        return False
    return True


def _store(home: Path, store: str) -> list[Finding]:
    from outlast.inside.errors import InsideError
    from outlast.inside.staging import source_path

    if not store or store == (home / "store").as_uri():
        return [Finding("store", True, f"in the home folder ({home / 'store'})")]
    if is_remote(store):
        return [_remote_store(home, store)]
    try:
        return _folder("store", Path(source_path(store)), "set the setting `store` to a folder you can write to")
    except InsideError as error:
        return [Finding("store", False, f"{store}: {error}", "set the setting `store` to a file:// address")]


def _remote_store(home: Path, store: str) -> Finding:
    """One small write, read and removal tell more than any look at the settings."""
    from outlast.errors import OutlastError
    from outlast.keeper.accesses import Accesses
    from outlast.keeper.home import Home
    from outlast.operations.faults import spoken
    from outlast.store.probe import probe_store

    try:
        with spoken("trying it"):
            probe_store(Accesses(Home(home)).open(store))
    except OutlastError as error:
        return Finding("store", False, f"{store}: {error.message}", error.hint or "see: outlast whoami --check")
    return Finding("store", True, f"{store}: it can be written and read")


def _bubblewrap() -> Finding:
    path = sandbox.find_bwrap()
    works, why = sandbox.usable(path)
    if works:
        return Finding("bubblewrap", True, f"{_version([str(path), '--version'])}: scripts run in a sandbox")
    advice = sandbox.HOW_TO_GET if path is None else "allow unprivileged user namespaces, or run without a sandbox"
    return Finding("bubblewrap", False, why, advice)


def _container() -> Finding:
    for tool in ("podman", "docker"):
        if shutil.which(tool):
            return Finding("containers", True, _version([tool, "--version"]))
    return Finding("containers", None, "neither podman nor docker", "install one to run in images: apt install podman")


def _uv() -> Finding:
    path = find_uv()
    if path is None:
        return Finding("uv", None, "not installed: pip is used instead", "environments in seconds: pip install uv")
    return Finding("uv", True, _version([path, "--version"]))


def _tool(name: str, command: str, advice: str) -> Finding:
    if shutil.which(command) is None:
        return Finding(name, None, "not installed", advice)
    return Finding(name, True, _version([command, "--version"]))


def _version(command: list[str]) -> str:
    """The first line that a tool prints about itself."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TOOL_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "installed, does not answer"
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0] if lines and done.returncode == 0 else "installed, does not answer"


def _machine() -> list[Finding]:
    from outlast.platforms.local.machine import Machine

    machine = Machine.look()
    cpus = len(machine.cpu_list)
    all_cpus = os.cpu_count() or cpus
    return [
        Finding("cpus", True, f"{cpus}" if cpus == all_cpus else f"{cpus} of {all_cpus} may be used"),
        Finding("memory", True, format_size(machine.memory_bytes)),
        _cards("NVIDIA cards", machine.gpus, "nvidia-smi"),
        _cards("Ascend cards", machine.npus, "npu-smi"),
    ]


def _cards(name: str, indexes: tuple[str, ...], tool: str) -> Finding:
    if indexes:
        return Finding(name, True, f"{len(indexes)} (number {', '.join(indexes)})")
    if shutil.which(tool):
        return Finding(
            name, False, f"none, though {tool} is installed", f"see what `{tool}` says; is the driver loaded?"
        )
    return Finding(name, None, "none", f"cards are found by {tool}, which comes with the driver")


def _keyring(home: Path) -> Finding:
    from outlast.store.keyrings import open_keyring

    keyring = open_keyring(home)
    if keyring is None:
        value = "none: keys of stores are kept in a file that only you can read"
        return Finding("keyring", None, value, "where there is a desktop: pip install 'outlast[keyring]'")
    return Finding("keyring", True, keyring.name)
