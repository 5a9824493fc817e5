"""Jobs as files: one folder for each, its state told by which files are there.

local/lock            held while the queue is read or changed
local/open/<number>.<name>   one empty file for each job that has not ended: the queue, in order
local/reserved        the job that keeps what is free until it fits
local/jobs/<name>/job.json        what was asked; without it there is no job
                  secrets.json    0600, until the runner has them in its environment
                  started.json    what the job was given; written before its process exists
                  alive.lock      locked by the runner as long as it lives
                  pid.json        for signals and wake-ups only
                  exit.json       when we were the one to see it end
                  cancelled       it shall not start any more
                  runner.log      what the runner itself printed
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlast.inside.processes import boot_id, is_same_process, start_ticks, with_file_open
from outlast.platforms.base import JobState


def write_private(path: Path, body: Any) -> None:
    """JSON for the owner's eyes only, whole or not at all."""
    aside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(body, file)
    aside.replace(path)


def read_json(path: Path) -> dict[str, Any] | None:
    try:
        body: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return body


@dataclass(frozen=True)
class JobFolder:
    """One job. Reading needs no lock; what changes the queue is done under `Jobs.locked`."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def log(self) -> Path:
        return self.path / "runner.log"

    def job(self) -> dict[str, Any] | None:
        return read_json(self.path / "job.json")

    def started(self) -> dict[str, Any] | None:
        return read_json(self.path / "started.json")

    def state(self) -> JobState:
        if not (self.path / "job.json").exists():
            return JobState.ABSENT
        if not (self.path / "started.json").exists():
            return JobState.ENDED if (self.path / "cancelled").exists() else JobState.QUEUED
        return JobState.RUNNING if self.is_alive() else JobState.ENDED

    def is_alive(self) -> bool:
        """Does the runner live? It holds a lock it inherited, so neither a crash of whoever started it nor a pid
        that was given to somebody else can mislead us. The pid is asked too where locks do not pass to children."""
        try:
            descriptor = os.open(self.path / "alive.lock", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return self.pid() is not None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return self.pid() is not None

    def pid(self) -> int | None:
        """The runner's pid while that process lives."""
        noted = read_json(self.path / "pid.json")
        if noted is None or noted["boot"] != boot_id() or not is_same_process(noted["pid"], noted["ticks"]):
            return None
        return int(noted["pid"])

    def note_pid(self, pid: int) -> None:
        # The process cannot be reaped before we return, so its start time is still there even if it has ended.
        write_private(self.path / "pid.json", {"pid": pid, "ticks": start_ticks(pid), "boot": boot_id()})

    def exit_code(self) -> int | None:
        noted = read_json(self.path / "exit.json")
        return None if noted is None else noted["exit_code"]

    def note_exit(self, code: int) -> None:
        write_private(self.path / "exit.json", {"exit_code": code})

    def secrets(self) -> dict[str, str]:
        return read_json(self.path / "secrets.json") or {}

    def drop_secrets(self) -> None:
        (self.path / "secrets.json").unlink(missing_ok=True)

    def holders(self) -> set[int]:
        """Processes that hold the runner's lock, the runner itself among them."""
        return set(with_file_open(str(self.path / "alive.lock")))


class Jobs:
    """All jobs of one home."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, name: str) -> JobFolder:
        return JobFolder(self._folder / "jobs" / name)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """One process at a time changes the queue. Held for milliseconds."""
        for name in ("jobs", "open"):
            (self._folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self._folder / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def is_empty(self) -> bool:
        """Is nothing waiting or running? Needs no lock and creates nothing."""
        try:
            with os.scandir(self._folder / "open") as entries:
                return next(entries, None) is None
        except OSError:
            return True

    def add(self, name: str, body: dict[str, Any], secrets: dict[str, str]) -> bool:
        """Queue a job; False when there is one of that name already, in whatever state. Under the lock."""
        folder = self[name]
        if folder.job() is not None:
            return False
        folder.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        number = 1 + max([int(marker.name.split(".")[0]) for marker in self._markers()] or [0])
        if secrets:
            write_private(folder.path / "secrets.json", secrets)
        # The marker first: a marker without a job is swept away, a job without a marker would wait for ever.
        (self._folder / "open" / f"{number:09d}.{name}").touch(mode=0o600)
        write_private(folder.path / "job.json", {**body, "format": 1, "number": number})
        return True

    def look(self) -> tuple[list[JobFolder], list[JobFolder]]:
        """Jobs that wait or run, in the order they came; and those that were in the queue and have ended since.

        Each is looked at once: one that ends in this very moment is in one of the lists. Under the lock.
        """
        going: list[JobFolder] = []
        ended: list[JobFolder] = []
        for marker in self._markers():
            folder = self[_job_of(marker)]
            (going if folder.state() in (JobState.QUEUED, JobState.RUNNING) else ended).append(folder)
        return going, ended

    def close(self, folder: JobFolder) -> None:
        """Take a job that has ended, or will never start, out of the queue. Under the lock."""
        folder.drop_secrets()
        for marker in self._markers():
            if _job_of(marker) == folder.name:
                marker.unlink(missing_ok=True)

    def _markers(self) -> list[Path]:
        return sorted((self._folder / "open").iterdir())

    @property
    def reserved(self) -> str | None:
        try:
            return (self._folder / "reserved").read_text() or None
        except OSError:
            return None

    @reserved.setter
    def reserved(self, name: str | None) -> None:
        if name != self.reserved:
            (self._folder / "reserved").write_text(name or "")


def _job_of(marker: Path) -> str:
    return marker.name.split(".", 1)[1]
