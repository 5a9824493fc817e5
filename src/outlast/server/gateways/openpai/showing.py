"""Jobs as OpenPAI shows them, in both generations' shapes. Pure: a job and what became of its run, to documents."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from outlast.inside.contracts.openpai.standing import task_name
from outlast.inside.contracts.openpai.variables import k8s_role_name
from outlast.model.states import RunState
from outlast.server.gateways.openpai.book import JobFacts, JobRow, RoleFacts

YARN, K8S = "yarn", "k8s"
Document = dict[str, Any]

_STATES = {
    RunState.QUEUED: "WAITING", RunState.RUNNING: "RUNNING", RunState.SUCCEEDED: "SUCCEEDED",
    RunState.FAILED: "FAILED", RunState.STOPPED: "STOPPED",
}  # fmt: skip
_SUB_STATES = {
    K8S: {"WAITING": "AttemptPreparing", "RUNNING": "AttemptRunning", "STOPPING": "AttemptDeletionRequested"},
    YARN: {"WAITING": "FRAMEWORK_WAITING", "RUNNING": "APPLICATION_RUNNING"},
}
_ENDED = {K8S: "Completed", YARN: "FRAMEWORK_COMPLETED"}
#: What ends a job that its user stopped, and the tasks in it.
_STOPPED_CODE, _STOPPED_TASK_CODE = {K8S: -210, YARN: -7351}, {K8S: -210, YARN: -7400}
#: What ends the tasks of a job that was decided without them.
_OVER_TASK_CODE = {K8S: -220, YARN: -7400}
_TASK_ENDS = ("SUCCEEDED", "FAILED", "STOPPED")
_FAILED_CODE = 255


@dataclass(frozen=True)
class Progress:
    """What became of a job's run. Times are milliseconds; None: not yet."""

    state: RunState
    created_ms: int
    launched_ms: int | None = None
    completed_ms: int | None = None
    exit_code: int | None = None
    message: str = ""
    stints: int = 0
    tasks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # inside/contracts/openpai/standing.py

    @property
    def decisive(self) -> tuple[str | None, int | None]:
        """(role, index) of the task whose end was that of the job, when one was."""
        name = next((name for name, task in self.tasks.items() if task.get("decisive")), None)
        if name is None or not self.state.is_final:
            return None, None
        role, _, index = name.rpartition("/")
        return role, int(index)


@dataclass(frozen=True)
class Job:
    """A job with its run, asked for in the words of one generation."""

    row: JobRow
    progress: Progress
    shape: str  # whose answers are wanted: yarn for v1 addresses, k8s for v2

    @property
    def facts(self) -> JobFacts:
        return self.row.facts

    @property
    def state(self) -> str:
        state = self.progress.state
        if self.row.is_asked_to_stop and not state.is_final and self.shape == K8S:
            return "STOPPING"
        return _STATES[state]

    @property
    def sub_state(self) -> str:
        return _SUB_STATES[self.shape].get(self.state, _ENDED[self.shape])

    @property
    def exit_code(self) -> int | None:
        match self.progress.state:
            case RunState.SUCCEEDED:
                return 0
            case RunState.STOPPED:
                return _STOPPED_CODE[self.shape]
            case RunState.FAILED:
                return self.progress.exit_code or _FAILED_CODE
        return None

    @property
    def retries(self) -> int:
        """Every stint after the first: the platform's time ran out, not the user's job."""
        return max(0, self.progress.stints - 1)


