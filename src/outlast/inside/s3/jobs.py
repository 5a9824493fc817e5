"""Many files at once: jobs one after the other, and the parts of large ones as soon as they may go."""

from __future__ import annotations

import collections
import threading
from typing import Any, Callable, Deque, Iterable, Iterator, List, Optional

from ..errors import AccessDenied, InsideError, PlaceError
from ..move.base import Job, Report
from ..net.connection import Steps, Unreachable
from ..net.drive import Loop, Source

#: Connections at once: enough to hide the latency of a server far away, few enough not to be told to slow down.
WIDTH = 32
#: Parts of large files at once, over both threads: far away each connection has only so much.
_PARTS_AT_ONCE = 16
#: Files begun and not ended; each large one holds a descriptor while its parts wait for their turn.
_OPEN_AT_ONCE = 4 * WIDTH


class Jobs(Source):
    """The work of one `send` or `fetch`. A subclass says how a job begins.

    Jobs come from one iterator, which may yield None for "none just now". Some may be lent to another process.
    """

    #: Parts at once when the server is next door: a second one for each thread would only take the processor's cache
    #: from the first.
    parts_nearby = 2

    def __init__(self, jobs: Iterable[Optional[Job]], report: Report) -> None:
        self._jobs: Iterator[Optional[Job]] = iter(jobs)
        self._returned: Deque[Job] = collections.deque()
        self._lent = 0
        self._parts: Deque[Steps[None]] = collections.deque()
        self._parts_open = 0
        self.parts_at_once = _PARTS_AT_ONCE
        self._open = 0  # jobs taken and not yet ended
        self._drained = False
        self._unreached = 0  # jobs in a row that failed because the server could not be reached
        self._changed = threading.Condition()
        self.lock = threading.Lock()  # for what a subclass shares between its steps
        self.report = report
        self.fatal: Optional[InsideError] = None
        #: Called from the loop's thread whenever there are parts to move.
        self.on_parts: Callable[[], None] = lambda: None

    def begin(self, job: Job) -> Optional[Steps[None]]:
        """The first steps of a job; None when its parts are queued already."""
        raise NotImplementedError

    def take(self) -> Optional[Steps[None]]:
        while True:
            steps = self.take_part()
            if steps is not None:
                return steps
            job = self._next_job()
            if job is None:
                return None
            steps = self.begin(job)
            if steps is not None:
                return steps

    def _next_job(self) -> Optional[Job]:
        with self._changed:
            if self.fatal is not None or self._open - self._lent >= _OPEN_AT_ONCE:
                return None
            job = self._returned.popleft() if self._returned else self._advance()
            self._open += job is not None
        return job

    def _advance(self) -> Optional[Job]:
        if self._drained:
            return None
        try:
            return next(self._jobs)
        except BaseException as error:
            self._drained = True
            self._changed.notify_all()
            if isinstance(error, StopIteration):
                return None
            raise

    def lend(self, count: int, size_bytes: int) -> List[Job]:
        """The next jobs for somebody else, so many or with so many bytes; each comes back by `repay` or `take_back`."""
        lent: List[Job] = []
        with self._changed:
            while len(lent) < count and size_bytes > 0 and self.fatal is None:
                job = self._advance()
                if job is None:
                    break
                lent.append(job)
                size_bytes -= job.size_bytes
            self._open += len(lent)
            self._lent += len(lent)
        return lent

    def repay(self, job: Job, error: Optional[InsideError] = None) -> None:
        """A lent job has ended, well or not."""
        with self._changed:
            self._lent -= 1
        self.end(job, error)

    def take_back(self, jobs: Iterable[Job]) -> None:
        """Lent jobs that were not done after all."""
        with self._changed:
            before = len(self._returned)
            self._returned.extend(jobs)
            self._open -= len(self._returned) - before
            self._lent -= len(self._returned) - before
            self._changed.notify_all()

    def nudge(self) -> None:
        """The iterator has something again."""
        with self._changed:
            self._changed.notify_all()

    def take_part(self) -> Optional[Steps[None]]:
        with self._changed:
            if not self._parts or self._parts_open >= self.parts_at_once:
                return None
            self._parts_open += 1
            return self._counted(self._parts.popleft())

    def _counted(self, steps: Steps[None]) -> Steps[None]:
        try:
            yield from steps
        finally:
            with self._changed:
                self._parts_open -= 1
                self._changed.notify_all()

    def finished(self) -> bool:
        with self._changed:
            return self._over()

    def _over(self) -> bool:
        return self.fatal is not None or (self._drained and not self._parts and not self._returned and self._open == 0)

    def wait(self) -> None:
        with self._changed:
            idle = not self._returned and (not self._parts or self._parts_open >= self.parts_at_once)
            if idle and not self._over():
                self._changed.wait(0.2)

    def queue(self, parts: List[Steps[None]]) -> None:
        """Parts of a job that has begun: they go before the next job."""
        self.on_parts()
        with self._changed:
            self._parts.extend(parts)
            self._changed.notify_all()

    def end(self, job: Job, error: Optional[InsideError] = None) -> None:
        """A job has ended, well or not."""
        if error is None:
            self.report.done(job)
        else:
            self.report.failed(job, error)
        with self._changed:
            self._open -= 1
            self._unreached = self._unreached + 1 if isinstance(error, Unreachable) else 0
            # Wrong keys are wrong for every file, and a server that is gone is gone for all of them: going on
            # would repeat the message and the patience of each.
            if isinstance(error, AccessDenied) or self._unreached >= WIDTH:
                self.fatal = self.fatal or error
            # Not for every file: a thread that wakes up to find nothing costs more than the file.
            if self._over():
                self._changed.notify_all()

    def guarded(self, job: Job, steps: Steps[Any], last: bool = True) -> Steps[None]:
        """Run steps whose faults are the job's own. With `last` the job has ended when they have."""
        try:
            yield from steps
        except InsideError as error:
            self.end(job, error)
        except OSError as error:
            self.end(job, PlaceError("cannot copy %s: %s" % (error.filename or job.local, error.strerror)))
        else:
            if last:
                self.end(job)


class _PartsOnly(Source):
    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.take = jobs.take_part  # type: ignore[method-assign]
        self.finished = jobs.finished  # type: ignore[method-assign]
        self.wait = jobs.wait  # type: ignore[method-assign]


def run(jobs: Jobs, width: int = 0, near: Callable[[], bool] = lambda: False) -> None:
    """Run all jobs: one loop for everything, and from the first large file on one beside it for parts.

    `near` is asked when the first large file begins, after the first answers of the server.
    """
    trouble: List[BaseException] = []
    beside: List[threading.Thread] = []

    def stopping() -> bool:
        return bool(trouble) or jobs.report.stopping()

    def run_parts() -> None:
        try:
            Loop(max(1, jobs.parts_at_once // 2), stopping).run(_PartsOnly(jobs))
        except BaseException as error:
            trouble.append(error)
            raise

    def start_beside() -> None:
        if not beside:
            jobs.parts_at_once = width or (jobs.parts_nearby if near() else _PARTS_AT_ONCE)
            beside.append(threading.Thread(target=run_parts, name="outlast-parts", daemon=True))
            beside[0].start()

    jobs.on_parts = start_beside
    try:
        Loop(width or WIDTH, stopping).run(jobs)
    except BaseException as error:
        trouble.append(error)
        raise
    finally:
        for thread in beside:
            thread.join()
    if jobs.fatal is not None:
        raise jobs.fatal
    if trouble:
        raise trouble[0]
