"""How a file of this machine appears whole or not at all: written aside in the same folder, then renamed.

The writer holds a lock on its part, so what a killed process left behind can be told from what is being written.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import Iterable, Optional

from ..errors import RequestError
from ..faults import explain

PART = ".outlast-part-"


class Aside:
    """A new file beside its target. `commit` gives it the name; leaving without that forgets the bytes."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.fd = -1
        self.path = ""
        try:
            while not self._create():
                pass
        except OSError as error:
            self._close()
            raise explain(error, target) from None

    def __enter__(self) -> Aside:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
        if self.path:
            with contextlib.suppress(OSError):
                os.unlink(self.path)

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self.fd, view) :]

    def commit(self, modified_ns: int = 0, mode: Optional[int] = None) -> None:
        """Rename to the target, replacing a file or link that is there. A folder there is an error."""
        if mode is not None:
            os.fchmod(self.fd, mode)
        if modified_ns:
            os.utime(self.fd, ns=(modified_ns, modified_ns))
        os.replace(self.path, self.target)
        self.path = ""

    def _create(self) -> bool:
        """False when `sweep` took the new file for a left-over before it was locked."""
        self._close()
        path = os.path.join(os.path.dirname(self.target), PART + os.urandom(6).hex())
        # Not mkstemp: its mode 0600 would lock colleagues out of a shared folder; the umask decides.
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        self.path = path
        with contextlib.suppress(OSError):  # some file systems have no locks: there nothing is ever swept either
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(self.fd).st_nlink > 0

    def _close(self) -> None:
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)


def is_part(name: str) -> bool:
    """True for a file that is being written or fetched. Such names are never listed, copied or compared."""
    return ".outlast-part" in name and name.startswith(".")


def sweep(folders: Iterable[str]) -> None:
    """Remove the parts that killed processes left in these folders; those being written stay."""
    for folder in folders:
        try:
            names = [name for name in os.listdir(folder) if name.startswith(PART)]
        except OSError:
            continue
        for name in names:
            _remove_unlocked(os.path.join(folder, name))


def _remove_unlocked(path: str) -> None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    except OSError:
        return
    finally:
        os.close(fd)


def make_folders(folder: str) -> None:
    """Make a folder and what is missing above it; `RequestError` when a file is in the way."""
    try:
        os.makedirs(folder, exist_ok=True)
    except FileExistsError:
        raise RequestError("%s cannot be made: a file is in the way" % folder) from None
    except OSError as error:
        raise explain(error, folder) from None
