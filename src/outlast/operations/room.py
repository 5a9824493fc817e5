"""Room on the disks that a run needs: asked before it starts, and said while it waits for more."""

from __future__ import annotations

import os
from pathlib import Path

from outlast.errors import StoreError
from outlast.inside.errors import InsideError
from outlast.inside.staging import source_path
from outlast.keeper.home import Home
from outlast.model.quantities import format_size

#: The index, the log and the records of a first stint take about a megabyte; a checkpoint takes more.
LEAST_BYTES = 8 << 20
#: With less than this nothing can be written that a run needs to go on.
_FULL_BYTES = 64 << 10


def require_room(home: Home, store: str, pack_bytes: int, input_bytes: int = 0) -> None:
    """Refuse a run for which there is no room, before anything of it is written.

    `input_bytes` are those that will be fetched into the home's cache.
    """
    for folder in _folders(home, store):
        needed = LEAST_BYTES + 2 * pack_bytes  # the archive, and its copy in the store
        needed += input_bytes if folder == home.path else 0
        free = _free_bytes(folder)
        if free is not None and free < needed:
            raise StoreError(
                f"the disk that holds {folder} has {format_size(free)} left; this run needs at least "
                f"{format_size(needed)} to start",
                hint="free some space, for example with: outlast gc",
                retryable=False,
            )


def full_disk_notice(home: Home, store: str) -> str:
    """A sentence when a run cannot go on for want of room, else nothing. The keeper itself could not write it down."""
    for folder in _folders(home, store):
        free = _free_bytes(folder)
        if free is not None and free < _FULL_BYTES:
            return f"the disk is full ({folder}): the run waits for room; free some, for example with: outlast gc"
    return ""


def _folders(home: Home, store: str) -> list[Path]:
    folders = [home.path]
    try:
        place = Path(source_path(store))
    except InsideError:  # not a folder of this machine
        return folders
    return folders if place.is_relative_to(home.path) else [*folders, place]


def _free_bytes(folder: Path) -> int | None:
    """What this user may still write there; None when the file system does not say."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        room = os.statvfs(there)
    except OSError:
        return None
    return room.f_bavail * room.f_frsize if room.f_blocks else None
