"""The second generation's documents: what is sent, and what the answers mean. Pure.

Names, phases and pages as both generations share them stand here too; the first generation's own are in `wirev1`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from outlast.model.hearsay import Happening
from outlast.model.quantities import format_duration
from outlast.platforms.base import Job, JobState, Offer

#: Every job of ours begins with this, so that one search finds them all.
PREFIX = "outlast-"
TASK = "worker-0"
#: What one page of a search can hold.
PAGE = 50
FREE_LIMIT_S = 3600.0
_MOST_HOURS = 72
#: So many of the last warnings of a job say why it ended, in so many characters.
_REASONS, _LONGEST_REASON = 2, 400
#: Killed this near to the hour, a job on a free flavor was killed by the hour.
_AT_LIMIT_S = 120.0

_QUEUED = {"Creating": "is being created", "Pending": "waits in the queue"}
_RUNNING = {"Running": "", "Terminating": "is being stopped"}
_ABNORMAL = {
    "CreateFailed": "could not be created",
    "TerminatedFailed": "could not be stopped cleanly",
    "Lost": "was lost by the platform",
}


class Wish(NamedTuple):
    """A training job to be created. Places are written as the API has them: `/bucket/path/`."""

    name: str
    description: str
    folder: str
    boot: str  # the boot file, in that folder
    engine: str  # the id of an engine, or the address of an image
    flavor: str
    pool: str = ""
    variables: Mapping[str, str] = {}
    limit_s: float | None = None
    nodes: int = 1


class Found(NamedTuple):
    """A training job as the service shows it."""

    id: str
    name: str
    job: Job

    @property
    def is_over(self) -> bool:
        return self.job.state is JobState.ENDED


def name_of(job: str) -> str:
    """The name of a stint's job there: letters, digits, '-' and '_', 64 at most. `stint_of` reverses it."""
    return PREFIX + job.replace(".", "_")


def stint_of(name: str) -> str:
    """The stint's job that a training job is; empty for those of others."""
    run, separator, stint = name.removeprefix(PREFIX).rpartition("_")
    return f"{run}.{stint}" if name.startswith(PREFIX) and separator and stint.isdecimal() else ""


def is_free(flavor: str) -> bool:
    return flavor.strip().lower().endswith(".free")


# ---- requests


def job_body(wish: Wish) -> dict[str, Any]:
    """The request that creates a job."""
    algorithm: dict[str, Any] = {"code_dir": wish.folder}
    if "/" in wish.engine:  # an image of one's own has no starter: it is told what to run
        folder = wish.folder.rstrip("/").rpartition("/")[2]
        algorithm["command"] = f"python $MA_JOB_DIR/{folder}/{wish.boot.rpartition('/')[2]}"
        algorithm["engine"] = {"image_url": wish.engine}
    else:
        algorithm |= {"boot_file": wish.boot, "engine": {"engine_id": wish.engine}}
    resource: dict[str, Any] = {"flavor_id": wish.flavor, "node_count": wish.nodes}
    spec: dict[str, Any] = {"resource": resource | ({"pool_id": wish.pool} if wish.pool else {})}
    if wish.limit_s is not None and not is_free(wish.flavor):
        spec["auto_stop"] = {"time_unit": "HOURS", "duration": whole_hours(wish.limit_s)}
    return {
        "kind": "job",
        "metadata": {"name": wish.name, "description": wish.description, "workspace_id": "0"},
        "algorithm": algorithm | {"environments": dict(wish.variables)},
        "spec": spec,
    }


