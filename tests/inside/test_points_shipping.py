"""Tracked points in the store: masked, whole in every segment, and the best value carried from stint to stint."""

from __future__ import annotations

import math
import os

import pytest

from outlast.inside import layout
from outlast.inside.notepad import NAME_LENGTH, NAMES_LIMIT
from outlast.inside.points import RECORD, Batch, Block, items
from outlast.inside.progress import METRICS_LIMIT, Progress
from outlast.inside.records import Manifest
from outlast.inside.shipper import SEGMENT_BYTES, Shipper
from outlast.inside.spool import Spool
from outlast.testing.memory_store import MemoryStore

RUN = "1115-quiet-otter-7kx"


def batch_of(names, count):
    marks = dict(enumerate(names, 1))
    records = [RECORD.pack(float(n), math.nan, n, n / 7, n % len(names) + 1) for n in range(count)]
    return Batch(b"".join(records), marks)


def shipped(tmp_path, batch, secrets=()):
    """The segments that a batch becomes."""
    store = MemoryStore()
    shipper = Shipper(store, RUN, 1, str(tmp_path / "output"), secrets)
    shipper.points(batch, 2.5)
    assert shipper.close(30)
    return [store.get(entry.key) for entry in store.list(layout.metrics_prefix(RUN, 1))]


def rows_of(segments):
    return [row for data in segments for item in items(data) for row in item.batch().rows()]


def test_a_secret_in_a_name_never_reaches_the_store(tmp_path):
    segments = shipped(tmp_path, batch_of(["loss_hunter22", "acc"], 10), [b"hunter22"])
    assert b"hunter22" not in b"".join(segments)
    assert {row[3] for row in rows_of(segments)} == {"loss_***", "acc"}


@pytest.mark.parametrize("letter", ["x", "学", "\x01"])
def test_every_segment_can_be_read_by_itself_whatever_the_names(tmp_path, letter):
    names = [f"{number:05d}" + letter * (NAME_LENGTH - 5) for number in range(NAMES_LIMIT)]
    batch = batch_of(names, NAMES_LIMIT + 500)
    segments = shipped(tmp_path, batch)
    assert len(segments) > 1 and max(map(len, segments)) <= SEGMENT_BYTES
    assert rows_of(segments) == list(batch.rows())


def test_a_flood_arrives_completely(tmp_path):
    batch = batch_of(["loss", "acc"], 100_000)
    segments = shipped(tmp_path, batch)
    assert rows_of(segments) == list(batch.rows())
    blocks = [item for data in segments for item in items(data)]
    assert all(isinstance(block, Block) and block.base_s == 2.5 for block in blocks)
    assert sum(map(len, segments)) < len(batch.records) / 2


def test_what_the_disk_does_not_take_whole_it_does_not_take_at_all(tmp_path, monkeypatch):
    spool = Spool(str(tmp_path / "spool"))
    spool.append_whole(b"first")
    real = os.write

    def half(fd, data):
        if len(data) < 4:
            raise OSError(28, "No space left on device")
        return real(fd, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(OSError):
        spool.append_whole(b"second")
    monkeypatch.undo()
    spool.append_whole(b"third")
    assert spool.peek(100) == b"firstthird" and spool.waiting_bytes == 10
    spool.close()


def test_the_best_value_follows_the_line_of_checkpoints():
    progress = Progress({})
    progress.measured_all({"val_acc": [0.5, 0.9, math.nan, 0.7], "loss": [3.0, 1.0, 2.0], "lr": [0.1]})
    assert progress.metrics == {"val_acc": 0.7, "loss": 2.0, "lr": 0.1}
    assert progress.best == {"val_acc": 0.9, "loss": 1.0}
    manifest = Manifest(RUN, 1, 1, {}, metrics=dict(progress.metrics), best=dict(progress.best))
    progress.measured({"val_acc": 0.99})  # after the checkpoint: rolled back
    resumed = Progress({})
    resumed.recall(manifest.metrics, manifest.best)
    resumed.measured({"val_acc": 0.8, "loss": math.nan})
    assert resumed.best == {"val_acc": 0.9, "loss": 1.0}
    assert Manifest.from_bytes(manifest.to_bytes()) == manifest


def test_beats_stay_small_with_very_many_metrics():
    progress = Progress({})
    for number in range(3 * METRICS_LIMIT):
        progress.measured({f"loss{number}": 1.0})
    progress.measured({"loss0": 0.5})
    assert len(progress.metrics) == METRICS_LIMIT and progress.metrics["loss0"] == 0.5
