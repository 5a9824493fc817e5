"""TensorBoard event files, written with the standard library alone.

An event file is a chain of TFRecords: length, masked CRC32C of the length, data, masked CRC32C of the data; the data
is a protocol buffer `Event`. Only scalars are needed, and those are a handful of fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from outlast.inside.tfrecords import masked_crc
from outlast.track.export.source import ExportedRun, counted_points, safe_name

_FILE_VERSION = b"brain.Event:2"


def record(data: bytes) -> bytes:
    """One TFRecord."""
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _masked(data: bytes) -> bytes:
    return struct.pack("<I", masked_crc(data))


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1  # a negative int64 is written as its two's complement
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _bytes_field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(data)) + data


def scalar_event(wall_s: float, step: int, tag: bytes, value: float) -> bytes:
    """`Event{wall_time, step, summary{value{tag, simple_value}}}`."""
    try:
        number = struct.pack("<f", value)
    except OverflowError:  # beyond a 32-bit float, as TensorBoard's own writer has it
        number = struct.pack("<f", float("inf") if value > 0 else float("-inf"))
    simple = _bytes_field(1, tag) + b"\x15" + number
    return b"\x09" + struct.pack("<d", wall_s) + b"\x10" + _varint(step) + _bytes_field(5, _bytes_field(1, simple))


def events_of(run: ExportedRun, *, replayed: bool) -> Iterator[bytes]:
    """The records of one run, in the order of time: TensorBoard takes a step back for a restart."""
    yield record(b"\x09" + struct.pack("<d", run.created_at_s) + _bytes_field(3, _FILE_VERSION))
    events = [
        (run.wall_s(point), step, name.encode("utf-8", "replace"), point.value)
        for name, series in run.series.items()
        for step, point in counted_points(series, replayed=replayed)
    ]
    events.sort(key=lambda event: event[0])
    for event in events:
        yield record(scalar_event(*event))


def write_tensorboard(runs: Sequence[ExportedRun], target: Path, *, replayed: bool) -> int:
    """A folder per run in `target`, each with one event file; returns how many values were written."""
    count = 0
    for run in runs:
        folder = target / safe_name(run.run)
        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{int(run.created_at_s):010d}.outlast"
        with (folder / name).open("wb") as file:
            for number, event in enumerate(events_of(run, replayed=replayed)):
                file.write(event)
                count += number > 0
    return count
