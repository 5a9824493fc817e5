"""Event files: the bytes that TensorBoard's own format asks for, read back by TensorBoard where it is installed."""

from __future__ import annotations

import math
import struct

import pytest

from outlast.inside.tfrecords import crc32c
from outlast.track.export.source import ExportedRun, counted_points, safe_name
from outlast.track.export.tensorboard import record, scalar_event, write_tensorboard
from outlast.track.series import Series, SeriesPoint


def run(**series):
    return ExportedRun("1115-quiet-otter-7kx", "digits", "ann", "succeeded", 1000.0, series, {1: 1000.0, 2: 2000.0})


LOSS = Series(
    "loss",
    [
        SeriesPoint(1, 1.0, 1.0, 10, 0.9),
        SeriesPoint(1, 2.0, 2.0, 20, 0.8, replayed=True),
        SeriesPoint(2, 1.0, 2.0, 20, 0.7),
        SeriesPoint(2, 2.0, 3.0, 30, math.nan),
    ],
)


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"", 0), (b"123456789", 0xE3069283), (b"\x00" * 32, 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43)],
)
def test_the_checksum_is_castagnolis(data, expected):
    assert crc32c(data) == expected


def test_a_record_is_length_checksum_data_checksum():
    data = record(b"abc")
    assert struct.unpack("<Q", data[:8]) == (3,) and data[12:15] == b"abc" and len(data) == 19


def test_an_event_has_its_fields_in_the_wire_format():
    event = scalar_event(1.5, 300, b"loss", 0.25)
    summary = b"\x2a\x0d\x0a\x0b\x0a\x04loss\x15" + struct.pack("<f", 0.25)
    assert event == b"\x09" + struct.pack("<d", 1.5) + b"\x10\xac\x02" + summary
    assert b"\xff" * 9 + b"\x01" in scalar_event(0.0, -1, b"x", 1e300), "a negative step is ten bytes"


def read(path):
    """The records of a file, their checksums verified by a second, slower way."""
    data = path.read_bytes()
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        yield data[at + 12 : at + 12 + length]
        at += 16 + length
    assert at == len(data)


def test_a_file_holds_a_version_and_every_value_that_counts(tmp_path):
    assert write_tensorboard([run(loss=LOSS)], tmp_path, replayed=False) == 3
    (path,) = tmp_path.rglob("events.out.tfevents.*")
    version, *events = read(path)
    assert b"brain.Event:2" in version and len(events) == 3
    assert write_tensorboard([run(loss=LOSS)], tmp_path, replayed=True) == 4
    assert len(list(tmp_path.rglob("events.*"))) == 1, "written again, not beside"


def test_tensorboard_reads_what_we_write(tmp_path):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    write_tensorboard([run(loss=LOSS, **{"val/损失 <b>": LOSS})], tmp_path, replayed=False)
    found = events.EventAccumulator(str(tmp_path / "1115-quiet-otter-7kx"))
    found.Reload()
    assert sorted(found.Tags()["scalars"]) == ["loss", "val/损失 <b>"]
    values = found.Scalars("loss")
    assert [(one.step, one.wall_time) for one in values] == [(10, 1001.0), (20, 2001.0), (30, 2002.0)]
    assert values[1].value == pytest.approx(0.7) and math.isnan(values[2].value)


def points(*places):
    return Series("m", [SeriesPoint(1, float(at), epoch, step, 0.0) for at, (epoch, step) in enumerate(places)])


@pytest.mark.parametrize(
    ("places", "steps"),
    [
        ([(1.0, 5), (1.0, 6)], [5, 6]),
        ([(1.0, None), (2.0, None)], [1, 2]),
        ([(1.0, None), (1.0, None)], [0, 1]),
        ([(0.5, None), (1.5, None)], [0, 1]),
        ([(None, None), (3.0, 7)], [0, 1]),
    ],
)
def test_the_step_is_the_step_or_a_whole_epoch_or_the_position(places, steps):
    assert [step for step, _ in counted_points(points(*places), replayed=True)] == steps


def test_a_name_cannot_leave_its_folder():
    assert safe_name("../../etc/passwd") == "etc-passwd" and safe_name("..") == "run" and safe_name("a b/c") == "a-b-c"
