"""The end of an instance: what it left is brought into the account's store, and only then the job has ended."""

from __future__ import annotations

import contextlib
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from outlast.errors import OutlastError, Unavailable
from outlast.inside import layout
from outlast.inside.stores.file import FileStore
from outlast.platforms.base import Job, JobState
from outlast.platforms.xihe import wire
from outlast.platforms.xihe.errands import Errands
from outlast.platforms.xihe.rest import XiheRest
from outlast.platforms.xihe.results import BadResults, unpack_results

#: Results that are refused or damaged are asked for so often before the stint counts as lost …
TRIES = 5
#: … and those that cannot be reached so often: a day of training waits for Xihe to come back.
PATIENT_TRIES = 200
_LONGEST_PAUSE_S = 300.0
#: How long a look waits for results: small ones are there at once, large ones at a later look.
_PATIENCE_S = 1.0


class Homecoming:
    """What became of jobs that are over, noted in the account's folder: each is brought home once.

    While results are on their way the job still counts as running, so nobody gives its stint up. Killed at any moment,
    this begins anew: nothing is noted before everything is in the store.
    """

    def __init__(self, rest: XiheRest, home: Path, pace_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rest = rest
        self._home = home
        self._pace_s = pace_s
        self._clock = clock
        self._errands = Errands()
        self._failures: dict[str, tuple[int, float, str]] = {}  # job → tries that failed, when the last one did, why

    def store(self) -> FileStore:
        """The store that the stints of the account work on, by way of repositories and outputs."""
        return FileStore(str(self._made() / "store"))

    def known(self, name: str) -> Job | None:
        """The end of a job whose results are here already."""
        try:
            return Job(JobState.ENDED, **json.loads((self._home / "ended" / name).read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def bring(self, name: str, project: str, instance: wire.Instance, job: Job) -> Job:
        """Bring home what an instance left that has ended as `job` says, or see how far that is."""
        if not self._errands.is_under_way(name):
            self._settle(name)
            if self.known(name) is None and self._is_due(name):
                self._errands.start(name, lambda: self._bring(name, project, instance, job))
        self._errands.wait(name, _PATIENCE_S)
        tries, _, why = self._failures.get(name, (0, 0.0, ""))
        words = "has completed; its results are brought home" if job.exit_code == 0 else job.detail
        words += f", try {tries + 1} ({why})" if tries else ""
        return self.known(name) or Job(JobState.RUNNING, words, is_silent=True)

    def log_of(self, project: str, instance: wire.Instance) -> str:
        """What an instance has printed, so far or in all."""
        if not instance.is_over:
            return self._rest.running_log(project, instance.id)
        with tempfile.TemporaryDirectory(prefix="log-", dir=self._made()) as folder:
            target = Path(folder, "train.log")
            self._rest.download(self._rest.result_url(project, instance.id, "log"), target)
            return target.read_text("utf-8", "replace")

    def forget(self, run: str) -> None:
        """Forget the ends of a run's jobs."""
        for note in (self._home / "ended").glob(f"{run}.*"):
            note.unlink(missing_ok=True)

    def _settle(self, name: str) -> None:
        """Count a try that failed. The last one ends the job without results."""
        failure = self._errands.take_failure(name)
        if failure is None:
            return
        tries = self._failures.get(name, (0, 0.0, ""))[0] + 1
        self._failures[name] = tries, self._clock(), failure.message
        is_final = isinstance(failure, BadResults) or (isinstance(failure, Unavailable) and failure.why == "refused")
        if tries >= (TRIES if is_final else PATIENT_TRIES):
            self._note(name, Job(JobState.ENDED, f"its results cannot be brought home: {failure.message}"))

    def _is_due(self, name: str) -> bool:
        tries, failed_at, _ = self._failures.get(name, (0, 0.0, ""))
        pause_s = min(_LONGEST_PAUSE_S, self._pace_s * 2.0 ** (min(tries, 16) - 1))
        return not tries or self._clock() - failed_at >= pause_s

    def _bring(self, name: str, project: str, instance: wire.Instance, job: Job) -> None:
        run, stint = wire.run_of(name), wire.stint_of(name)
        store = self.store()
        if job.exit_code != 0:
            self._keep_log(store, run, stint, project, instance)
        elif store.head(layout.end_key(run, stint)) is None:  # otherwise it was fenced: what it left counts no more
            with tempfile.TemporaryDirectory(prefix="results-", dir=self._made()) as folder:
                archive, aside = Path(folder, "output.tar.gz"), Path(folder, "unpacked")
                aside.mkdir()
                self._rest.download(self._rest.result_url(project, instance.id, "output"), archive)
                if not unpack_results(archive, store, run, stint, aside):
                    raise BadResults("there is nothing of this stint among the outputs")
        self._note(name, job)

    def _keep_log(self, store: FileStore, run: str, stint: int, project: str, instance: wire.Instance) -> None:
        """The log of an instance whose output is lost is all that is left of it: it becomes the stint's own."""
        text = ""
        with contextlib.suppress(OutlastError, OSError):
            text = self.log_of(project, instance)
        text += "\n" if text and not text.endswith("\n") else ""
        said = f"[outlast] the instance ended as {instance.status}{f': {instance.error}' if instance.error else ''}\n"
        if not any(True for _ in store.list(layout.log_prefix(run, stint))):
            store.put_if_absent(layout.log_key(run, stint, 1), (text + said).encode("utf-8", "replace"))

    def _note(self, name: str, job: Job) -> None:
        folder = self._made() / "ended"
        folder.mkdir(exist_ok=True)
        aside = folder / f".{name}"
        aside.write_text(json.dumps({"detail": job.detail, "exit_code": job.exit_code, "preempted": job.preempted}))
        aside.replace(folder / name)
        self._failures.pop(name, None)

    def _made(self) -> Path:
        try:
            self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise Unavailable(f"cannot make {self._home}: {error.strerror}", why="down") from error
        return self._home
