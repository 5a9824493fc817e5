"""Processes that help to pack and unpack: the same result as one process alone, whatever happens to them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from bucket_tree import BucketTree
from filetrees import contents, fill

from hands_seen import watch_hands
from outlast.inside import beside
from outlast.inside.errors import Changed, Damaged, NotFound, PlaceError, RequestError
from outlast.inside.move import packhand, packing, unpackhand, unpacking
from outlast.inside.move.base import Report
from outlast.inside.move.local import LocalTree
from outlast.inside.move.packed import Packed
from outlast.inside.move.packing import send_packed
from outlast.inside.move.scanning import Found
from outlast.inside.move.unpacking import fetch_packed

SHARD_BYTES = 16 << 10
FILES = {f"c{at % 5}/图 {at:03}": b"%d" % at * (at * 3) for at in range(150)} | {
    "c1/large": bytes(range(256)) * 200,
    "c2/link": "-> large",
    "empty": None,
}


@pytest.fixture
def started(monkeypatch):
    """The processes that are started, for a few files already."""
    found = watch_hands(monkeypatch)
    monkeypatch.setattr(packing, "_MUCH", 2)
    monkeypatch.setattr(unpackhand, "_SLICE", 5)
    monkeypatch.setattr(unpacking, "_MUCH", 5)
    yield found
    assert all(process.returncode is not None for process in found)


@pytest.fixture
def source(tmp_path):
    return str(fill(tmp_path / "source", FILES))


def kill(process):
    """Kill -9, and wait until it is gone; `wait` would take its exit code away from whoever started it."""
    process.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)


def test_hands_build_the_same_shards_and_the_same_folder(source, tmp_path, started, monkeypatch):
    bucket, alone = BucketTree(), BucketTree()
    outcome = send_packed(source, bucket, "set", shard_bytes=SHARD_BYTES)
    assert len(started) == 2
    fetch_packed(bucket, "set", str(tmp_path / "back"))
    assert len(started) == 4
    assert contents(tmp_path / "back") == contents(source) == FILES
    monkeypatch.setattr(beside, "processors", lambda: 1)
    assert send_packed(source, alone, "set", shard_bytes=SHARD_BYTES) == outcome
    assert len(started) == 4
    assert {name: kept[0] for name, kept in alone.objects.items()} == {
        name: kept[0] for name, kept in bucket.objects.items()
    }


def test_one_shard_of_few_files_starts_no_process(tmp_path, started):
    source = fill(tmp_path / "source", {"a": "1", "b": "2", "c": "3"})
    bucket = BucketTree()
    send_packed(str(source), bucket, "set")
    fetch_packed(bucket, "set", str(tmp_path / "back"))
    assert not started


@pytest.mark.parametrize("after", [1, 2, 5])
def test_what_a_killed_hand_had_is_done_all_the_same(source, tmp_path, started, monkeypatch, after):
    class Deadly(packing._Packer):
        count = 0

        def do(self, piece):
            self.count += 1
            if self.count == after:
                for process in started:
                    kill(process)
            return super().do(piece)

    class DeadlyToo(unpacking._Fetcher):
        count = 0

        def do(self, piece):
            self.count += 1
            if self.count == after:
                for process in started[2:]:
                    kill(process)
            super().do(piece)

    monkeypatch.setattr(packing, "_Packer", Deadly)
    monkeypatch.setattr(unpacking, "_Fetcher", DeadlyToo)
    bucket = BucketTree()
    assert send_packed(source, bucket, "set", shard_bytes=SHARD_BYTES).complete
    assert fetch_packed(bucket, "set", str(tmp_path / "back")).complete
    assert len(started) == 4
    assert contents(tmp_path / "back") == FILES


def test_without_any_process_the_work_is_done_alone(source, tmp_path, monkeypatch, started):
    def refuse(*_args, **_kwargs):
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(beside.subprocess, "Popen", refuse)
    bucket = BucketTree()
    send_packed(source, bucket, "set", shard_bytes=SHARD_BYTES)
    fetch_packed(bucket, "set", str(tmp_path / "back"))
    assert contents(tmp_path / "back") == FILES


def test_a_file_that_changes_is_named_and_no_parts_are_left(source, tmp_path, started, monkeypatch):
    changing = Path(source) / "c0" / "图 000"
    real = packhand.head_bytes

    def found(path, *words):
        if path.startswith("c1"):
            changing.write_text("more")
        return real(path, *words)

    monkeypatch.setattr(packhand, "head_bytes", found)
    target = tmp_path / "packed"
    with pytest.raises(Changed, match=r"c0/图 000 was rewritten while it was packed"):
        send_packed(source, LocalTree(), str(target), shard_bytes=SHARD_BYTES)
    assert [path.name for path in target.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("kind", [Changed, Damaged, NotFound, PlaceError, RequestError])
def test_what_fails_in_a_hand_is_the_same_error_here(kind):
    error = beside.error_of(beside.fault(kind("c0/图 000")))
    assert type(error) is kind and str(error) == str(kind("c0/图 000"))


def test_damage_that_a_hand_finds_is_an_error_here(source, tmp_path, started):
    bucket = BucketTree()
    send_packed(source, bucket, "set", shard_bytes=SHARD_BYTES)
    for member in Packed(bucket, "set").members():
        if member.path == "c3/图 148":
            name = f"set/shard-{member.shard:06d}.tar"
            data = bytearray(bucket.objects[name][0])
            data[member.offset] ^= 1
            bucket.objects[name] = (bytes(data), *bucket.objects[name][1:])
    with pytest.raises(Damaged, match="c3/图 148 is not what the index says"):
        fetch_packed(bucket, "set", str(tmp_path / "back"))
    assert not (tmp_path / "back" / "c3" / "图 148").exists()


@pytest.mark.parametrize("after", [0, 2, 6])
def test_a_wish_to_stop_ends_the_hands_and_the_rest_follows_later(source, tmp_path, started, after):
    class StopAfter(Report):
        left = after

        def stopping(self):
            self.left -= 1
            return self.left < 0

    bucket = BucketTree()
    assert not send_packed(source, bucket, "set", StopAfter(), shard_bytes=SHARD_BYTES).complete
    assert send_packed(source, bucket, "set", shard_bytes=SHARD_BYTES).complete
    assert not fetch_packed(bucket, "set", str(tmp_path / "back"), StopAfter()).complete
    assert fetch_packed(bucket, "set", str(tmp_path / "back")).complete
    assert contents(tmp_path / "back") == FILES


def test_tiny_files_do_not_fill_a_shard_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(packhand, "MOST_MEMBERS", 7)
    source = fill(tmp_path / "source", {f"{at:02}": "x" for at in range(20)})
    bucket = BucketTree()
    assert send_packed(str(source), bucket, "set").shards == 3
    fetch_packed(bucket, "set", str(tmp_path / "back"))
    assert len(contents(tmp_path / "back")) == 20


def test_shards_are_small_at_first_and_grow():
    found = [Found(f"{at:06}", "", "file", 1 << 20, 0, 0o644) for at in range(4_000)]
    assert [len(each.members) for each in packhand.cut(iter(found), 64 << 20, packhand.growing(64 << 20))] == [
        *[7] * 8, *[15] * 8, *[31] * 8, *[63] * 56, 48,
    ]  # fmt: skip
    assert [len(each.members) for each in packhand.cut(iter(found), 2048 << 20, lambda number: 2048 << 20)] == [
        2046, 1954,
    ]  # fmt: skip


def test_a_file_longer_than_the_first_shards_has_one_that_is_built_like_them():
    found = [Found(f"{at}", "", "file", size << 20, 0, 0o644) for at, size in enumerate([1, 20, 1, 70, 1])]
    cuts = list(packhand.cut(iter(found), 64 << 20, packhand.growing(64 << 20)))
    assert [(len(each.members), each.is_large) for each in cuts] == [
        (1, False), (1, False), (1, False), (1, True), (1, False),
    ]  # fmt: skip


def test_shards_that_were_fetched_go_as_soon_as_they_are_unpacked(source, tmp_path, started, monkeypatch):
    seen = []

    class Counting(unpacking._Fetcher):
        def _fetch(self, number, folder):
            seen.append(len(os.listdir(folder)))
            return super()._fetch(number, folder)

    monkeypatch.setattr(unpacking, "_Fetcher", Counting)
    bucket = BucketTree()
    shards = send_packed(source, bucket, "set", shard_bytes=SHARD_BYTES).shards
    fetch_packed(bucket, "set", str(tmp_path / "back"))
    # Under way, being cut into slices, and those that the slices lent to two hands and written here come from.
    assert shards >= len(seen) > 20 and max(seen) <= 10
