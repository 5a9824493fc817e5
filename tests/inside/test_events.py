"""TensorBoard's event files: what its own writer writes is read, torn records wait, damaged ones end the file."""

from __future__ import annotations

import contextlib
import math
import os
import struct
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.inside import events
from outlast.inside.events import EventFiles
from outlast.inside.tfrecords import DamagedRecord, masked_crc, records, scalars


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(found) + bytes([number])


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def scalar_value(tag: str, value: float) -> bytes:
    return field(1, field(1, tag.encode()) + varint(2 << 3 | 5) + struct.pack("<f", value))


def tensor_value(tag: str, kind: int, content: bytes = b"", shape: bytes = b"", held: bytes = b"") -> bytes:
    tensor = varint(1 << 3) + varint(kind) + (field(2, shape) if shape else b"") + held
    tensor += field(4, content) if content else b""
    return field(1, field(1, tag.encode()) + field(8, tensor))


def event(step: int, values: bytes, wall_s: float | None = None) -> bytes:
    wall = struct.pack("<d", time.time() if wall_s is None else wall_s)
    return record(varint(1 << 3 | 1) + wall + varint(2 << 3) + varint(step) + field(5, values))


def record(payload: bytes) -> bytes:
    length = struct.pack("<Q", len(payload))
    return length + struct.pack("<I", masked_crc(length)) + payload + struct.pack("<I", masked_crc(payload))


def write(path, data: bytes, mode: str = "wb") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode) as file:
        file.write(data)


def follow(folder, **options) -> EventFiles:
    files = EventFiles(str(folder), **options)
    files.baseline()
    return files


def all_of(files: EventFiles, now_s: float = 100.0):
    return [(point.step, point.values) for point in files.poll(now_s, is_last=True)]


def test_checksum_is_the_one_of_the_standard():
    crc = (masked_crc(b"123456789") - 0xA282EAD8) & 0xFFFFFFFF
    assert (crc << 15 | crc >> 17) & 0xFFFFFFFF == 0xE3069283


