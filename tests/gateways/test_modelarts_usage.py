"""How busy a job's machine was, minute by minute."""

from __future__ import annotations

import types

import pytest

from outlast.inside import layout
from outlast.inside.records import Beat, Claim
from outlast.inside.usage import Usage
from outlast.server.gateways.modelarts.phases import Progress, to_ms
from outlast.server.gateways.modelarts.usage import SERIES, usage_of
from outlast.testing import MemoryStore

BEGUN = "2026-01-01T00:00:00+00:00"


def _card(kind, busy, used, total=8):
    return {"kind": kind, "index": 0, "busy_percent": busy, "memory_used_bytes": used, "memory_total_bytes": total}


def _folder(histories, claims, beat=None):
    """A run whose stints told these samples: (seconds since the stint's beginning, device)."""
    store = MemoryStore()
    for number, history in histories.items():
        usage = Usage()
        for at_s, device in history:
            usage.add(at_s, device)
        store.put(layout.usage_key("r", number), usage.to_bytes())
    for number in claims:
        store.put(layout.order_key("r", number), b"{}")
    made = {number: Claim("t", "host", 1, at) for number, at in claims.items()}
    return types.SimpleNamespace(store=store, run="r", claims=made, last=max(claims, default=0), beat=lambda _: beat)


def _series(folder, minutes):
    progress = Progress("Running", start_ms=to_ms(BEGUN), duration_ms=minutes * 60_000)
    found = usage_of(folder, progress)
    assert [row["metric"] for row in found] == list(SERIES)
    assert {len(row["value"]) for row in found} == {minutes}
    return {row["metric"]: row["value"] for row in found}


def test_every_minute_has_the_mean_of_what_was_measured_in_it():
    busy = [(at, {"cpu_percent": 10.0 * (at // 60 + 1), "accelerators": [_card("npu", 50.0, 2)]}) for at in range(180)]
    found = _series(_folder({1: busy}, {1: BEGUN}), 3)
    assert found["cpuUsage"] == pytest.approx([10.0, 20.0, 30.0])
    assert found["npuUtil"] == [50.0, 50.0, 50.0] and found["npuMemUsage"] == [25.0, 25.0, 25.0]
    assert found["gpuUtil"] == found["gpuMemUsage"] == found["memUsage"] == [-1.0, -1.0, -1.0]


def test_two_cards_are_one_mean():
    cards = [_card("gpu", 30.0, 1), _card("gpu", 50.0, 3) | {"index": 1}]
    found = _series(_folder({1: [(0, {"accelerators": cards})]}, {1: BEGUN}), 1)
    assert found["gpuUtil"] == [40.0] and found["gpuMemUsage"] == [25.0]


def test_a_second_stint_goes_on_where_it_was_claimed_and_the_gap_is_no_sample():
    one = [(at, {"cpu_percent": 80.0}) for at in range(0, 60)]
    two = [(at, {"cpu_percent": 40.0}) for at in range(0, 60)]
    folder = _folder({1: one, 2: two}, {1: BEGUN, 2: "2026-01-01T00:03:00+00:00"})
    assert _series(folder, 4)["cpuUsage"] == [80.0, -1.0, -1.0, 40.0]


def test_spans_of_several_minutes_fill_all_of_them():
    long = [(60.0 * minute, {"cpu_percent": 60.0}) for minute in range(24 * 60)]  # told by spans of 8.5 minutes
    values = _series(_folder({1: long}, {1: BEGUN}), 24 * 60)["cpuUsage"]
    assert values == [60.0] * (24 * 60)


def test_the_newest_minute_is_told_by_the_beat_until_the_history_has_it():
    beat = Beat(1, "running", device={"cpu_percent": 33.0})
    assert _series(_folder({1: [(0, {"cpu_percent": 10.0})]}, {1: BEGUN}, beat), 2)["cpuUsage"] == [10.0, 33.0]
    assert _series(_folder({1: [(70, {"cpu_percent": 10.0})]}, {1: BEGUN}, beat), 2)["cpuUsage"] == [-1.0, 10.0]
    assert _series(_folder({}, {}), 1)["cpuUsage"] == [-1.0]


def test_a_long_job_shows_its_newest_three_days():
    folder = _folder({1: [(4 * 86400.0 - 30, {"cpu_percent": 5.0})]}, {1: BEGUN})
    progress = Progress("Running", start_ms=to_ms(BEGUN), duration_ms=4 * 86_400_000)
    values = usage_of(folder, progress)[0]["value"]
    assert len(values) == 3 * 24 * 60 and values[-1] == 5.0
