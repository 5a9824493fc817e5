"""A file as it was at one look: enough to notice later that it changed."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple, Optional, Tuple

#: What must be equal for two looks to have met the same bytes: path, size, mtime_ns, inode.
Identity = Tuple[str, int, int, int]


class SeenFile(NamedTuple):
    """What identifies a state of a file without reading it."""

    path: str  # relative to the root it was seen under, with forward slashes
    size: int
    mtime_ns: int
    inode: int
    mode: int

    @property
    def identity(self) -> Identity:
        return (self.path, self.size, self.mtime_ns, self.inode)


def see(root: str, path: str) -> Optional[SeenFile]:
    """Look at `path` below `root`; None when there is no regular file (symbolic links are followed)."""
    try:
        found = os.stat(os.path.join(root, path))
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return SeenFile(
        path.replace(os.sep, "/"), found.st_size, found.st_mtime_ns, found.st_ino, stat.S_IMODE(found.st_mode)
    )
