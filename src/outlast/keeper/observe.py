"""What a run folder says, re-reading only what can have changed since the last look."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

from outlast import relay
from outlast.inside import layout
from outlast.inside.errors import Damaged, NotFound, RequestError
from outlast.inside.records import FORMAT, Beat, Claim, Control, End, Order, Record
from outlast.inside.stores.base import Store
from outlast.model.states import EndReason
from outlast.platforms.base import Job, JobState, job_name

R = TypeVar("R", bound=Record)

_NONE: Mapping[int, str] = {}

#: Committed checkpoints are listed anew after so long even when no beat mentions a new one.
RELIST_S = 5.0


def read_spec(store: Store, run: str) -> dict[str, Any]:
    """`spec.json` as a plain object; the keeper checks it before it launches."""
    try:
        body = json.loads(store.get(layout.spec_key(run)))
    except ValueError as error:
        raise Damaged(f"spec.json of {run} is not JSON: {error}") from None
    if not isinstance(body, dict) or not {"id", "name", "user", "created_at", "store"} <= body.keys():
        raise Damaged(f"spec.json of {run} lacks fields")
    if body.get("format", FORMAT) > FORMAT:
        raise RequestError(f"spec.json of {run} has format {body['format']}; upgrade outlast to read it")
    return body


class RunFolder:
    """The documents of one run. `refresh` costs a handful of small reads, however long the run's history is."""

    def __init__(self, store: Store, run: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.store = store
        self.run = run
        self.spec = read_spec(store, run)
        self.control = Control()
        self.orders: dict[int, Order] = {}
        self.claims: dict[int, Claim] = {}
        self.ends: dict[int, End] = {}
        self.checkpoints: tuple[str, ...] = ()
        self._beats: dict[int, Beat | None] = {}
        self._clock = clock
        self._listed_at: float | None = None

    @property
    def last(self) -> int:
        """The number of the newest stint; 0 before the first."""
        return len(self.orders)

    def refresh(self) -> None:
        """Look again. Ends are read before checkpoints: an end is never seen without what its stint committed."""
        self.control = self._read(Control, layout.control_key(self.run)) or Control()
        ended_before = len(self.ends)
        for number in self._open_stints():
            self._refresh_stint(number)
        while (order := self._read(Order, layout.order_key(self.run, self.last + 1))) is not None:
            self.orders[self.last + 1] = order
            self._refresh_stint(self.last)
        if self._checkpoints_may_differ() or len(self.ends) != ended_before:
            self.list_checkpoints()

    def beat(self, number: int) -> Beat | None:
        """The last beat of a stint; an ended stint's is read once."""
        if number not in self._beats:
            self._beats[number] = self._read(Beat, layout.beat_key(self.run, number))
        return self._beats[number]

    def list_checkpoints(self) -> None:
        """List the committed checkpoints anew, in order."""
        keys = (entry.key for entry in self.store.list(layout.checkpoints_prefix(self.run)))
        found = [name for name in map(layout.checkpoint_of_key, keys) if name is not None]
        self.checkpoints = tuple(sorted(found, key=layout.checkpoint_order))
        self._listed_at = self._clock()

    def checkpoints_of(self, number: int) -> tuple[str, ...]:
        return tuple(name for name in self.checkpoints if layout.checkpoint_order(name)[0] == number)

    def _open_stints(self) -> list[int]:
        return [number for number in self.orders if number not in self.ends]

    def _refresh_stint(self, number: int) -> None:
        if number not in self.claims:
            claim = self._read(Claim, layout.claim_key(self.run, number))
            if claim is not None:
                self.claims[number] = claim
        if number in self.claims:
            self._beats[number] = self._read(Beat, layout.beat_key(self.run, number))
        end = self._read(End, layout.end_key(self.run, number))
        if end is not None:
            self.ends[number] = end
            self._beats.pop(number, None)

    def _checkpoints_may_differ(self) -> bool:
        if self._listed_at is None:
            return True
        beat = self._beats.get(self.last) if self.last else None
        if beat is not None and beat.last_checkpoint is not None and beat.last_checkpoint not in self.checkpoints:
            return True
        return bool(self._open_stints()) and self._clock() - self._listed_at > RELIST_S

    def _read(self, kind: type[R], key: str) -> R | None:
        try:
            return kind.from_bytes(self.store.get(key))
        except NotFound:
            return None


class Ages:
    """How long things have been as they are, counted from when this process saw them change.

    Nothing here survives a restart: a new keeper is patient again, which is safe.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[Hashable, tuple[Hashable, float]] = {}

    def of(self, what: Hashable, value: Hashable) -> float:
        """Seconds since `what` was first seen with `value`, without another value between."""
        now = self._clock()
        known = self._seen.get(what)
        if known is None or known[0] != value:
            known = self._seen[what] = (value, now)
        return now - known[1]

    def restart(self, kind: str) -> None:
        """Count from now for everything of a kind: for a while nobody could have seen it change."""
        now = self._clock()
        for what, (value, _) in self._seen.items():
            if isinstance(what, tuple) and what[0] == kind:
                self._seen[what] = (value, now)

    def known(self, what: Hashable) -> float | None:
        """Seconds since `what` was first seen as it is; None when it never was."""
        known = self._seen.get(what)
        return None if known is None else self._clock() - known[1]


def run_seen(
    folder: RunFolder, jobs: Mapping[str, Job], ages: Ages, policy: relay.Policy, refusals: Mapping[int, str] = _NONE
) -> relay.RunSeen:
    """One look at a run, in the relay's words; `refusals` holds what platforms said that took no job for a stint."""
    control = folder.control
    stopping_s = ages.of("want", control.want)
    return relay.RunSeen(
        policy=policy,
        want="stop" if control.want == "stop" else "go",
        asked_stop_s=stopping_s if control.want == "stop" else None,
        why_stop=control.why,
        since_stint=control.since_stint,
        resume_from=control.resume_from,
        stints=tuple(
            dataclasses.replace(_stint_seen(folder, number, jobs, ages), refused=refusals.get(number, ""))
            for number in folder.orders
        ),
        checkpoints=folder.checkpoints,
        run=folder.run,
        checkpoint_place=folder.spec.get("checkpoint", ""),
        contract=folder.spec.get("contract", "plain"),
        limit_s=control.limit_s or folder.spec.get("limit_s"),
    )


def _stint_seen(folder: RunFolder, number: int, jobs: Mapping[str, Job], ages: Ages) -> relay.StintSeen:
    job = jobs.get(job_name(folder.run, number), Job(JobState.ABSENT))
    end = folder.ends.get(number)
    claimed = number in folder.claims
    beat = folder.beat(number) if end is None and claimed else None
    if claimed and job.state in (JobState.ABSENT, JobState.QUEUED) and _is_older(job, ages.of(("claim", number), True)):
        job = dataclasses.replace(job, state=JobState.RUNNING)
    waits = (
        end is None
        and not claimed
        and (job.state is JobState.QUEUED or bool(job.unheard and job.state is JobState.ABSENT))
    )
    if job.state is not JobState.ABSENT:
        ages.of(("asked", number), True)  # asked by an earlier keeper, then
    waiting_s = ages.of(("queued", number), waits)
    running_s = ages.of(("running", number), job.state is JobState.RUNNING)
    seen = relay.StintSeen(
        number=number,
        job=relay.Job(job.state),
        preempted=job.preempted,
        job_exit=job.exit_code,
        job_words=job.detail if job.state is JobState.ENDED else "",
        claimed=claimed,
        phase=beat.phase if beat else "",
        platform=folder.orders[number].platform,
        unheard=job.unheard,
        waiting_s=waiting_s if waits else None,
        silent_s=ages.of(("beat", number), beat.count) if beat else None,
        is_silent=job.is_silent,
        since_submit_s=ages.known(("asked", number)),
        running_s=running_s if job.state is JobState.RUNNING else None,
        end=_end_seen(end, ages.of(("end", number), True)) if end else None,
        checkpoints=folder.checkpoints_of(number),
        epoch=end.epoch if end else beat.epoch if beat else None,
        step=end.step if end else beat.step if beat else None,
    )
    gone = end is None and seen.is_gone
    gone_s = ages.of(("gone", number), gone)
    return dataclasses.replace(seen, gone_s=gone_s) if gone else seen


def _is_older(job: Job, claimed_s: float) -> bool:
    """Whether an answer was given before the stint was claimed, or cannot be had: the claim knows better then."""
    return job.heard_s > claimed_s or bool(job.unheard)


def _end_seen(end: End, ago_s: float) -> relay.EndSeen:
    return relay.EndSeen(
        reason=EndReason(end.reason),
        cause=end.cause,
        message=end.message,
        fingerprint=end.fingerprint,
        exit_code=end.exit_code,
        tail=tuple(end.tail),
        by=end.by,
        ago_s=ago_s,
    )
