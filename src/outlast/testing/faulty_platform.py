"""A platform with accounts whose stints really run, on this machine, and whose faults a test writes down before.

The folder of an account holds one file for each verb; every call takes the first line of its file away and does what
that says. Any process may be the one that calls, as with a platform over a network.

    submit.txt   full, quota, down, refused      nothing is started, `Unavailable` is raised
                 lost-after                      the job starts, but the answer is lost
                 stuck                           the job is taken and waits for ever
                 vanish                          the job is taken and forgotten
                 taken-away                      the job starts, and its machine is taken soon after
    poll.txt     down                            nothing can be asked
                 odd                             every job is in a phase that nobody has heard of
    standing.txt full, down, signed-out          what the platform says of the account
    (a line `ok`, or none, means that nothing goes wrong)
"""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from outlast.errors import Unavailable
from outlast.model.quantities import parse_duration
from outlast.model.spec import RunSpec
from outlast.platforms.accounts import Account
from outlast.platforms.base import Field, Job, JobState, Launch, Offer, Plan, Platform, Standing
from outlast.platforms.local.platform import LocalPlatform
from outlast.settings import Settings

_REFUSALS = ("full", "quota", "down", "refused")
#: A machine that is taken away was seen running so often before.
_SEEN_RUNNING = 1


class FaultyPlatform(Platform):
    """`LocalPlatform` behind faults. What became of odd jobs lies in the folder as well, by their names."""

    name = "faulty"
    fields: ClassVar[tuple[Field, ...]] = (
        Field("folder", "Folder of its faults"),
        Field("token", "Token", required=False, secret=True),
    )

    def __init__(self, inner: Platform, folder: Path, limit_s: float | None = None) -> None:
        self._inner = inner
        self._folder = folder
        self.limit_s = limit_s

    @classmethod
    def from_account(cls, account: Account, settings: Settings) -> FaultyPlatform:
        limit_s = parse_duration(account["limit"]) if account["limit"] else None
        return cls(LocalPlatform.from_settings(settings), Path(account["folder"]), limit_s)

    def standing(self) -> Standing:
        offer = Offer("toy.free", "1 cpu", self.limit_s, is_free=True)
        match self._next("standing"):
            case "down":
                return Standing("down", "it does not answer")
            case "signed-out":
                return Standing("signed-out", "it does not know us")
            case "full":
                return Standing("full", "every machine is taken", (offer,), "3 jobs wait")
        return Standing("ready", "one machine at a time", (offer,))

    def check(self, spec: RunSpec) -> None:
        self._inner.check(spec)

    def plan(self, launch: Launch) -> Plan:
        return self._inner.plan(launch)

    def submit(self, launch: Launch) -> None:
        fault = self._next("submit")
        if fault in _REFUSALS:
            raise Unavailable(f"toy trouble ({fault})", why=fault)  # type: ignore[arg-type]
        if fault in ("stuck", "vanish", "taken-away"):
            with self._fates() as fates:
                fates[launch.job_name] = [fault, 0]
        if fault not in ("stuck", "vanish"):
            self._inner.submit(launch)
        if fault == "lost-after":
            raise Unavailable("the answer was lost", why="down")

    def poll(self, names: Iterable[str]) -> dict[str, Job]:
        fault = self._next("poll")
        if fault == "down":
            raise Unavailable("toy trouble (down)", why="down")
        found = self._inner.poll(names)
        with self._fates() as fates:
            found = {name: self._fated(name, job, fates) for name, job in found.items()}
        return {name: replace(job, detail="is Hibernating") if fault == "odd" else job for name, job in found.items()}

    def logs(self, name: str) -> str:
        return self._inner.logs(name)

    def cancel(self, name: str) -> None:
        with self._fates() as fates:
            fates.pop(name, None)
        self._inner.cancel(name)

    def clean_work(self, run: str, keep: Collection[int] = ()) -> int:
        return self._inner.clean_work(run, keep)

    def forget(self, run: str) -> None:
        self._inner.forget(run)

    def close(self) -> None:
        self._inner.close()

    def _fated(self, name: str, job: Job, fates: dict[str, list[Any]]) -> Job:
        if name not in fates:
            return job
        fate, seen = fates[name]
        if fate == "stuck":
            return Job(JobState.QUEUED, "3 jobs are before it")
        if fate == "vanish":
            fates[name][1] += 1
            return Job(JobState.QUEUED) if seen == 0 else Job(JobState.ABSENT)
        if job.state is JobState.RUNNING:
            fates[name][1] += 1
        if seen >= _SEEN_RUNNING:
            self._inner.cancel(name)
            return Job(JobState.ENDED, "the machine was taken", preempted=True)
        return job

    def _next(self, verb: str) -> str:
        """Take the next fault of a verb; "ok" when there is none."""
        with self._locked():
            path = self._folder / f"{verb}.txt"
            lines = path.read_text(encoding="utf-8").split() if path.exists() else []
            if not lines:
                return "ok"
            path.write_text("\n".join(lines[1:]), encoding="utf-8")
            return lines[0]

    @contextlib.contextmanager
    def _fates(self) -> Iterator[dict[str, list[Any]]]:
        with self._locked():
            path = self._folder / "fates.json"
            fates: dict[str, list[Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            yield fates
            path.write_text(json.dumps(fates), encoding="utf-8")

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