def list_entry(job: Job) -> Document:
    """One job of a list."""
    facts, progress = job.facts, job.progress
    found: Document = {
        "name": facts.name,
        "username": facts.user,
        "state": job.state,
        "subState": job.sub_state,
        "executionType": "STOP" if job.row.is_asked_to_stop else "START",
        "retries": job.retries,
        "retryDetails": {"user": 0, "platform": job.retries, "resource": 0},
        "createdTime": progress.created_ms,
        "completedTime": progress.completed_ms,
        "appExitCode": job.exit_code,
        "virtualCluster": facts.virtual_cluster,
        "totalGpuNumber": facts.gpu_count,
        "totalTaskNumber": facts.task_count,
        "totalTaskRoleNumber": len(facts.roles),
    }
    if job.shape == YARN:
        return found | {"namespace": facts.user}
    return found | {
        "debugId": debug_id(facts.framework),
        "tags": list(job.row.tags),
        "jobPriority": None,
        "retryDelayTime": None,
        "submissionTime": progress.created_ms,
        "launchedTime": progress.launched_ms,
    }


def detail(job: Job, logs: str) -> Document:
    """One job whole. `logs` is the address before `ROLE/INDEX/` (v1), or of the job itself (v2)."""
    facts = job.facts
    roles = {
        shown_role(role.name, job.shape): {
            "taskRoleStatus": {"name": shown_role(role.name, job.shape)},
            "taskStatuses": [_task(job, role, index, logs) for index in range(role.instances)],
        }
        for role in facts.roles
    }
    status = _job_status(job)
    if job.shape == YARN:
        return {"name": facts.name, "jobStatus": status, "taskRoles": roles}
    return {
        "debugId": debug_id(facts.framework),
        "name": facts.name,
        "tags": list(job.row.tags),
        "jobPriority": None,
        "jobStatus": status,
        "taskRoles": roles,
    }


def shown_role(name: str, shape: str) -> str:
    return k8s_role_name(name) if shape == K8S else name


def debug_id(framework: str) -> str:
    return hashlib.md5(framework.encode(), usedforsecurity=False).hexdigest()


def _job_status(job: Job) -> Document:
    progress, is_v2 = job.progress, job.shape == K8S
    entry = list_entry(job)
    kept = ("state", "subState", "executionType", "retries", "retryDetails", "createdTime", "completedTime")
    words, (role, index) = _exit_words(job), progress.decisive
    found: Document = {
        "name": job.facts.framework,
        "username": job.facts.user,
        **{key: entry[key] for key in kept},
        "appId": job.row.run,
        "appProgress": float(progress.state.is_final) if not is_v2 else int(progress.state is RunState.SUCCEEDED),
        "appTrackingUrl": "",
        "appLaunchedTime": progress.launched_ms,
        "appCompletedTime": progress.completed_ms,
        "appExitCode": job.exit_code,
        "appExitSpec": exit_spec(job.exit_code, words),
        "appExitDiagnostics": words,
        "appExitMessages": {"container": None, "runtime": None, "launcher": words} if words else None,
        "appExitTriggerMessage": words,
        "appExitTriggerTaskRoleName": role if role is None else shown_role(role, job.shape),
        "appExitTriggerTaskIndex": index,
        "appExitType": {None: None, 0: "SUCCEEDED"}.get(job.exit_code, "FAILED"),
        "virtualCluster": job.facts.virtual_cluster,
    }
    if not is_v2:
        return found
    return found | {
        "retryDelayTime": None,
        "submissionTime": progress.created_ms,
        "launchedTime": progress.launched_ms,
        "appCreatedTime": progress.created_ms,
        "attemptId": 0,
        "attemptState": job.state,
    }


