"""LFS file locks: who has said that only they change a file for now."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlast.errors import NotFoundError, UsageError
from outlast.inside.records import now_text
from outlast.store.private import PrivateFile

_MOST = 1000


@dataclass(frozen=True)
class Lock:
    """One locked path."""

    id: str
    path: str
    owner: str
    locked_at: str

    def to_json(self) -> dict[str, Any]:
        """As the LFS protocol writes it."""
        return {"id": self.id, "path": self.path, "locked_at": self.locked_at, "owner": {"name": self.owner}}


class LockedError(UsageError):
    """Somebody has it already, or it is somebody else's."""

    code = "locked"
    http_status = 409

    def __init__(self, message: str, lock: Lock, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.lock = lock


class Locks:
    """The locks of one repository, in one small file."""

    def __init__(self, path: Path) -> None:
        self._file = PrivateFile(path, ("locks",), "remove that file; all locks of the repository end with it")

    def all(self) -> list[Lock]:
        return [Lock(**each) for each in self._file.read()["locks"].values()]

    def take(self, path: str, owner: str) -> Lock:
        """Lock a path; `LockedError` carries the lock that is there already."""
        if not path or len(path) > 4096 or not path.isprintable():
            raise UsageError("this path cannot be locked")
        with self._file.changing() as body:
            held = next((Lock(**each) for each in body["locks"].values() if each["path"] == path), None)
            if held is not None:
                raise LockedError(f"{path} is locked by {held.owner}", held)
            if len(body["locks"]) >= _MOST:
                raise UsageError(f"there are {_MOST} locks already", hint="unlock some: git lfs unlock PATH")
            lock = Lock(secrets.token_hex(8), path, owner, now_text())
            body["locks"][lock.id] = lock.__dict__
        return lock

    def give_back(self, id: str, may_end: Callable[[Lock], bool]) -> Lock:
        """End a lock; `LockedError` when it is another's and `may_end` says no."""
        with self._file.changing() as body:
            if id not in body["locks"]:
                raise NotFoundError("no such lock", hint="see them with: git lfs locks")
            lock = Lock(**body["locks"][id])
            if not may_end(lock):
                raise LockedError(f"{lock.path} is locked by {lock.owner}", lock, hint="add --force to end it anyway")
            del body["locks"][id]
        return lock
