"""How busy a job's machine was: six series, one value for each minute of the job, percent.

Stints write their history down in spans of a second up to minutes; here every minute gets the mean of what was
measured in it. Minutes without a sample are -1, as in the cloud: a card that is not there has nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from outlast.keeper.observe import RunFolder
from outlast.platforms.local.machine import memory_total_bytes
from outlast.server.gateways.modelarts.phases import Progress, to_ms
from outlast.track.usage import StintUsage, read_run_usage

SERIES = ("cpuUsage", "memUsage", "gpuUtil", "gpuMemUsage", "npuUtil", "npuMemUsage")
_UNKNOWN = -1.0
#: The console shows three days at most.
_MOST_MINUTES = 3 * 24 * 60
_MINUTE_S = 60.0
#: Columns of a stint's history → the series that they are part of.
_PARTS = (
    (re.compile(r"cpu_percent"), "cpuUsage"), (re.compile(r"memory_bytes"), "memUsage"),
    (re.compile(r"gpu\d+_percent"), "gpuUtil"), (re.compile(r"gpu\d+_memory_bytes"), "gpuMemUsage"),
    (re.compile(r"npu\d+_percent"), "npuUtil"), (re.compile(r"npu\d+_memory_bytes"), "npuMemUsage"),
)  # fmt: skip


class _Sample(NamedTuple):
    """What one column says of one span."""

    series: str
    begins_s: float  # since the job's beginning
    span_s: float
    percent: float


class Minutes:
    """Means by minute, of samples that may be shorter or longer than one."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, int], tuple[float, float]] = {}  # (percent × seconds, seconds)

    def add(self, sample: _Sample) -> None:
        at_s, ends_s = max(0.0, sample.begins_s), sample.begins_s + sample.span_s
        while at_s < ends_s:
            minute = int(at_s // _MINUTE_S)
            until_s = min(ends_s, (minute + 1) * _MINUTE_S)
            total, seconds = self._sums.get((sample.series, minute), (0.0, 0.0))
            self._sums[sample.series, minute] = (total + sample.percent * (until_s - at_s), seconds + until_s - at_s)
            at_s = until_s

    def value(self, series: str, minute: int) -> float:
        total, seconds = self._sums.get((series, minute), (0.0, 0.0))
        return round(total / seconds, 3) if seconds else _UNKNOWN


def usage_of(folder: RunFolder | None, progress: Progress) -> list[dict[str, Any]]:
    """The whole history, of which a long job's newest three days; without a run every minute is unknown."""
    count = max(1, -(-progress.duration_ms // 60_000))
    found = _history(folder, progress.start_ms) if folder is not None else Minutes()
    beat = folder.beat(folder.last) if folder is not None and folder.last else None
    now = last_values(beat.device if beat is not None else {})
    shown = range(max(0, count - _MOST_MINUTES), count)

    def values(name: str) -> list[float]:
        told = [found.value(name, minute) for minute in shown]
        # The history is written once in a minute, the beat every second.
        return [*told[:-1], now[name] if told[-1] == _UNKNOWN else told[-1]]

    return [{"metric": name, "value": values(name)} for name in SERIES]


def _history(folder: RunFolder, start_ms: int) -> Minutes:
    found = Minutes()
    for stint in read_run_usage(folder.store, folder.run):
        claim = folder.claims.get(stint.stint)
        begun_s = (to_ms(claim.claimed_at) - start_ms) / 1000 if claim and claim.claimed_at else 0.0
        for sample in _samples(stint, begun_s):
            found.add(sample)
    return found


def _samples(stint: StintUsage, begun_s: float) -> Iterator[_Sample]:
    for column, values in stint.columns.items():
        series = next((name for pattern, name in _PARTS if pattern.fullmatch(column)), "")
        whole = 100.0
        if column.endswith("_bytes"):
            usual = memory_total_bytes() if column == "memory_bytes" else 0
            whole = stint.limits.get(column) or usual
        if not series or not whole:
            continue
        for at_s, value in zip(stint.at_s, values, strict=False):
            if value is not None:
                yield _Sample(series, begun_s + at_s, stint.span_s, 100.0 * value / whole)


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
