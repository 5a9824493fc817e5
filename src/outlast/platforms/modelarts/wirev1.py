"""The first generation's documents: jobs with numbered versions and statuses. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from outlast.platforms.base import Job, JobState, Offer
from outlast.platforms.modelarts.wire import Found, Wish, number, offer, stopped_words, unknown_phase
from outlast.platforms.modelarts.wire import read_use as read_series

_QUEUED = {
    1: "is being created", 2: "its image is being made", 4: "is being submitted", 7: "waits in the queue",
    18: "its image waits for a check", 19: "its image is being checked", 20: "its image was checked",
}  # fmt: skip
_RUNNING = {8: "", 9: "is being stopped", 15: "is being scaled"}
_COMPLETED, _FAILED = 10, 11
_STOPPED = (12, 13)
_BROKEN = {
    0: "is in an unknown state", 3: "its image could not be made", 5: "could not be submitted",
    6: "could not be deleted", 14: "was lost by the platform", 16: "could not submit its model",
    17: "could not deploy its service", 21: "its image failed the check", 22: "failed in the platform",
}  # fmt: skip


def job_body(wish: Wish, engine_id: int | str) -> dict[str, Any]:
    """The request that creates a job with its first version. There are no variables: they travel in a file."""
    config: dict[str, Any] = {
        "worker_server_num": wish.nodes, "app_url": wish.folder, "boot_file_url": wish.boot, "parameter": [],
        "engine_id": engine_id, "create_version": True, "enable_check": False,
    }  # fmt: skip
    config |= {"pool_id": wish.pool} if wish.pool else {"flavor": {"code": wish.flavor}}
    return {"job_name": wish.name, "job_desc": wish.description, "config": config}


def find_engine(body: Mapping[str, Any], wanted: str) -> int | str | None:
    """The number of an engine in the list of engines; a number stands for itself."""
    if wanted.isdecimal():
        return int(wanted)
    rows = body.get("engines") or ()
    return next((each["engine_id"] for each in rows if str(each.get("engine_version")).lower() == wanted.lower()), None)


def read_job(body: Mapping[str, Any]) -> Found:
    """A job of the list, by its newest version, or a version's own page."""
    return Found(
        f"{body.get('job_id')}/{body.get('version_id')}",
        str(body.get("job_name", "")),
        read_status(
            int(number(body.get("status"))), number(body.get("duration")) / 1000, str(body.get("spec_code", ""))
        ),
    )


def read_status(status: int, ran_s: float, flavor: str = "") -> Job:
    """What a status means for the stint. Exit codes are not told here; the run folder has them."""
    if status in _QUEUED:
        return Job(JobState.QUEUED, _QUEUED[status])
    if status in _RUNNING:
        return Job(JobState.RUNNING, _RUNNING[status])
    if status == _COMPLETED:
        return Job(JobState.ENDED, exit_code=0)
    if status == _FAILED:
        return Job(JobState.ENDED, "failed")
    if status in _STOPPED:
        return Job(JobState.ENDED, stopped_words(ran_s, flavor), preempted=True)
    if status in _BROKEN:
        return Job(JobState.ENDED, _BROKEN[status], preempted=True)
    return unknown_phase(status, is_started=ran_s > 0)


def read_use(body: Mapping[str, Any]) -> dict[str, tuple[float | None, ...]]:
    """How busy a version was: series by name, of texts, and all of it in a text where versions are listed."""
    given = body.get("system_metric_list")
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            given = None
    rows = given.items() if isinstance(given, dict) else ()
    return read_series([{"metric": name, "value": values} for name, values in rows if isinstance(values, list)])


def read_spec(body: Mapping[str, Any]) -> Offer:
    """A row of the list of flavors: cores and gigabytes are texts."""
    cards = ""
    for count, kind in (("gpu_num", "gpu_type"), ("npu_num", "npu_type")):
        if number(body.get(count)):
            cards = f"{body[count]} {body.get(kind) or kind[:3]}"
    sold_out = "sold out" if body.get("no_resource") else ""
    found = offer(
        str(body.get("spec_code", "")), cards, body.get("core"), f"{body['cpu']} GB" if body.get("cpu") else ""
    )
    return found._replace(words=", ".join(part for part in (found.words, sold_out) if part))