def test_tensorboards_own_writer_is_read(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    files = follow(tmp_path)
    writer = EventFileWriter(str(tmp_path / "runs" / "a"))
    for step in range(100):
        values = [Summary.Value(tag="loss/train", simple_value=1 / (step + 1)), Summary.Value(tag="lr", simple_value=0)]
        writer.add_event(Event(step=step, wall_time=time.time(), summary=Summary(value=values)))
    writer.close()
    found = all_of(files)
    assert [step for step, _ in found] == list(range(100)) and files.problems == []
    assert found[3][1] == {"loss/train": pytest.approx(0.25), "lr": 0.0}


def test_scalar_tensors_of_every_kind_are_read_and_others_are_not(tmp_path):
    single, several = b"", field(2, varint(1 << 3) + varint(3))
    data = event(1, tensor_value("float", 1, struct.pack("<f", 0.5), single))
    data += event(2, tensor_value("double", 2, struct.pack("<d", 0.25)))
    data += event(3, tensor_value("whole", 9, struct.pack("<q", -7)))
    data += event(4, tensor_value("held", 1, held=varint(5 << 3 | 5) + struct.pack("<f", 2.0)))
    data += event(5, tensor_value("packed", 3, held=field(7, varint(12))))
    data += event(6, tensor_value("text", 7, b"hello"))
    data += event(7, tensor_value("histogram", 1, struct.pack("<3f", 1, 2, 3), several))
    data += event(-8, scalar_value("nan", math.nan))
    files = follow(tmp_path)
    write(tmp_path / "events.out.tfevents.1.host", data)
    found = all_of(files)
    assert found[:5] == [
        (1, {"float": 0.5}),
        (2, {"double": 0.25}),
        (3, {"whole": -7}),
        (4, {"held": 2}),
        (5, {"packed": 12}),
    ]
    assert found[5][0] == -8 and math.isnan(found[5][1]["nan"]) and len(found) == 6


def test_what_lay_there_before_is_not_read_again(tmp_path):
    old = tmp_path / "out" / "events.out.tfevents.1.host"
    write(old, event(1, scalar_value("loss", 1.0)))
    files = follow(tmp_path)
    assert all_of(files) == []
    write(old, event(2, scalar_value("loss", 0.5)), "ab")
    assert all_of(files) == [(2, {"loss": 0.5})]


def test_torn_record_waits_for_its_end_at_every_cut(tmp_path):
    whole = event(1, scalar_value("loss", 1.0)) + event(2, scalar_value("loss", 0.5))
    path = tmp_path / "events.out.tfevents.1.host"
    for cut in range(0, len(whole), 7):
        files = follow(tmp_path)
        write(path, whole[:cut])
        first = all_of(files)
        write(path, whole[cut:], "ab")
        assert first + all_of(files) == [(1, {"loss": 1.0}), (2, {"loss": 0.5})]
        assert files.problems == []
        path.unlink()


def test_damaged_record_ends_its_file_with_one_sentence(tmp_path):
    good, bad = event(1, scalar_value("loss", 1.0)), bytearray(event(2, scalar_value("loss", 0.5)))
    bad[20] ^= 1
    files = follow(tmp_path)
    write(tmp_path / "a" / "events.out.tfevents.1.host", good + bytes(bad) + good)
    write(tmp_path / "b" / "events.out.tfevents.1.host", event(9, scalar_value("acc", 0.5)))
    assert all_of(files) == [(1, {"loss": 1.0}), (9, {"acc": 0.5})]
    assert len(files.problems) == 1 and "a/events.out.tfevents.1.host" in files.problems[0]
    files.problems.clear()
    assert all_of(files) == [] and files.problems == []


def test_large_records_are_stepped_over(tmp_path):
    files = follow(tmp_path)
    image = record(b"\x2a" + varint(400_000) + b"x" * 400_000)
    write(tmp_path / "events.out.tfevents.1.h", image + event(3, scalar_value("loss", 0.5)) + image)
    assert all_of(files) == [(3, {"loss": 0.5})]


def test_folders_that_tell_data_sets_apart_are_in_the_name(tmp_path):
    files = follow(tmp_path)
    for part in ("logs/train", "logs/validation", "runs/a", "runs/a/loss_val"):
        write(tmp_path / part / "events.out.tfevents.1.h", event(1, scalar_value("epoch_loss", 0.5)))
    names = {name for _, values in all_of(files) for name in values}
    assert names == {"train/epoch_loss", "validation/epoch_loss", "epoch_loss", "loss_val/epoch_loss"}


def test_scalars_of_one_step_are_one_point_with_its_epoch(tmp_path):
    files = follow(tmp_path)
    path = tmp_path / "runs" / "events.out.tfevents.1.h"
    write(path, event(10, scalar_value("train/loss", 0.5)))
    assert files.poll(1.0) == []  # the next record may belong to the same step
    write(path, event(10, scalar_value("train/epoch", 1.5)) + event(20, scalar_value("train/loss", 0.25)), "ab")
    (point,) = files.poll(3.0)
    assert (point.epoch, point.step, point.values) == (1.5, 10, {"train/loss": 0.5})
    (point,) = files.poll(5.0)  # quiet: nothing is to come for now
    assert (point.step, point.values) == (20, {"train/loss": 0.25})


def test_clock_that_jumped_gives_times_within_the_stint(tmp_path):
    files = follow(tmp_path)
    far = event(1, scalar_value("loss", 1.0), 0.0) + event(2, scalar_value("loss", 1.0), 4e9)
    write(tmp_path / "events.out.tfevents.1.h", far)
    assert [point.at_s for point in files.poll(50.0, is_last=True)] == [0.0, 50.0]


def test_inputs_hidden_folders_and_links_are_left_alone(tmp_path):
    files = follow(tmp_path, skipped=["data"])
    for part in ("data", ".git", "__pycache__"):
        write(tmp_path / part / "events.out.tfevents.1.h", event(1, scalar_value("loss", 0.5)))
    (tmp_path / "link").symlink_to(tmp_path / "data")
    assert all_of(files) == []


def test_a_quiet_tree_costs_only_stat_calls(tmp_path, monkeypatch):
    for number in range(50):
        write(tmp_path / f"f{number}" / "events.out.tfevents.1.h", event(1, scalar_value("loss", 0.5)))
        os.utime(tmp_path / f"f{number}", (1, 1))
    os.utime(tmp_path, (1, 1))
    files = follow(tmp_path)
    monkeypatch.setattr(os, "scandir", lambda *_: pytest.fail("a folder was listed"))
    monkeypatch.setattr("builtins.open", lambda *_: pytest.fail("a file was opened"))
    assert files.poll(10.0) == []


def test_too_many_names_are_refused_with_one_sentence(tmp_path):
    files = follow(tmp_path)
    data = b"".join(event(1, scalar_value(f"t{number}", 1.0)) for number in range(events.NAMES_CAP + 50))
    write(tmp_path / "events.out.tfevents.1.h", data)
    assert len({name for _, values in all_of(files) for name in values}) == events.NAMES_CAP
    assert len(files.problems) == 1


@settings(max_examples=200, deadline=None)
@given(payload=st.binary(max_size=200))
def test_any_payload_is_read_or_refused(payload):
    with contextlib.suppress(DamagedRecord):
        scalars(payload)


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_records_or_refused(data):
    with contextlib.suppress(DamagedRecord):
        assert all(end > 0 for end, _ in records(data))
