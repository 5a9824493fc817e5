"""A whole stint whose script prints, writes event files and tracks: each metric comes from its best source."""

from __future__ import annotations

import pytest
from stintbench import StintBench

from outlast.track.series import read_points

SCRIPT = """
import os, struct, sys, time
import outlast

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)

def crc(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    value ^= 0xFFFFFFFF
    return struct.pack("<I", ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF)

def event(step, tag, value):
    scalar = b"\\n" + bytes([len(tag)]) + tag + b"\\x15" + struct.pack("<f", value)
    summary = b"\\n" + bytes([len(scalar)]) + scalar
    body = b"\\t" + struct.pack("<d", time.time()) + b"\\x10" + bytes([step]) + b"*" + bytes([len(summary)]) + summary
    length = struct.pack("<Q", len(body))
    return length + crc(length) + body + crc(body)

os.makedirs("runs/a")
with open("runs/a/events.out.tfevents.1.host", "wb") as file:
    for step in range(1, 6):
        print("step %d loss=%.2f acc=0.5 gauge depth -> %d.5" % (step, 1 / step, step))
        print("gauge depth -> %d.5" % step)
        file.write(event(step, b"train/loss", 1 / step))
        file.flush()
        outlast.track(acc=0.501, step=step)
"""


@pytest.fixture
def points(tmp_path):
    bench = StintBench(tmp_path, SCRIPT, metric_patterns=[r"^gauge (?P<name>\w+) -> (?P<value>[\d.]+)"])
    end = bench.play()
    assert end.reason == "finished", bench.log()
    return read_points(bench.store, bench.run, 1), end


def test_each_metric_comes_from_its_best_source(points):
    found, end = points
    sources = {}
    for point in found:
        for name in point.values:
            sources.setdefault(name, set()).add(point.source)
    assert sources["train/loss"] == {"events"} and sources["acc"] == {"track"} and sources["depth"] == {"log"}
    assert "loss" not in sources and "loss" not in end.metrics and "train/loss" in end.metrics
    assert [point.step for point in found if "train/loss" in point.values] == [1, 2, 3, 4, 5]
    assert [point.values["depth"] for point in found if "depth" in point.values] == [1.5, 2.5, 3.5, 4.5, 5.5]
