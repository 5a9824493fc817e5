"""What the relay is told and what it answers: observations in, actions out. Only data lives here.

Ages are seconds by the observing keeper's own monotonic clock, measured on changes that it saw itself; a keeper that
has just started knows none of them. No clock of another machine is ever part of an observation.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Literal

from outlast.model.states import EndReason, RunState, StintState
from outlast.relay.choose import Choice


class Job(enum.StrEnum):
    """A stint's job as its platform sees it; the same words as `outlast.platforms.base.JobState`."""

    ABSENT = "absent"  # no job of that name: never submitted, not visible yet, or forgotten
    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class EndSeen:
    """A stint's `end.json`."""

    reason: EndReason
    cause: str = ""  # for setup-error: "request" or "place"
    message: str = ""
    fingerprint: str = ""
    exit_code: int | None = None
    tail: tuple[str, ...] = ()
    by: str = "runner"  # or "keeper": then the job may still be alive and must be cancelled
    ago_s: float = math.inf  # how long this keeper has known the end; unknown counts as long ago


@dataclass(frozen=True, slots=True)
class StintSeen:
    """One stint, as its folder and its platform show it."""

    number: int
    ordered: bool = True  # order.json exists
    job: Job = Job.ABSENT
    preempted: bool = False  # the platform says that it took the machine
    job_exit: int | None = None
    job_words: str = ""  # how the job ended, in the platform's words
    claimed: bool = False
    phase: str = ""  # from the beat
    silent_s: float | None = None  # how long the beat's counter has not moved; None before the first beat
    is_silent: bool = False  # nothing of it can be heard while its job runs: silence is no sign of death
    since_submit_s: float | None = None  # since this keeper first asked the platform; None: it did not
    running_s: float | None = None  # how long this keeper has seen the job RUNNING
    gone_s: float | None = None  # how long this keeper has seen `is_gone` without an end
    end: EndSeen | None = None
    checkpoints: tuple[str, ...] = ()  # ids committed in this stint, sorted
    epoch: float | None = None  # reached, from the end or the beat
    step: int | None = None
    platform: str = ""  # for wording
    refused: str = ""  # what the platform said when it took no job for this stint
    unheard: str = ""  # why the platform cannot be asked now, in words that follow its name; `job` is its last answer
    waiting_s: float | None = None  # how long this keeper has seen it without a machine, queued or unheard of

    @property
    def was_refused(self) -> bool:
        return self.end is not None and self.end.reason is EndReason.REFUSED

    @property
    def is_open(self) -> bool:
        return self.end is None

    @property
    def is_gone(self) -> bool:
        """Whether the platform has no machine for a stint that it was asked for or that was claimed.

        A claimed job that waits in the queue again was requeued: its old runner is gone, and a new runner of the
        same stint finds the claim and leaves.
        """
        if self.job is Job.ABSENT:
            return self.claimed or self.since_submit_s is not None
        return self.job is Job.ENDED or (self.claimed and self.job is Job.QUEUED)


@dataclass(frozen=True, slots=True)
class Policy:
    """How patient a run is."""

    max_stints: int | None = None
    script_retries: int = 1  # how often in a row a failing script is started again, each time only after progress
    no_progress_limit: int = 3  # time-limit and setup-error ends in a row without a new checkpoint
    lost_limit: int = 6  # lost and preempted ends in a row without a new checkpoint
    silence_limit_s: float = 60.0  # a beat that stands still for so long means that the runner is lost
    launch_silence_s: float = 120.0  # a job that runs for so long without a claim or a beat never came up
    resubmit_s: float = 30.0  # a job that was asked for and is not shown after so long is asked for again
    settle_s: float = 0.5  # a gone job's end record may still become visible for so long
    linger_s: float = 10.0  # a runner that wrote its end may take so long to leave
    backoff_s: tuple[float, ...] = (0.0, 1.0, 5.0, 30.0, 120.0, 300.0)  # by ends in a row without a new checkpoint
    stop_patience_s: float = 20.0  # from asking a runner to stop until its job is cancelled
    queue_patience_s: float = 1800.0  # in a platform's queue, while another platform could be asked
    unheard_patience_s: float = 60.0  # for a stint without a runner on a platform that does not answer, likewise


@dataclass(frozen=True, slots=True)
class RunSeen:
    """One look at a run.

    Order of reading matters: the ends first, the checkpoints after them, so that an end is never seen without the
    checkpoints its stint had committed by then.
    """

    policy: Policy
    want: Literal["go", "stop"] = "go"
    asked_stop_s: float | None = None  # since this keeper first saw the wish to stop
    why_stop: str = ""  # the reason for that wish, when it was not the user's
    choice: Choice | None = None  # where the next stint would go; None: that does not matter to whoever asks
    elsewhere: str = ""  # a platform that could be asked instead of the open stint's
    hold: str = ""  # why the first stint, or the first after a resume, must wait; empty: it need not
    since_stint: int = 1  # ends of earlier stints are forgiven
    resume_from: str | None = None  # a checkpoint the user chose
    stints: tuple[StintSeen, ...] = ()  # all of them, in order
    checkpoints: tuple[str, ...] = ()  # all committed ids, verified or not
    damaged: frozenset[str] = frozenset()  # of those, the ones known to be beyond restoring
    run: str = "RUN"  # for wording, like the three below
    checkpoint_place: str = ""
    contract: str = "plain"
    limit_s: float | None = None


@dataclass(frozen=True, slots=True)
class WriteOrder:
    """Put order.json if it is absent. If another keeper's is there, that one holds."""

    stint: int
    resume_from: str | None
    platform: str = ""
    why: str = ""  # why that platform


@dataclass(frozen=True, slots=True)
class Submit:
    """Ask the platform for the job of a stint whose order is written. Idempotent by name."""

    stint: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """End a stint's job. Cancelling what has ended is not an error."""

    stint: int


@dataclass(frozen=True, slots=True)
class WriteEnd:
    """Put end.json if it is absent, by the keeper, for a runner that is gone: the fence of the stint."""

    stint: int
    reason: EndReason
    message: str
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do. Look again after so many seconds at the latest; None: whenever something changes."""

    seconds: float | None
    why: str


Action = WriteOrder | Submit | Cancel | WriteEnd | Wait


@dataclass(frozen=True, slots=True)
class Decision:
    """What a run is and what to do about it. The actions are carried out in order, also when the state is final."""

    state: RunState
    actions: tuple[Action, ...]
    message: str  # one sentence for the user; a failure also carries the script's last lines
    stint_state: StintState | None = None  # of the last stint
