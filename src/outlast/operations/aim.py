"""Aim repositories that were kept with a run: fetched, and shown by Aim's own page.

Aim is never needed to keep or to fetch a repository, only to look at it.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import IO, Any

from outlast.errors import NotFoundError, StoreError, UsageError
from outlast.inside import layout
from outlast.inside.blobs import Blobs
from outlast.inside.errors import NotFound
from outlast.inside.records import Manifest
from outlast.keeper.home import Home
from outlast.keeper.observe import RunFolder
from outlast.operations.aim_place import OWN_PLACE
from outlast.operations.faults import spoken
from outlast.operations.locate import locate
from outlast.settings import Settings

INSTALL = "pip install 'outlast[aim]'  (Linux and macOS, Python up to 3.12)"


def fetch_repository(settings: Settings, ref: str, to: Path | None = None) -> Path:
    """Bring the Aim repository of a run to a folder (by default one in the home) and return what Aim calls its path.

    It is the final one, or that of the last checkpoint while the run goes on; what was there before is replaced.
    """
    found = locate(settings, ref)
    folder = found.folder()
    place = folder.spec.get("aim")
    if not place:
        raise UsageError(
            f"run {found.run} keeps no Aim repository", hint="start one that does with: outlast run … --aim"
        )
    with spoken(f"the Aim repository of {found.run}"):
        files = {path: file for path, file in _files(folder).items() if path.startswith(f"{place}/")}
        if not files:
            raise NotFoundError(
                f"run {found.run} has written nothing to its Aim repository yet",
                hint="it is committed with each checkpoint and at the end",
            )
        target = to if to is not None else Home(settings.home).cache / "aim" / found.run
        _replace(target, place, files, Blobs(folder.store))
    # Aim looks for a folder `.aim` in the path it is given.
    return target.parent if place == OWN_PLACE else target


def _files(folder: RunFolder) -> dict[str, dict[str, Any]]:
    try:
        return Manifest.from_bytes(folder.store.get(layout.outputs_key(folder.run))).files
    except NotFound:
        pass
    if not folder.checkpoints:
        return {}
    return Manifest.from_bytes(folder.store.get(layout.checkpoint_key(folder.run, folder.checkpoints[-1]))).files


def _replace(target: Path, place: str, files: dict[str, dict[str, Any]], blobs: Blobs) -> None:
    for path in files:
        if ".." in PurePosixPath(path).parts:
            raise StoreError(f"a manifest names {path!r}, which is no path inside a folder", retryable=False)
    if target.exists() and not _is_ours(target):
        raise UsageError(f"{target} holds something else than an Aim repository", hint="choose a new or empty folder")
    shutil.rmtree(target, ignore_errors=True)
    for path, file in sorted(files.items()):
        to = target / PurePosixPath(path).relative_to(place)
        to.parent.mkdir(parents=True, exist_ok=True)
        blobs.get_file(file["sha256"], int(file["size"]), str(to), int(file.get("mode", 0o644)) | 0o200)


def _is_ours(target: Path) -> bool:
    """Empty, or an Aim repository: only that may be replaced."""
    return target.is_dir() and (
        not any(target.iterdir()) or (target / ".aim").is_dir() or (target / "VERSION").exists()
    )


def aim_command() -> list[str]:
    """How Aim is started here: beside our Python, or on the path. `UsageError` says how to get it."""
    beside = Path(sys.executable).with_name("aim")  # an environment need not be on the path
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("aim")
    if found is not None:
        return [found]
    raise UsageError(
        "Aim is not installed here", hint=f"get it with: {INSTALL}, or keep the repository: outlast aim RUN --to FOLDER"
    )


def start_aim(
    command: list[str], repository: Path, port: int | None, said: IO[bytes]
) -> tuple[subprocess.Popen[bytes], str]:
    """Start Aim's page on loopback over a repository; returns its process, which leads a group, and the address.

    What Aim says goes to the file `said`.
    """
    chosen = port if port is not None else _free_port()
    serve = [*command, "up", "--repo", str(repository), "--host", "127.0.0.1", "--port", str(chosen), "--yes"]
    process = subprocess.Popen(
        serve, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
    )
    return process, f"http://127.0.0.1:{chosen}"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
