"""Which files have the processes of a stint open for writing? Read from /proc, without privileges."""

from __future__ import annotations

import os
from typing import Dict, Iterable, NamedTuple, Optional, Set, Tuple

Inode = Tuple[int, int]  # device, inode number

_PROC = "/proc"


class Writer(NamedTuple):
    """A process that can still write to a file."""

    pid: int
    appends: bool  # opened with O_APPEND, as logs are


def open_for_writing(pids: Iterable[int], inodes: Set[Inode]) -> Set[Inode]:
    """Those of `inodes` that one of `pids` has open for writing."""
    return set(find_writers(pids, inodes))


def find_writers(pids: Iterable[int], inodes: Set[Inode]) -> Dict[Inode, Writer]:
    """One writer for each of `inodes` that has any.

    Processes may vanish meanwhile, and what /proc does not show (another system, another user) counts as closed:
    the caller's other evidence has to do then.
    """
    found: Dict[Inode, Writer] = {}
    if not inodes:
        return found
    for pid in pids:
        folder = "%s/%d/fd" % (_PROC, pid)
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            inode = _inode_of(folder, name)
            if inode is None or inode not in inodes:
                continue
            writer = _writer_of(pid, name)
            if writer is not None:
                found.setdefault(inode, writer)
    return found


def _inode_of(folder: str, name: str) -> Optional[Inode]:
    path = "%s/%s" % (folder, name)
    try:
        # Sockets, pipes and anonymous files have no path: most descriptors of a training are one of these.
        if not os.readlink(path).startswith("/"):
            return None
        seen = os.stat(path)
    except OSError:
        return None
    return seen.st_dev, seen.st_ino


def _writer_of(pid: int, name: str) -> Optional[Writer]:
    try:
        with open("%s/%d/fdinfo/%s" % (_PROC, pid, name), "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith(b"flags:"):
            flags = int(line.split()[1], 8)
            if flags & os.O_ACCMODE == os.O_RDONLY:
                return None
            return Writer(pid, bool(flags & os.O_APPEND))
    return None
