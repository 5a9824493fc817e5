"""The history of a machine's use stays small, loses nothing but detail, and reaches the store rarely."""

import json
import random

import pytest

from outlast.inside import layout
from outlast.inside.pulse import Pulse
from outlast.inside.records import Beat
from outlast.inside.usage import SPANS, WRITE_S, Usage, read_usage
from outlast.testing.memory_store import MemoryStore
from outlast.track.usage import read_run_usage


def _device(cpu, memory, *cards):
    listed = [
        {"kind": "npu", "index": at, "busy_percent": busy, "memory_used_bytes": 7 << 30, "memory_total_bytes": 32 << 30}
        for at, busy in enumerate(cards)
    ]
    return {"cpu_percent": cpu, "memory_bytes": memory, "memory_limit_bytes": 1 << 34, "accelerators": listed}


@pytest.mark.parametrize("seconds", [1, 60, 3600, 86400])
def test_any_stint_is_told_by_few_spans(seconds):
    usage = Usage()
    seed = random.randrange(10**6)
    print("seed", seed)
    chance = random.Random(seed)
    step = max(1, seconds // 4000)
    told = []
    for at_s in range(0, seconds, step):
        told.append((chance.uniform(0, 100), chance.randrange(1 << 33), chance.uniform(0, 100)))
        usage.add(at_s, _device(*told[-1]))
    found = read_usage(usage.to_bytes())
    assert 0 < len(found["at_s"]) <= SPANS and len(usage.to_bytes()) < 32_000
    assert found["at_s"] == sorted(found["at_s"]) and found["at_s"][-1] + found["span_s"] >= seconds - step
    assert max(found["columns"]["memory_bytes"]) == max(memory for _, memory, _ in told), "the peak survives"
    mean = sum(cpu for cpu, _, _ in told) / len(told)
    if len(told) % len(found["at_s"]) == 0:
        assert sum(found["columns"]["cpu_percent"]) / len(found["at_s"]) == pytest.approx(mean, abs=0.2)
    assert found["limits"] == {"memory_bytes": 1 << 34, "npu0_memory_bytes": 32 << 30}


def test_a_pause_and_a_card_that_comes_late_leave_holes():
    usage = Usage()
    usage.add(0, {"cpu_percent": None, "memory_bytes": 5})
    usage.add(9, _device(50.0, 6, 80.0))
    found = read_usage(usage.to_bytes())
    assert found["at_s"] == [0, 9]
    assert found["columns"]["cpu_percent"] == [None, 50.0] and found["columns"]["npu0_percent"] == [None, 80.0]
    usage.add(-1, _device(1.0, 1))
    usage.add(20, {})
    assert read_usage(usage.to_bytes()) == found


def test_it_is_written_once_a_minute_and_at_the_end():
    usage = Usage()
    assert usage.due(0.0, is_last=True) is None, "nothing was measured"
    written = []
    for at_s in range(600):
        usage.add(at_s, _device(1.0, 1))
        if usage.due(at_s):
            written.append(at_s)
    assert len(written) == 1 + (600 - written[0] - 1) // WRITE_S and written[0] <= 15
    assert usage.due(600.0) is None or usage.due(600.0, is_last=True) is None
    usage.add(600, _device(1.0, 1))
    assert usage.due(600.5, is_last=True) is not None


def _beat(count):
    return Beat(count=count, phase="running")


def test_the_last_of_it_is_in_the_store_when_the_pulse_ends():
    store = MemoryStore()
    usage = Usage()
    usage.add(1.0, _device(42.0, 9))
    pulse = Pulse(store, "r", 1, _beat, used=lambda is_last: usage.due(2.0, is_last))
    pulse.start()
    pulse.close()
    assert read_usage(store.get(layout.usage_key("r", 1)))["columns"]["cpu_percent"] == [42.0]


def test_stints_without_a_word_and_with_nonsense_are_left_out():
    store = MemoryStore()
    usage = Usage()
    usage.add(1.0, _device(42.0, 9))
    for stint in (1, 2, 3, 4):
        store.put(layout.order_key("r", stint), b"{}")
    store.put(layout.usage_key("r", 2), usage.to_bytes())
    store.put(layout.usage_key("r", 3), b"[]")
    store.put(layout.usage_key("r", 4), json.dumps({"format": 1, "at_s": [1], "columns": {"x": []}}).encode())
    (found,) = read_run_usage(store, "r")
    assert (found.stint, found.columns["memory_bytes"]) == (2, (9.0,))


@pytest.mark.parametrize("data", [b"", b"x", b"1", b"null", b"{}", b'{"format": 2}'])
def test_what_is_no_history_is_refused(data):
    with pytest.raises((ValueError, KeyError)):
        read_usage(data)