def _task(job: Job, role: RoleFacts, index: int, logs: str) -> Document:
    """One instance: as the newest stint told of it, otherwise as its job."""
    progress = job.progress
    told = progress.tasks.get(task_name(role.name, index), {})
    state = _task_state(job, told)
    code = _task_code(job, state, told)
    name = shown_role(role.name, job.shape)
    is_v2 = job.shape == K8S
    found: Document = {
        "taskIndex": index,
        "taskState": state,
        "containerId": f"{job.row.run}-{name}-{index}",
        "containerIp": "127.0.0.1",
        "containerPorts": {label: ",".join(map(str, ports)) for label, ports in told.get("ports", {}).items()},
        "containerGpus": None if is_v2 else (1 << role.gpus) - 1,
        "containerLog": task_logs(logs, role.name, index) if is_v2 else f"{logs}/{role.name}/{index}/",
        "containerExitCode": code,
    }
    if not is_v2:
        return found
    launched = milliseconds(told.get("started_at", "")) or progress.launched_ms
    completed = None if code is None else milliseconds(told.get("ended_at", "")) or progress.completed_ms
    words = _exit_words(job) if code is not None else None
    return found | {
        "taskUid": found["containerId"],
        "containerNodeName": "local",
        "containerExitSpec": exit_spec(code, words),
        "containerExitDiagnostics": words,
        "retries": job.retries + max(0, told.get("tries", 1) - 1),
        "accountableRetries": 0,
        "createdTime": progress.created_ms,
        "launchedTime": launched,
        "completedTime": completed,
        "attemptId": 0,
        "attemptState": state,
        "currentAttemptCreatedTime": progress.created_ms,
        "currentAttemptLaunchedTime": launched,
        "currentAttemptCompletedTime": completed,
        "hived": None,
    }


def _task_state(job: Job, told: Mapping[str, Any]) -> str:
    own = str(told.get("state", "")).upper()
    if own in _TASK_ENDS or (own and job.state == "RUNNING"):
        return own
    return "RUNNING" if job.state == "STOPPING" else job.state


def _task_code(job: Job, state: str, told: Mapping[str, Any]) -> int | None:
    """What ended a task; one that was stopped because the job was over has another code than one whose user did it."""
    if state == "STOPPED":
        by_user = job.progress.state is RunState.STOPPED
        return _STOPPED_TASK_CODE[job.shape] if by_user else _OVER_TASK_CODE[job.shape]
    if state in ("WAITING", "RUNNING"):
        return None
    return told["code"] if told.get("code") is not None else job.exit_code


def task_logs(job: str, role: str, index: int) -> str:
    """Where the logs of a task of a v2 job are listed."""
    return f"{job}/attempts/0/taskRoles/{k8s_role_name(role)}/taskIndex/{index}/attempts/0/logs"


def task_history(job: Job, role: RoleFacts, index: int, logs: str) -> Document:
    """The attempts of one task: what Outlast knows is one."""
    task = _task(job, role, index, logs)
    return {
        "jobAttemptId": 0, "jobStatus": _job_status(job), "taskRoleName": shown_role(role.name, job.shape),
        "taskIndex": index, "attempts": [task],
    }  # fmt: skip


def exit_spec(code: int | None, words: str | None) -> Document | None:
    """What an exit code means."""
    if code is None:
        return None
    if code == 0:
        phrase, causer, kind, reaction = "PAIRuntimeSucceeded", "USER_CONTAINER", "UNKNOWN_SUCCESS", "NEVER_RETRY"
    elif code in (*_STOPPED_CODE.values(), *_STOPPED_TASK_CODE.values(), *_OVER_TASK_CODE.values()):
        phrase, causer, kind, reaction = "UserStopped", "USER_STOP", "USER_STOP", "NEVER_RETRY"
    else:
        phrase, causer, kind, reaction = "PAIRuntimeUnknownFailed", "UNKNOWN", "UNKNOWN_FAILURE", "RETRY_TO_MAX"
    return {
        "code": code, "phrase": phrase, "issuer": "PAI_RUNTIME", "causer": causer, "type": kind, "stage": "RUNNING",
        "behavior": "UNKNOWN", "reaction": reaction, "reason": words or "", "repro": [], "solution": [],
    }  # fmt: skip


def _exit_words(job: Job) -> str | None:
    return job.progress.message or None if job.progress.state.is_final else None


def milliseconds(text: str) -> int | None:
    """A time of ours as OpenPAI tells it."""
    try:
        return round(datetime.datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        return None
