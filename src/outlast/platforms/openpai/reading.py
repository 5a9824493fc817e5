"""What OpenPAI says of jobs and virtual clusters, in our words. Pure: documents of either generation to values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from outlast.platforms.base import Job, JobState, Offer

Document = Mapping[str, Any]

_STATES = {
    "WAITING": JobState.QUEUED, "RUNNING": JobState.RUNNING, "STOPPING": JobState.RUNNING,
    "SUCCEEDED": JobState.ENDED, "FAILED": JobState.ENDED, "STOPPED": JobState.ENDED,
}  # fmt: skip
#: On YARN a job that is about to end is WAITING once more; it does not wait for a machine.
_ENDING = ("APPLICATION_RETRIEVING_DIAGNOSTICS", "APPLICATION_COMPLETED")
#: Exit codes of jobs whose machine was taken or lost: evicted, preempted, its node or pod gone.
_TAKEN_K8S = frozenset((*range(-120, -99), -1000, -1001, -1002, -1003, -1006))
_TAKEN_YARN = frozenset(range(-7154, -7099)) - {-7121, -7122, -7152}
_STOPPED = frozenset((-210, -220, -7351, -7400))
_USER_CODE = re.compile(r"origin(?:al)?UserExitCode\W+(\d+)")
_WORDS_LIMIT = 300


def read_job(status: Document) -> Job:
    """A `jobStatus`, or an entry of a list, which knows less of how it ended."""
    said = str(status.get("state", ""))
    state = _STATES.get(said) or _guess(status)
    if said == "WAITING" and status.get("subState") in _ENDING:
        state = JobState.RUNNING
    if state is not JobState.ENDED and was_restarted(status):
        words = "the cluster took its machine and began the job anew; the next stint goes on from the last checkpoint"
        return Job(JobState.ENDED, words, preempted=True)
    if state is JobState.ENDED:
        return _ended(status)
    return Job(state, _open_words(said, state, status))


def was_restarted(status: Document) -> bool:
    """Whether the cluster has started the job's container a second time, as it does after taking its machine.

    Tries that never got a machine do not count: YARN tells them apart, and Kubernetes has launched nothing then.
    """
    if "launchedTime" in status and status["launchedTime"] is None:
        return False
    told = status.get("retryDetails")
    details = told if isinstance(told, Mapping) and told else {"platform": status.get("retries")}
    return any(_number(details.get(kind)) for kind in ("user", "platform"))


def _guess(status: Document) -> JobState:
    """A state that nobody has told us of: what else is known decides."""
    if status.get("completedTime") is not None:
        return JobState.ENDED
    launched = status.get("launchedTime") or status.get("appLaunchedTime")
    return JobState.QUEUED if launched is None else JobState.RUNNING


def _open_words(said: str, state: JobState, status: Document) -> str:
    where = f"in virtual cluster {status.get('virtualCluster') or 'default'}"
    if said not in _STATES:
        return f"openpai says {said or 'nothing'!r} of it, {where}"
    if said == "STOPPING":
        return "is being stopped"
    return f"waits {where}" if state is JobState.QUEUED else f"runs {where}"


def _ended(status: Document) -> Job:
    code = status.get("appExitCode")
    if code is None:
        return Job(JobState.ENDED, f"ended as {status.get('state', 'unknown')}")
    code = _number(code)
    words = _exit_words(code, status)
    if code < 0:
        # No exit codes of a process: the cluster's own words for what happened to the container.
        return Job(JobState.ENDED, words, preempted=code in _TAKEN_K8S or code in _TAKEN_YARN)
    said = _USER_CODE.search(_messages(status))
    return Job(JobState.ENDED, words, int(said[1]) if code and said else code)


def _exit_words(code: int, status: Document) -> str:
    if code == 0:
        return ""
    if code in _STOPPED:
        return f"was stopped (openpai exit code {code})"
    told = status.get("appExitSpec")
    spec = told if isinstance(told, Mapping) else {}
    phrase, reason = (str(spec.get(name) or "").strip() for name in ("phrase", "reason"))
    first = reason or str(status.get("appExitTriggerMessage") or status.get("appExitDiagnostics") or "").strip()
    words = ": ".join(filter(None, (f"openpai exit code {code}", phrase, " ".join(first.split()))))
    return words if len(words) <= _WORDS_LIMIT else words[: _WORDS_LIMIT - 1] + "…"


def _messages(status: Document) -> str:
    told = [status.get(name) for name in ("appExitMessages", "appExitDiagnostics", "appExitTriggerMessage")]
    return " ".join(each if isinstance(each, str) else json.dumps(each) for each in told if each)


@dataclass(frozen=True)
class VirtualCluster:
    """A share of the cluster. Counts are 0 where it does not tell."""

    name: str
    status: str
    cpus: int
    cpus_used: int
    gpus: int
    gpus_used: int
    waiting: int | None  # jobs; None: only a list of jobs would tell

    @property
    def is_full(self) -> bool:
        if self.status not in ("", "RUNNING"):
            return True
        return bool((self.cpus and self.cpus_used >= self.cpus) or (self.gpus and self.gpus_used >= self.gpus))

    @property
    def words(self) -> str:
        if self.status not in ("", "RUNNING"):
            return self.status.lower()
        kinds = ((self.gpus, self.gpus_used, "GPUs"), (self.cpus, self.cpus_used, "cpus"))
        free = [f"{max(0, total - used)} of {total} {what} free" for total, used, what in kinds if total]
        return ", ".join(free) or "says nothing of its machines"

    @property
    def offer(self) -> Offer:
        return Offer(self.name, self.words)


def read_clusters(body: Document) -> dict[str, VirtualCluster]:
    """The answer to `GET virtual-clusters` of either generation."""
    return {name: _cluster(name, each) for name, each in body.items() if isinstance(each, Mapping)}


def _cluster(name: str, body: Document) -> VirtualCluster:
    total, used = (body.get(key) or {} for key in ("resourcesTotal", "resourcesUsed"))

    def count(of: Document, *names: str) -> int:
        return next((_number(of[each]) for each in names if of.get(each) is not None), 0)

    waiting = body.get("numPendingJobs")
    return VirtualCluster(
        name, str(body.get("status") or ""), count(total, "vCores", "cpu"), count(used, "vCores", "cpu"),
        count(total, "GPUs", "gpu"), count(used, "GPUs", "gpu"), None if waiting is None else _number(waiting),
    )  # fmt: skip


def allowed_clusters(user: Document) -> tuple[str, ...] | None:
    """The virtual clusters that a user may use, a list or a text with commas; None: all, or nobody says."""
    given = user.get("virtualCluster")
    if user.get("admin") is True or given is None:
        return None
    names: Iterable[str] = given.split(",") if isinstance(given, str) else map(str, given)
    return tuple(name.strip() for name in names if name.strip())


def _number(value: Any) -> int:
    try:
        return int(value or 0)
    except (TypeError, ValueError):
        return 0
