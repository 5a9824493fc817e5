"""The stages of a job, one record for each start of it: scheduling, preparing, running, end."""

from __future__ import annotations

from typing import Any

from outlast.keeper.observe import RunFolder
from outlast.server.gateways.modelarts.jobs import SeenJob
from outlast.server.gateways.modelarts.phases import to_ms
from outlast.server.gateways.modelarts.story import moment_of

_WORDS = {
    "scheduling": ("Scheduling", "资源调度"), "preparing": ("Preparing", "环境准备"), "running": ("Running", "运行中"),
    "end": ("End", "结束"),
}  # fmt: skip
_PREPARING = ("fetching", "environment", "staging", "restoring", "starting")


def stages_of(seen: SeenJob) -> dict[str, Any]:
    folder = seen.folder
    numbers = sorted(folder.orders) if folder is not None else []
    records = [{"record_order": n, "stages": _stages(folder, n, seen.row.id)} for n in numbers if folder is not None]
    return {"total_count": len(records), "running_records": records}


def _stages(folder: RunFolder, number: int, job: str) -> list[dict[str, Any]]:
    """The stages that were reached, in order."""
    borders = [each for each in _borders(folder, number) if each is not None]
    ends: list[int | None] = [*borders[1:], borders[-1] if number in folder.ends else None]
    return [
        {
            "job_id": job, "name": name, "en_message": words[0], "zh_message": words[1], "stage_order": place,
            "start_time": moment_of(start), "end_time": "" if end is None else moment_of(end), "sub_stages": [],
        }
        for place, ((name, words), start, end) in enumerate(zip(_WORDS.items(), borders, ends, strict=False), 1)
    ]  # fmt: skip


def _borders(folder: RunFolder, number: int) -> list[int | None]:
    """When each stage began, in milliseconds; None for those that were not reached."""
    claim, end, beat = folder.claims.get(number), folder.ends.get(number), folder.beat(number)
    begun = to_ms(folder.orders[number].created_at)
    if claim is None:
        return [begun]
    claimed = to_ms(claim.claimed_at)
    seconds = end.phases if end is not None else beat.phases if beat is not None else {}
    running = claimed + int(1000 * sum(seconds.get(phase, 0.0) for phase in _PREPARING))
    reached = "running" in seconds or end is not None
    return [begun, claimed, running if reached else None, to_ms(end.at) if end is not None and end.at else None]
