"""Columns say what series say, from a cache that may be missing, behind, damaged or fought over."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlast.errors import UsageError
from outlast.inside import layout
from outlast.inside.metrics import Point
from outlast.inside.points import NO_STEP, RECORD, Block, encode_block, items
from outlast.inside.records import End, Manifest, Order
from outlast.inside.shipper import metric_line
from outlast.inside.stores import open_store
from outlast.testing.memory_store import MemoryStore
from outlast.track import columns as columns_module
from outlast.track.columns import Column, downsample, read_columns
from outlast.track.series import read_points, read_series

np = pytest.importorskip("numpy")

RUN = "1115-quiet-otter-7kx"
NAMES = ["loss", "train/loss", "acc", "val/loss", "val_loss", "学习率"]


def block_of(points, base_s=0.0, source="track"):
    """A block of (at, epoch, step, {name: value})."""
    marks = {}
    records = b"".join(
        RECORD.pack(
            at, math.nan if epoch is None else epoch, NO_STEP if step is None else step, value,
            marks.setdefault(name, len(marks) + 1),
        )
        for at, epoch, step, values in points
        for name, value in values.items()
    )  # fmt: skip
    return encode_block(records, {mark: name for name, mark in marks.items()}, base_s, source)


def lines_of(points, source="log"):
    return b"".join(metric_line(Point(at, epoch, step, values), source) for at, epoch, step, values in points)


class Folder:
    """A run folder, written as the two halves write it."""

    def __init__(self, store=None):
        self.store = store if store is not None else MemoryStore()
        self.segments = {}

    def order(self, stint, resume_from=None):
        order = Order(run=RUN, stint=stint, token="t", platform="local", resume_from=resume_from)
        self.store.put(layout.order_key(RUN, stint), order.to_bytes())

    def segment(self, stint, data):
        number = self.segments[stint] = self.segments.get(stint, 0) + 1
        self.store.put(layout.metrics_key(RUN, stint, number), data)

    def checkpoint(self, stint, number, elapsed_s, parent=None):
        manifest = Manifest(run=RUN, stint=stint, number=number, files={}, parent=parent, elapsed_s=elapsed_s)
        name = layout.checkpoint_id(stint, number)
        self.store.put(layout.checkpoint_key(RUN, name), manifest.to_bytes())
        return name

    def end(self, stint, by="runner"):
        self.store.put(layout.end_key(RUN, stint), End(reason="hand-over", by=by).to_bytes())


def plain(series):
    """Series in a form in which nan equals nan."""
    return {
        name: [
            (p.stint, p.at_s, p.epoch, p.step, "nan" if math.isnan(p.value) else p.value, p.replayed)
            for p in one.points
        ]
        for name, one in series.items()
    }  # fmt: skip


def same_as_series(folder, cache=None):
    expected = read_series(folder.store, RUN)
    got = read_columns(folder.store, RUN, cache=cache)
    assert plain({name: column.to_series() for name, column in got.items()}) == plain(expected)
    for name, column in got.items():
        assert column.seams == expected[name].seams
        assert [p.value for p in column.curve.to_series().points if not math.isnan(p.value)] == [
            p.value for p in expected[name].curve if not math.isnan(p.value)
        ]
    return got


numbers = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.integers(-(10**30), 10**30).map(float))
calls = st.tuples(
    st.floats(0, 1e6),
    st.one_of(st.none(), st.integers(0, 5).map(float), st.floats(0, 5)),
    st.one_of(st.none(), st.integers(-3, 40), st.integers(-(2**63) + 1, 2**63 - 1)),
    st.dictionaries(st.sampled_from(NAMES), numbers, max_size=3),
)
segments = st.lists(
    st.tuples(st.sampled_from(["log", "track", "events", "block"]), st.lists(calls, max_size=6)), max_size=3
)
stints = st.tuples(segments, st.booleans(), st.floats(0, 1e6), st.booleans())


def encoded(kind, points):
    return (
        block_of(points, base_s=-1.5) if kind == "block" and points else lines_of(points, kind.replace("block", "log"))
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(stints, min_size=1, max_size=4), st.data())
def test_columns_say_what_series_say_at_every_moment_of_any_history(tmp_path_factory, history, data):
    folder, parent = Folder(), None
    cache = tmp_path_factory.mktemp("cache")
    for number, (recorded, commits, elapsed_s, is_ended) in enumerate(history, 1):
        folder.order(number, parent)
        for kind, points in recorded:
            folder.segment(number, encoded(kind, points))
            if data.draw(st.booleans()):
                same_as_series(folder, cache)
        if commits:
            parent = folder.checkpoint(number, 1, elapsed_s, parent)
        if is_ended:
            folder.end(number)
        if data.draw(st.booleans()):
            same_as_series(folder, cache)
    same_as_series(folder, cache)
    same_as_series(folder, None)


def training(folder, stint=1, count=100, name="loss"):
    folder.segment(stint, block_of([(float(i), None, i, {name: 1.0 / (i + 1)}) for i in range(count)]))


def test_a_block_and_lines_give_the_same_points():
    points = [(1.5, 1.0, 3, {"loss": 0.5, "acc": math.inf}), (2.5, None, None, {"loss": math.nan})]
    folder = Folder()
    folder.order(1)
    folder.order(2)
    folder.segment(1, block_of(points))
    folder.segment(2, lines_of(points, "track"))
    first, second = read_points(folder.store, RUN, 1), read_points(folder.store, RUN, 2)
    assert [(p.at_s, p.epoch, p.step, str(p.values), p.source) for p in first] == [
        (p.at_s, p.epoch, p.step, str(p.values), p.source) for p in second
    ]


def test_a_cache_is_used_and_brought_up_to_date_by_new_segments_alone(tmp_path):
    folder = Folder()
    folder.order(1)
    training(folder)
    read_columns(folder.store, RUN, cache=tmp_path)
    asked = []
    folder.store.on_call = lambda verb, key: asked.append((verb, key))
    assert len(read_columns(folder.store, RUN, cache=tmp_path)["loss"]) == 100
    assert not [call for call in asked if call[0] == "list" or ("/metrics/" in call[1] and call[0] == "get")]
    folder.store.on_call = None
    training(folder)
    folder.store.on_call = lambda verb, key: asked.append((verb, key))
    assert len(read_columns(folder.store, RUN, cache=tmp_path)["loss"]) == 200
    assert ("get", layout.metrics_key(RUN, 1, 1)) not in asked


def test_a_run_that_is_over_costs_one_question(tmp_path):
    folder = Folder()
    folder.order(1)
    training(folder)
    folder.checkpoint(1, 1, 5.0)
    folder.end(1)
    read_columns(folder.store, RUN, cache=tmp_path)
    asked = []
    folder.store.on_call = lambda verb, key: asked.append((verb, key))
    assert len(read_columns(folder.store, RUN, ["loss", "nothing"], cache=tmp_path)["loss"]) == 100
    assert asked == [("head", layout.order_key(RUN, 2))]


def test_a_stint_that_was_behind_when_two_others_came_is_read_to_its_end(tmp_path):
    folder = Folder()
    folder.order(1)
    training(folder)
    read_columns(folder.store, RUN, cache=tmp_path)
    training(folder)
    for stint in (2, 3, 4):
        folder.end(stint - 1, by="keeper")
        folder.order(stint)
        training(folder, stint)
    same_as_series(folder, tmp_path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda cache: (cache / "state.json").write_text("{"),
        lambda cache: (cache / "state.json").write_text('{"format": 99}'),
        lambda cache: (cache / "state.json").write_text("[]"),
        lambda cache: (cache / "state.json").unlink(),
        lambda cache: (cache / "0001.rows").unlink(),
        lambda cache: (cache / "0001.rows").write_bytes(b"x"),
        lambda cache: next(cache.glob("columns-????????")).unlink(),
        lambda cache: next(cache.glob("columns-????????")).write_bytes(b"short"),
        lambda cache: (cache / "0001.rows").write_bytes((cache / "0001.rows").read_bytes() + b"of a killed refresh"),
    ],
)
def test_a_damaged_cache_is_made_anew(tmp_path, spoil):
    folder = Folder()
    folder.order(1)
    training(folder)
    read_columns(folder.store, RUN, cache=tmp_path)
    spoil(tmp_path / RUN)
    same_as_series(folder, tmp_path)
    training(folder)
    same_as_series(folder, tmp_path)


def test_a_cache_that_cannot_be_written_is_no_reason_to_fail(tmp_path):
    folder = Folder()
    folder.order(1)
    training(folder)
    (tmp_path / "file").write_text("not a folder")
    assert len(read_columns(folder.store, RUN, cache=tmp_path / "file")["loss"]) == 100


def test_columns_cannot_be_written_and_outlive_their_cache(tmp_path):
    folder = Folder()
    folder.order(1)
    training(folder)
    read_columns(folder.store, RUN, cache=tmp_path)
    column = read_columns(folder.store, RUN, cache=tmp_path)["loss"]
    with pytest.raises(ValueError):
        column.value[0] = 9.0
    for path in (tmp_path / RUN).iterdir():
        path.unlink()
    assert float(column.value.sum()) == pytest.approx(sum(1.0 / (i + 1) for i in range(100)))


def _read_often(address, cache, times):
    from pathlib import Path

    for _ in range(times):
        column = read_columns(open_store(address), RUN, cache=Path(cache)).get("loss")
        steps = [] if column is None else column.step.tolist()
        assert steps == list(range(len(steps))), "torn"


def test_many_processes_share_one_cache_while_the_run_goes_on(tmp_path):
    address = f"file://{tmp_path}/store"
    folder = Folder(open_store(address))
    folder.order(1)
    context = multiprocessing.get_context("spawn")
    readers = [context.Process(target=_read_often, args=(address, str(tmp_path / "cache"), 40)) for _ in range(3)]
    for reader in readers:
        reader.start()
    for part in range(60):
        folder.segment(1, block_of([(float(i), None, i, {"loss": 0.5}) for i in range(part * 50, part * 50 + 50)]))
    for reader in readers:
        reader.join(150)
    assert [reader.exitcode for reader in readers] == [0, 0, 0]
    assert len(same_as_series(folder, tmp_path / "cache")["loss"]) == 3000
    left = [name for name in os.listdir(tmp_path / "cache" / RUN) if name.startswith("columns-")]
    assert len(left) == 1


# ---- damage in segments


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_damaged_segment_never_stops_the_reading_and_invents_nothing(data):
    good = [block_of([(float(i), None, i, {"loss": 0.25})]) for i in range(3)]
    pieces = [good[0], lines_of([(3.0, 1, 1, {"acc": 0.5})]), good[1], good[2]]
    whole = bytearray(b"".join(pieces))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    whole = whole[: data.draw(st.integers(0, len(whole)))]
    for item in items(bytes(whole)):
        if isinstance(item, Block):
            assert all(row[3:] == ("loss", 0.25) for row in item.batch().rows())


def test_what_follows_a_damaged_block_is_read():
    blocks = [bytearray(block_of([(float(i), None, i, {"loss": 0.25})])) for i in range(3)]
    blocks[1][-3] ^= 255
    found = [item.batch().rows() for item in items(b"".join(blocks))]
    assert [next(rows)[2] for rows in found] == [0, 2]
    torn = bytes(blocks[0])[:-4] + lines_of([(3.0, 1, 1, {"acc": 0.5})])
    assert len(list(items(torn))) <= 1
    assert list(items(b"\xffOP1" + struct.pack("<IIII", 0, 1 << 31, 1, 1))) == []


# ---- downsampling


def wave(count, **changes):
    value = np.sin(np.arange(count) / 50.0)
    base = dict(  # noqa: C408 - names without quotes read better here
        stint=np.ones(count, "i4"), step=np.arange(count), epoch=np.full(count, np.nan), at_s=np.arange(count) * 1.0,
        value=value, replayed=np.zeros(count, bool), source=np.full(count, 2, "u1"),
    )  # fmt: skip
    return Column("wave", **{**base, **changes})


@pytest.mark.parametrize("method", ["lttb", "minmax"])
@pytest.mark.parametrize("library", [True, False])
def test_a_downsampled_curve_keeps_its_ends_its_order_and_its_extremes(method, library, monkeypatch):
    if not library:
        monkeypatch.setitem(__import__("sys").modules, "tsdownsample", None)
    column = wave(20_011)
    column.value[7777] = 40.0
    small = downsample(column, 500, method)
    assert 400 <= len(small) <= 504
    assert small.step[0] == 0 and small.step[-1] == 20_010
    assert (np.diff(small.step) > 0).all()
    assert small.value.max() == 40.0


@pytest.mark.parametrize("method", ["lttb", "minmax"])
def test_what_has_no_height_leaves_a_visible_gap(method):
    value = np.sin(np.arange(10_000) / 50.0)
    value[3000:3100] = np.nan
    value[6000] = np.inf
    small = downsample(wave(10_000, value=value), 200, method)
    assert small.step[~np.isfinite(small.value)].tolist() == [3000, 6000]
    only = downsample(wave(10_000, value=np.full(10_000, np.nan)), 200, method)
    assert len(only) == 1
    noisy = np.where(np.arange(10_000) % 2 == 0, np.nan, 1.0)
    assert len(downsample(wave(10_000, value=noisy), 200, method)) <= 204


def test_a_short_column_stays_as_it_is():
    column = wave(10)
    assert downsample(column, 10) is column
    with pytest.raises(ValueError, match="at least 3"):
        downsample(column, 2)


def test_without_numpy_one_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(columns_module, "have_numpy", lambda: False)
    with pytest.raises(UsageError, match="numpy") as caught:
        read_columns(MemoryStore(), RUN)
    assert "outlast[charts]" in caught.value.hint


def test_state_is_json_that_a_person_can_read(tmp_path):
    folder = Folder()
    folder.order(1)
    training(folder)
    read_columns(folder.store, RUN, cache=tmp_path)
    state = json.loads((tmp_path / RUN / "state.json").read_text())
    assert state["places"] == {"loss": [0, 100]} and state["names"] == ["loss"]
