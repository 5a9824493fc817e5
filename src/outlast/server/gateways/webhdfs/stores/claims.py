"""One at a time for each name: not every store that promises to refuse a second writer of a new object does so when
both end at the same moment. Those who come through this server, in whichever of its processes, take turns."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
from collections.abc import Iterator
from pathlib import Path


class Claims:
    """Locks in a folder that the processes of a server share; names share the few files that there are."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextlib.contextmanager
    def held(self, name: str) -> Iterator[None]:
        """Nobody else is in a block for the same name."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:2]
        with path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
