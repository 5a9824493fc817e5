"""Asking twice starts once: which run belongs to an idempotency key.

A client that got no answer cannot know whether its run exists. With the same key it may simply ask again: the key's
record names the run's id before the run is made, so it is found however the first try ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from outlast.errors import UsageError
from outlast.model.ids import new_run_id
from outlast.server.refusals import Conflict

#: Records older than this are removed; nobody waits that long for an answer.
_KEPT_S = 7 * 86400.0
_LONGEST = 200


class Submits:
    """The keys of one home, in a folder that all server processes share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def once(
        self, user: str, key: str, request: Any, start: Callable[[str], str], exists: Callable[[str], bool]
    ) -> str:
        """The run of a key: the one that is there, or the one that `start` makes (it is told which id to use).

        `Conflict` when the key was used for another request. Requests with the same key wait for each other.
        """
        if not 0 < len(key) <= _LONGEST:
            raise UsageError(f"an Idempotency-Key has 1 to {_LONGEST} characters, this one has {len(key)}")
        name = hashlib.sha256(f"{user}\0{key}".encode()).hexdigest()
        asked = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
        with self._record(name) as record:
            known = _last_line(record)
            if known.get("asked", asked) != asked:
                raise Conflict(
                    "this Idempotency-Key was used for another request", hint="use a new key for each new run"
                )
            run = str(known.get("run") or new_run_id())
            if not known:
                _add_line(record, {"asked": asked, "run": run})
            elif exists(run):
                return run
            started = start(run)
            if started != run:
                _add_line(record, {"asked": asked, "run": started})
            return started

    @contextlib.contextmanager
    def _record(self, name: str) -> Iterator[int]:
        """The file of a key, locked: it is made if it is missing, and only ever grows."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._forget_old()
        handle = os.open(self._folder / name, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle
        finally:
            os.close(handle)

    def _forget_old(self) -> None:
        for entry in os.scandir(self._folder):
            with contextlib.suppress(OSError):
                if time.time() - entry.stat().st_mtime > _KEPT_S:
                    os.unlink(entry.path)  # noqa: PTH108 - an entry has no Path


def _last_line(record: int) -> dict[str, Any]:
    """The last line that was written whole."""
    lines = os.pread(record, 1 << 16, 0).split(b"\n")[:-1]
    return json.loads(lines[-1]) if lines else {}


def _add_line(record: int, body: dict[str, str]) -> None:
    os.write(record, json.dumps(body).encode() + b"\n")
    os.fsync(record)