def whole_hours(limit_s: float) -> int:
    """When the platform itself ends a job whose runner did not: the first full hour after the stint's own limit.

    It is there for the bill only: a stint ends earlier by itself.
    """
    return min(_MOST_HOURS, int(limit_s // 3600) + 1)


def search_body(text: str, offset: int, phases: tuple[str, ...] = (), limit: int = PAGE) -> dict[str, Any]:
    """Jobs whose name holds `text`, newest first."""
    filters = [{"key": "name", "operator": "like", "value": [text]}]
    if phases:
        filters.append({"key": "phase", "operator": "in", "value": list(phases)})
    return {"offset": offset, "limit": limit, "sort_by": "create_time", "order": "desc", "filters": filters}


# ---- answers


def read_job(body: Mapping[str, Any]) -> Found:
    """A job of a search or of its own page."""
    metadata = body.get("metadata") or {}
    flavor = ((body.get("spec") or {}).get("resource") or {}).get("flavor_id") or ""
    return Found(
        str(metadata.get("id", "")), str(metadata.get("name", "")), read_status(body.get("status") or {}, flavor)
    )


def read_status(status: Mapping[str, Any], flavor: str = "") -> Job:
    """What a phase means for the stint."""
    phase, ran_s = str(status.get("phase") or ""), number(status.get("duration")) / 1000
    if phase in _QUEUED:
        return Job(JobState.QUEUED, _QUEUED[phase])
    if phase in _RUNNING:
        return Job(JobState.RUNNING, _RUNNING[phase])
    if phase in ("Completed", "Failed"):
        code, words = _exit(status)
        code = 0 if phase == "Completed" and code is None else code
        return Job(JobState.ENDED, words or ("" if not code else f"exit code {code}"), code)
    if phase == "Terminated":
        return Job(JobState.ENDED, stopped_words(ran_s, flavor), preempted=True)
    if phase == "Abnormal":
        secondary = str(status.get("secondary_phase") or "")
        return Job(
            JobState.ENDED, _ABNORMAL.get(secondary, f"is abnormal ({secondary or 'no reason'})"), preempted=True
        )
    return unknown_phase(phase, is_started=number(status.get("start_time")) > 0)


def stopped_words(ran_s: float, flavor: str) -> str:
    """Of a job that somebody or something stopped."""
    if is_free(flavor) and ran_s >= FREE_LIMIT_S - _AT_LIMIT_S:
        return f"stopped at the limit of the free flavor, {format_duration(FREE_LIMIT_S)}"
    return f"stopped after {format_duration(ran_s)}" if ran_s else "stopped before it ran"


def unknown_phase(phase: object, *, is_started: bool) -> Job:
    """A phase that came after this was written: it goes on, as far as anybody can tell."""
    return Job(
        JobState.RUNNING if is_started else JobState.QUEUED, f"is in the phase {phase or 'none'!r}, unknown here"
    )


def _exit(status: Mapping[str, Any]) -> tuple[int | None, str]:
    """(exit code, words) of the task that ran the stint, which is node 0, or of the first that failed."""
    tasks = [each for each in status.get("task_statuses") or () if isinstance(each, dict)]
    first = next((each for each in tasks if each.get("task") == TASK), tasks[0] if tasks else {})
    code = first.get("exit_code")
    words = " ".join(str(first.get("message") or "").split())[:200]
    return (int(code) if isinstance(code, int | str) and str(code).lstrip("-").isdecimal() else None), words


#: Series of the service → columns of ours.
_SERIES = {
    "cpuUsage": "cpu_percent", "memUsage": "memory_percent", "gpuUtil": "gpu_percent",
    "gpuMemUsage": "gpu_memory_percent", "npuUtil": "npu_percent", "npuMemUsage": "npu_memory_percent",
}  # fmt: skip


def read_events(body: Mapping[str, Any]) -> list[Happening]:
    """A page of events, which begins with the newest; ours begin with the oldest."""
    rows = [each for each in body.get("events") or () if isinstance(each, dict)]
    found = [
        Happening(
            str(each.get("time") or ""), " ".join(str(each.get("message") or "").split())[:400],
            str(each.get("level")) in ("Warning", "Error"),
        )
        for each in rows
    ]  # fmt: skip
    return [each for each in reversed(found) if each.words]


def read_use(rows: Any) -> dict[str, tuple[float | None, ...]]:
    """How busy a job was in each minute. A series that never had a sample is left out: -1 means none."""
    found = {}
    for each in rows if isinstance(rows, list) else ():
        name = _SERIES.get(str(each.get("metric"))) if isinstance(each, dict) else None
        values = tuple(_sample(value) for value in each.get("value") or ()) if name else ()
        if name and any(value is not None for value in values):
            found[name] = values
    return found


def _sample(value: object) -> float | None:
    percent = number(value) if isinstance(value, int | float | str) else -1.0
    return percent if percent >= 0 else None


def explained(job: Job, events: list[Happening]) -> Job:
    """A job that did not end well, with what its last warnings and errors say of that."""
    said = list(dict.fromkeys(each.words for each in events if each.is_trouble))[-_REASONS:]
    reason = "; ".join(said)[:_LONGEST_REASON]
    detail = reason if job.detail in reason else f"{job.detail}; {reason}"
    return dataclasses.replace(job, detail=detail) if reason else job


def read_flavor(body: Mapping[str, Any]) -> Offer:
    """A row of the list of flavors."""
    name, info = str(body.get("flavor_id", "")), body.get("flavor_info") or {}
    cards = next(
        (
            f"{card.get('unit_num')} {card.get('product_name', kind)}"
            for kind in ("gpu", "npu")
            if (card := info.get(kind))
        ),
        "",
    )
    cpus = (info.get("cpu") or {}).get("core_num")
    memory = info.get("memory") or {}
    return offer(name, cards, cpus, f"{memory.get('size')} {memory.get('unit', 'GB')}" if memory.get("size") else "")


def offer(name: str, cards: str, cpus: object, memory: str) -> Offer:
    words = ", ".join(part for part in (cards, f"{cpus} cpus" if cpus else "", memory) if part)
    return Offer(name, words, FREE_LIMIT_S if is_free(name) else None, is_free(name))


def number(value: object) -> float:
    """A number, written as one or as a text; 0 for anything else."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 0.0
