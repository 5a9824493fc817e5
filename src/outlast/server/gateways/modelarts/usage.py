"""How busy a job's machine is: six series, one value for each minute of the job, percent.

A run keeps its last look at the machine and no history of it; minutes without a value are -1, as in the cloud.
"""

from __future__ import annotations

from typing import Any

from outlast.keeper.observe import RunFolder
from outlast.platforms.local.machine import memory_total_bytes
from outlast.server.gateways.modelarts.phases import Progress

SERIES = ("cpuUsage", "memUsage", "gpuUtil", "gpuMemUsage", "npuUtil", "npuMemUsage")
_UNKNOWN = -1.0
#: The console shows three days at most.
_MOST_MINUTES = 3 * 24 * 60


def usage_of(folder: RunFolder, progress: Progress) -> list[dict[str, Any]]:
    beat = folder.beat(folder.last) if folder.last else None
    now = last_values(beat.device if beat is not None else {})
    minutes = min(_MOST_MINUTES, max(1, -(-progress.duration_ms // 60_000)))
    before = [_UNKNOWN] * (minutes - 1)
    return [{"metric": name, "value": [*before, now[name]]} for name in SERIES]


def last_values(device: dict[str, Any]) -> dict[str, float]:
    """The last look at the machine, by series."""
    found = dict.fromkeys(SERIES, _UNKNOWN)
    if device.get("cpu_percent") is not None:
        found["cpuUsage"] = round(float(device["cpu_percent"]), 3)
    if device.get("memory_bytes"):
        limit = device.get("memory_limit_bytes") or memory_total_bytes()
        found["memUsage"] = round(100.0 * device["memory_bytes"] / limit, 3)
    for kind in ("gpu", "npu"):
        cards = [card for card in device.get("accelerators") or () if card.get("kind") == kind]
        busy = [card["busy_percent"] for card in cards if card.get("busy_percent") is not None]
        full = [
            100.0 * card["memory_used_bytes"] / card["memory_total_bytes"]
            for card in cards
            if card.get("memory_total_bytes") and card.get("memory_used_bytes") is not None
        ]
        found[f"{kind}Util"] = round(sum(busy) / len(busy), 3) if busy else _UNKNOWN
        found[f"{kind}MemUsage"] = round(sum(full) / len(full), 3) if full else _UNKNOWN
    return found
