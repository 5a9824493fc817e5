"""The home folder: what lies where, who may read it, and which version wrote it.

Imports only the standard library, because every command passes through here before it does anything.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from outlast import __version__
from outlast.errors import HomeError

#: Grows when an older version could no longer use the folder.
HOME_FORMAT = 1


class Home:
    """A home folder that exists, is private, can be written and was not made by a newer version.

    Opening an unusable one raises `HomeError` that names the folder and the way out.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.index = path / "index.db"
        self.lock = path / "keeper.lock"
        self.start_lock = path / "keeper.start"  # held from a keeper's start until it has the lock
        self.log = path / "keeper.log"
        self.fifo = path / "keeper.wake"
        self.inbox = path / "inbox"
        self.secrets = path / "secrets.json"
        self.work = path / "work"
        self.cache = path / "cache"
        self.points = self.cache / "points"  # columns of metrics; made when they are first read
        self.local = path / "local"
        with self.explained():
            self._require_writable()
            self.id = self._check_version()  # first: the folder of a newer version stays as it is
            self._prepare()

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Within this block, what the operating system refuses leaves as a `HomeError` with a way out."""
        try:
            yield
        except OSError as error:
            raise _unusable(self.path, error) from None

    def _require_writable(self) -> None:
        if not self.path.is_dir():
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)  # another command may be making it too
        if not os.access(self.path, os.W_OK | os.X_OK):
            read_only = os.statvfs(self.path).f_flag & os.ST_RDONLY
            raise OSError(errno.EROFS if read_only else errno.EACCES, "")

    def _prepare(self) -> None:
        for folder in (self.inbox, self.work, self.cache, self.local):
            folder.mkdir(mode=0o700, exist_ok=True)
        self._prepare_fifo()

    def _prepare_fifo(self) -> None:
        try:
            os.mkfifo(self.fifo, 0o600)
        except FileExistsError:
            # A copied home may carry a plain file here; writing to it would grow it for ever.
            if not stat.S_ISFIFO(self.fifo.stat().st_mode):
                self.fifo.unlink()
                os.mkfifo(self.fifo, 0o600)

    def _check_version(self) -> str:
        """The home's own id, from `version.json`, which is written the first time."""
        path = self.path / "version.json"
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            return self._write_version(path)
        try:
            body = json.loads(text)
            number, version, own_id = int(body["home_format"]), str(body["outlast"]), str(body["id"])
        except (ValueError, KeyError, TypeError):
            raise HomeError(
                f"{path} is damaged", hint=f"remove that file to go on; the runs in {self.path} are kept"
            ) from None
        if number > HOME_FORMAT:
            raise HomeError(
                f"the home folder {self.path} was written by outlast {version} (home format {number}); "
                f"this is outlast {__version__}, which reads up to format {HOME_FORMAT}",
                hint="upgrade outlast, or set OUTLAST_HOME to another folder",
            )
        return own_id

    def _write_version(self, path: Path) -> str:
        own_id = secrets.token_hex(6)
        body = json.dumps({"home_format": HOME_FORMAT, "outlast": __version__, "id": own_id}) + "\n"
        temporary = path.with_name(f".version-{own_id}")
        try:
            temporary.write_text(body, encoding="utf-8")
            os.link(temporary, path)  # of two first commands one wins, and both use its id
        except FileExistsError:
            return self._check_version()
        finally:
            temporary.unlink(missing_ok=True)
        return own_id


def _unusable(path: Path, error: OSError) -> HomeError:
    reasons = {
        errno.EROFS: "is on a read-only file system",
        errno.EACCES: "cannot be written by this user",
        errno.EPERM: "cannot be written by this user",
        errno.ENOSPC: "has no space left on its disk",
        errno.EDQUOT: "is over its disk quota",
        errno.EEXIST: "is not a folder",
        errno.ENOTDIR: "is not a folder",
    }
    reason = reasons.get(error.errno or 0, f"cannot be used: {error.strerror}")
    return HomeError(f"the home folder {path} {reason}", hint="choose another one with OUTLAST_HOME=/some/folder")
