"""Files of the server's own machine from bytes that come one after the other."""

from __future__ import annotations

import fcntl
import os
import posixpath
from collections.abc import Iterable
from io import FileIO

from outlast.inside.move.aside import Aside, make_folders
from outlast.webhdfs.refusals import Refusal


def put_file(path: str, pieces: Iterable[bytes], if_absent: bool) -> bool:
    """Write a file that appears whole or not at all. False when `if_absent` and something has the name by then."""
    make_folders(posixpath.dirname(path))
    with Aside(path) as aside:
        for piece in pieces:
            aside.write(piece)
        if not if_absent:
            aside.commit()
            return True
        try:
            os.link(aside.path, path)
        except FileExistsError:
            return False
    return True


def grow_file(path: str, pieces: Iterable[bytes]) -> None:
    """Add bytes, all or none of them; one writer at a time."""
    with FileIO(os.open(path, os.O_WRONLY | os.O_CLOEXEC), "wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refusal("AlreadyBeingCreatedException", f"somebody else is writing to {path}") from None
        end = file.seek(0, os.SEEK_END)
        try:
            for piece in pieces:
                view = memoryview(piece)
                while view:
                    view = view[file.write(view) :]
        except BaseException:
            file.truncate(end)
            raise
