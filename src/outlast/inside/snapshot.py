"""Files as they are now, held still while their bytes go up, without making the script wait."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from typing import List, NamedTuple, Sequence

from .errors import Changed
from .faults import explain
from .seen import SeenFile, see

#: Checkpoint files up to this size are copied: cheap, and a small file rewritten in place cannot spoil the set.
COPY_BELOW_BYTES = 1 << 20
#: Outputs up to this size are copied: they grow in place (event files, logs) and are wanted as they are now.
COPY_OUTPUT_BELOW_BYTES = 64 << 20
# The kernel stamps mtime with its tick (up to 10 ms): a younger file could change without its mtime telling.
SETTLE_NS = 20_000_000
_FICLONE = 0x40049409


class Shot(NamedTuple):
    """One file of a snapshot."""

    seen: SeenFile
    path: str  # where its bytes are held
    is_linked: bool  # shares its bytes with the original: they may still change under us
    is_settled: bool  # its mtime was old enough to tell any later change


class Snapshot:
    """A folder that holds files still. `discard` it when the bytes are up."""

    def __init__(self, folder: str, shots: List[Shot]) -> None:
        self.folder = folder
        self.shots = shots

    def discard(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def take_snapshot(root: str, files: Sequence[SeenFile], scratch: str, outputs: Sequence[SeenFile] = ()) -> Snapshot:
    """Hold `files` as they were seen, and `outputs` as they are, in the new folder `scratch`.

    By reflink where the file system can, else by hard link, else (other file system, or small) by copy. `Changed`
    when one of `files` is no longer what was seen; an output that is gone is left out.
    """
    try:
        os.makedirs(scratch)
    except OSError as error:
        raise explain(error, scratch) from None
    snapshot = Snapshot(scratch, [])
    try:
        for seen in files:
            snapshot.shots.append(_hold(root, seen, _name(snapshot), COPY_BELOW_BYTES))
            check_shot(root, snapshot.shots[-1])
        for seen in outputs:
            now = see(root, seen.path)
            if now is not None:
                with contextlib.suppress(Changed):
                    shot = _hold(root, now, _name(snapshot), COPY_OUTPUT_BELOW_BYTES)
                    is_steady = shot.is_settled and see(root, now.path) == now
                    snapshot.shots.append(shot._replace(is_settled=is_steady))
    except BaseException:
        snapshot.discard()
        raise
    return snapshot


def check_seen(root: str, seen: SeenFile) -> None:
    """`Changed` when a file is no longer what was seen."""
    now = see(root, seen.path)
    if now is None:
        raise Changed("%s vanished while it was being committed" % seen.path)
    if now.identity != seen.identity:
        raise Changed("%s was rewritten while it was being committed" % seen.path)


def check_shot(root: str, shot: Shot) -> None:
    """`Changed` when the held bytes may not be those that were seen.

    A link follows its file through renames and deletion, so the link is asked; a copy was made from the original,
    which must still be there right afterwards.
    """
    if not shot.is_linked:
        check_seen(root, shot.seen)
        return
    found = os.stat(shot.path)
    if (found.st_size, found.st_mtime_ns, found.st_ino) != shot.seen[1:4]:
        raise Changed("%s was rewritten while it was being committed" % shot.seen.path)


def copy_shot(shot: Shot) -> Shot:
    """Turn a link into a copy of what it holds at this moment."""
    solid = shot.path + ".copy"
    try:
        shutil.copyfile(shot.path, solid)
    except OSError as error:
        raise explain(error, solid) from None
    return shot._replace(path=solid, is_linked=False)


def solidify(root: str, shot: Shot) -> Shot:
    """`copy_shot` for files that a script rewrites in place faster than they can go up; `Changed` if it did."""
    solid = copy_shot(shot)
    check_shot(root, shot)
    return solid


def unsettled_s(seen: SeenFile) -> float:
    """How long to wait until this file's mtime tells every change; zero for nearly all files."""
    age_ns = time.time_ns() - seen.mtime_ns
    return (SETTLE_NS - age_ns) / 1e9 if 0 <= age_ns < SETTLE_NS else 0.0


def _name(snapshot: Snapshot) -> str:
    return os.path.join(snapshot.folder, "%06d" % len(snapshot.shots))


def _hold(root: str, seen: SeenFile, target: str, copy_below: int) -> Shot:
    source = os.path.realpath(os.path.join(root, seen.path))
    is_settled = unsettled_s(seen) == 0.0
    try:
        if _clone(source, target):
            return Shot(seen, target, False, is_settled)
        if seen.size > copy_below and _link(source, target):
            return Shot(seen, target, True, is_settled)
        try:
            shutil.copyfile(source, target)
        except OSError:
            # No room for a copy: a link needs none.
            _remove(target)
            if not _link(source, target):
                raise
            return Shot(seen, target, True, is_settled)
    except FileNotFoundError:
        raise Changed("%s vanished while it was being committed" % seen.path) from None
    except OSError as error:
        raise explain(error, str(error.filename or target)) from None
    return Shot(seen, target, False, is_settled)


def _clone(source: str, target: str) -> bool:
    """Share the blocks until one side writes (btrfs, XFS); False where the file system cannot."""
    with open(source, "rb") as original, open(target, "wb") as copy:
        try:
            fcntl.ioctl(copy.fileno(), _FICLONE, original.fileno())
            return True
        except OSError:
            _remove(target)
            return False


def _link(source: str, target: str) -> bool:
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        return False
    return True


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
