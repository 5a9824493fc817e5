"""Removing what a stint left behind, whatever its script did to it."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Any


def remove_tree(path: Path) -> None:
    """Remove a folder, also one whose script took away its own permissions, and one that its owner is removing too."""

    def make_way(verb: Any, name: str, error: tuple[type[BaseException], BaseException, Any]) -> None:
        if isinstance(error[1], FileNotFoundError):
            return
        if isinstance(error[1], OSError) and error[1].errno == errno.ENOTEMPTY:
            shutil.rmtree(name, onerror=make_way)
            return
        if not isinstance(error[1], PermissionError):
            raise error[1]
        # To list a folder takes rights on it, to remove an entry takes rights on the folder that holds it.
        listing = verb in (os.open, os.scandir)
        (Path(name) if listing else Path(name).parent).chmod(0o700)
        shutil.rmtree(name, onerror=make_way) if listing else verb(name)

    shutil.rmtree(path, onerror=make_way)
