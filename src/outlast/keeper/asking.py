"""Asking a platform without waiting for it.

A platform over a network may take a minute to answer, or never do. Each gets one thread of its own: questions wait
in line there, the keeper goes on with the other runs, and the last answer holds until there is a newer one. A
platform on this machine is asked at once, by the keeper itself.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from outlast.errors import OutlastError, PlatformError, Unavailable
from outlast.inside.errors import InsideError
from outlast.keeper.breakers import Breakers
from outlast.model.hearsay import Hearsay
from outlast.platforms.base import Job, JobState, Launch, Platform, Tells

log = logging.getLogger("outlast.keeper")

#: How often a platform over a network is asked about its jobs.
POLL_S = 2.0
#: One question is about all jobs that were asked about within so long: a run may ask for itself alone.
_WANTED_S = 15.0
#: How often a platform is asked what it has written down of a job: two questions, of which one changes by the minute.
HEARSAY_S = 30.0
#: What was heard of a job that nobody asks about any more is forgotten.
_KEPT_S = 3600.0

Outcome = Literal["taken", "waiting"] | Unavailable


def is_distant(platform: Platform) -> bool:
    """Whether a platform is asked over a network: those are the ones that one signs in to."""
    return bool(platform.fields)


@dataclass(frozen=True)
class _Heard:
    job: Job
    at: float  # when it was asked


@dataclass(frozen=True)
class _Said:
    words: Hearsay | None
    state: JobState  # of the job when it was asked
    at: float


class Line:
    """One platform and what was last heard of it; here it is asked at once."""

    def __init__(self, name: str, platform: Platform, breakers: Breakers, clock: Callable[[], float]) -> None:
        self.name = name
        self.platform = platform
        self._breakers = breakers
        self._clock = clock
        self._lock = threading.Lock()
        self._heard: dict[str, _Heard] = {}
        self._said: dict[str, _Said] = {}
        self._unheard: Unavailable | None = None

    def poll(self, names: Collection[str]) -> dict[str, Job]:
        """The jobs as last heard of. A name is missing while nothing was heard of it and it may still be."""
        if not self._is_left_alone():
            self._ask(list(names))
        return self._answers(names)

    def submit(self, launch: Launch) -> Outcome:
        """Ask for a job. `waiting`: call again; an `Unavailable` is returned, everything else is raised."""
        try:
            self.platform.submit(launch)
        except Unavailable as error:
            return error
        return "taken"

    def cancel(self, job: str) -> None:
        """End a job; a platform that cannot be reached is told again at the next look."""
        try:
            self.platform.cancel(job)
        except Unavailable as error:
            log.warning("%s: %s is not cancelled yet: %s", self.name, job, error)

    def hearsay(self, job: str, state: JobState) -> Hearsay | None:
        """What the platform says of a job itself, as last asked; None while, or because, it says nothing.

        It is asked again after a while, and at once when the job's state is another one.
        """
        if not isinstance(self.platform, Tells):
            return None
        with self._lock:
            said, now = self._said.get(job), self._clock()
            is_due = said is None or said.state != state or now - said.at >= HEARSAY_S
            if is_due:
                kept = {name: each for name, each in self._said.items() if now - each.at < _KEPT_S}
                self._said = {**kept, job: _Said(said.words if said is not None else None, state, now)}
        if is_due:
            self._ask_hearsay(job)
        return self._said[job].words

    def clean_work(self, run: str, keep: Collection[int]) -> None:
        self.platform.clean_work(run, keep=keep)

    def close(self) -> None:
        self.platform.close()

    def _ask_hearsay(self, job: str) -> None:
        assert isinstance(self.platform, Tells)
        try:
            words = self.platform.hearsay(job)
        except Unavailable as error:
            log.warning("%s: nothing is learned of %s: %s", self.name, job, error)
            return
        self._said[job] = replace(self._said[job], words=words)

    def _ask(self, names: list[str]) -> None:
        asked_at = self._clock()
        try:
            found = self.platform.poll(names)
        except Unavailable as error:
            self._unheard = error
            self._breakers.note(self.name, error, by_poll=True)
            return
        self._hear(found, asked_at)
        if self._unheard is not None:
            self._unheard = None
            self._breakers.close(self.name, by_poll=True)

    def _hear(self, found: Mapping[str, Job], asked_at: float) -> None:
        kept = {name: heard for name, heard in self._heard.items() if asked_at - heard.at < _KEPT_S}
        self._heard = {**kept, **{name: _Heard(job, asked_at) for name, job in found.items()}}

    def _is_left_alone(self) -> bool:
        """Whether it did not answer the last time and shall not be asked again yet."""
        breaker = self._breakers.get(self.name) if self._unheard is not None else None
        return breaker is not None and breaker.closed_s(self._breakers.clock()) > 0

    def _answers(self, names: Iterable[str]) -> dict[str, Job]:
        now, unheard = self._clock(), self._trouble()
        answers = {}
        for name in names:
            known = self._heard.get(name)
            if known is not None:
                answers[name] = replace(known.job, heard_s=now - known.at, unheard=unheard)
            elif unheard:
                answers[name] = Job(JobState.ABSENT, unheard=unheard)
        return answers

    def _trouble(self) -> str:
        if self._unheard is None:
            return ""
        breaker = self._breakers.get(self.name)
        return breaker.words(self._breakers.clock()) if breaker is not None else f"does not answer: {self._unheard}"


class DistantLine(Line):
    """A platform that is asked by a thread of its own, one question at a time; `wake` tells of each answer."""

    def __init__(
        self, name: str, platform: Platform, breakers: Breakers, clock: Callable[[], float], wake: Callable[[], object]
    ) -> None:
        super().__init__(name, platform, breakers, clock)
        self._wake = wake
        self._work: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._asked_at: float | None = None
        self._wanted: dict[str, float] = {}  # jobs that somebody asked about lately
        self._under_way: set[str] = set()
        self._submits: dict[str, Outcome] = {}
        self._changed = False  # what the thread has just learned is news

    def poll(self, names: Collection[str]) -> dict[str, Job]:
        now = self._clock()
        with self._lock:
            fresh = all(name in self._heard for name in names) or self._unheard is not None
            due = self._asked_at is None or now - self._asked_at >= POLL_S
            answers = self._answers(names)
            self._wanted = {name: at for name, at in self._wanted.items() if now - at < _WANTED_S}
            self._wanted.update(dict.fromkeys(names, now))
            wanted = list(self._wanted)
        if (due or not fresh) and wanted and not self._is_left_alone():
            self._do("poll", lambda: self._ask(wanted))
        return answers

    def submit(self, launch: Launch) -> Outcome:
        job = launch.job_name
        with self._lock:
            outcome = self._submits.pop(job, None)
        if outcome is None:
            self._do(f"submit {job}", lambda: self._submit(launch))
            return "waiting"
        return outcome

    def cancel(self, job: str) -> None:
        self._do(f"cancel {job}", lambda: self.platform.cancel(job))

    def _ask_hearsay(self, job: str) -> None:
        self._do(f"hearsay {job}", lambda: self._hear_of(job))

    def _hear_of(self, job: str) -> None:
        assert isinstance(self.platform, Tells)
        words = self.platform.hearsay(job)  # trouble is logged by whoever finishes this, and asked about again
        with self._lock:
            before = self._said.get(job)
            if before is not None:
                self._said[job] = replace(before, words=words)
                self._changed = before.words != words

    def clean_work(self, run: str, keep: Collection[int]) -> None:
        kept = list(keep)
        self._do(f"clean {run}", lambda: self.platform.clean_work(run, keep=kept))

    def close(self) -> None:
        """The thread ends after what it is at; nobody waits for it, since that may take a minute."""
        self._work.put(None)
        self.platform.close()

    def _submit(self, launch: Launch) -> None:
        outcome: Outcome = "taken"
        try:
            self.platform.submit(launch)
        except Exception as error:  # noqa: BLE001 - whatever it is, the stint did not start there
            outcome = _as_unavailable(self.name, error)
        self._changed = True
        with self._lock:
            self._submits[launch.job_name] = outcome
            self._heard.pop(launch.job_name, None)  # what was heard before it was asked for says nothing any more

    def _ask(self, names: list[str]) -> None:
        asked_at = self._clock()
        found: dict[str, Job] = {}
        trouble: Unavailable | None = None
        try:
            found = self.platform.poll(names)
        except Unavailable as error:
            trouble = error
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, its runs' beats still count
            trouble = _as_unavailable(self.name, error)
        if trouble is not None:
            self._breakers.note(self.name, trouble, by_poll=True)
        elif self._unheard is not None:
            self._breakers.close(self.name, by_poll=True)
        with self._lock:
            before = ({name: heard.job for name, heard in self._heard.items()}, self._unheard is None)
            self._asked_at, self._unheard = self._clock(), trouble
            if trouble is None:
                self._hear(found, asked_at)
            self._changed = before != ({name: heard.job for name, heard in self._heard.items()}, trouble is None)

    def _do(self, key: str, call: Callable[[], object]) -> None:
        """Have the thread do something, unless it is about to do the same."""
        with self._lock:
            if key in self._under_way:
                return
            self._under_way.add(key)
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._serve, name=f"outlast {self.name}", daemon=True)
            self._thread.start()
        self._work.put(lambda: self._finish(key, call))

    def _finish(self, key: str, call: Callable[[], object]) -> None:
        self._changed = False
        try:
            call()
        except Exception as error:  # noqa: BLE001 - what matters is repeated at a later look
            log.warning("%s: %s failed: %s", self.name, key, error)
        with self._lock:
            self._under_way.discard(key)
        if self._changed:
            self._wake()

    def _serve(self) -> None:
        while (call := self._work.get()) is not None:
            call()


def _as_unavailable(name: str, error: Exception) -> Unavailable:
    """Trouble with a platform in the words that decide where to go; a fault of its code is logged whole."""
    if isinstance(error, Unavailable):
        return error
    if isinstance(error, OutlastError):
        passes = isinstance(error, PlatformError) and error.retryable
        return Unavailable(error.message, why="down" if passes else "refused", hint=error.hint)
    if isinstance(error, InsideError | OSError):
        return Unavailable(str(error), why="down")
    log.error("platform %s failed", name, exc_info=error)
    return Unavailable(f"{type(error).__name__}: {error}", why="refused")


def open_line(
    name: str, platform: Platform, breakers: Breakers, wake: Callable[[], object],
    clock: Callable[[], float] = time.monotonic,
) -> Line:  # fmt: skip
    """The line to a platform: a thread for one that is far, none for this machine."""
    if is_distant(platform):
        return DistantLine(name, platform, breakers, clock, wake)
    return Line(name, platform, breakers, clock)
