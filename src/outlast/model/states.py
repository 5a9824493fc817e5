"""States and end reasons: the words that the relay, the index, the command line and the API share."""

from __future__ import annotations

import enum


class RunState(enum.StrEnum):
    """What became of a run. Derived from its stints, never set by hand."""

    QUEUED = "queued"  # no stint has started yet
    RUNNING = "running"  # a stint is under way, or the next one is about to be
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def is_final(self) -> bool:
        return self in (RunState.SUCCEEDED, RunState.FAILED, RunState.STOPPED)


class StintState(enum.StrEnum):
    """Where one stint is: planned → submitted → queued → preparing → running → handing-over → ended."""

    PLANNED = "planned"  # its order is written
    SUBMITTED = "submitted"  # the platform was asked
    QUEUED = "queued"
    PREPARING = "preparing"  # claimed: fetching, environment, staging, restoring, starting
    RUNNING = "running"
    HANDING_OVER = "handing-over"
    ENDED = "ended"


class EndReason(enum.StrEnum):
    """Why a stint ended. The reason alone decides what follows; `outlast.relay` holds that table."""

    FINISHED = "finished"
    HAND_OVER = "hand-over"
    TIME_LIMIT = "time-limit"
    PREEMPTED = "preempted"
    LOST = "lost"
    SCRIPT_ERROR = "script-error"
    SETUP_ERROR = "setup-error"
    REFUSED = "refused"  # the platform took no job, or lost it before a runner came up; never counts against the run
    STOPPED = "stopped"
