"""Packing and unpacking that are cut short go on where they ended, and never leave a half-made place."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from bucket_tree import BucketTree
from filetrees import contents, fill

from outlast.inside.errors import Changed, NotFound, PlaceError
from outlast.inside.move import shardfile
from outlast.inside.move.base import Moving, Report
from outlast.inside.move.landing import PARTIAL_NAME
from outlast.inside.move.packed import INDEX_NAME, Packed, is_packed
from outlast.inside.move.packing import send_packed
from outlast.inside.move.unpacking import fetch_packed

SMALL = 16 << 10


class Counting(BucketTree):
    """Says what was sent and fetched, and may fail at one of the transfers."""

    def __init__(self, fail_at=None):
        super().__init__()
        self.sent, self.fetched = [], []
        self.fail_at = fail_at
        self.lock = threading.Lock()

    def send_one(self, job, report, how):
        self.count(self.sent, job)
        super().send_one(job, report, how)

    def fetch_one(self, job, report, how):
        self.count(self.fetched, job)
        super().fetch_one(job, report, how)

    def count(self, jobs, job):
        with self.lock:
            if self.fail_at is not None and len(jobs) >= self.fail_at:
                raise PlaceError("the network is gone")
            jobs.append(job.path)


@pytest.fixture
def files():
    seed = random.randrange(1 << 30)
    print("seed", seed)
    chance = random.Random(seed)
    return {f"c{at % 4}/{at:04}": chance.randbytes(chance.randrange(1, 4000)) for at in range(80)}


@pytest.fixture
def source(tmp_path, files):
    return str(fill(tmp_path / "source", files))


@pytest.mark.parametrize("fail_at", [0, 1, 3])
def test_an_interrupted_packing_skips_the_shards_that_are_there(source, tmp_path, files, fail_at):
    tree = Counting(fail_at)
    with pytest.raises(PlaceError, match="network is gone"):
        send_packed(source, tree, "set", shard_bytes=SMALL)
    assert not is_packed(tree, "set") and len(tree.sent) == fail_at
    with pytest.raises(NotFound):
        fetch_packed(tree, "set", str(tmp_path / "back"))
    tree.fail_at = None
    outcome = send_packed(source, tree, "set", shard_bytes=SMALL)
    assert outcome.skipped == fail_at and len(tree.sent) == outcome.shards > 4
    assert f"set/{PARTIAL_NAME}" not in tree.objects
    fetch_packed(tree, "set", str(tmp_path / "back"))
    assert contents(tmp_path / "back") == files


def test_packing_again_sends_nothing_and_a_change_sends_its_shard_only(source, tmp_path):
    tree = Counting()
    first = send_packed(source, tree, "set", shard_bytes=SMALL)
    tree.sent.clear()
    assert send_packed(source, tree, "set", shard_bytes=SMALL).skipped == first.shards and tree.sent == []
    last = Path(source, "c3/0079")
    last.write_bytes(bytes(reversed(last.read_bytes())))
    assert send_packed(source, tree, "set", shard_bytes=SMALL).skipped == first.shards - 1
    assert len(tree.sent) == 1
    fetch_packed(tree, "set", str(tmp_path / "back"))
    assert contents(tmp_path / "back") == contents(source)


def test_a_place_that_has_to_change_is_unfinished_until_it_is_done(source):
    tree = Counting()
    send_packed(source, tree, "set", shard_bytes=SMALL)
    Path(source, "c0/0000").write_bytes(b"another beginning moves everything")
    tree.fail_at = len(tree.sent)
    with pytest.raises(PlaceError):
        send_packed(source, tree, "set", shard_bytes=SMALL)
    assert not is_packed(tree, "set")


def test_fewer_files_leave_no_old_shards(source):
    tree = Counting()
    before = send_packed(source, tree, "set", shard_bytes=SMALL).shards
    for name in ("c2", "c3"):
        for path in Path(source, name).iterdir():
            path.unlink()
    after = send_packed(source, tree, "set", shard_bytes=SMALL).shards
    assert after < before
    assert sorted(tree.objects) == sorted([f"set/{INDEX_NAME}", *(f"set/shard-{at:06d}.tar" for at in range(after))])


def test_a_shard_of_the_right_size_with_other_bytes_is_found_by_a_full_check(source):
    tree = Counting()
    send_packed(source, tree, "set", shard_bytes=SMALL)
    name = "set/shard-000001.tar"
    tree.put(name, bytes(len(tree.objects[name][0])))
    tree.sent.clear()
    assert send_packed(source, tree, "set", how=Moving(full_check=True), shard_bytes=SMALL).complete
    assert tree.sent == [name]


def test_a_shard_that_is_gone_is_sent_again(source):
    tree = Counting()
    send_packed(source, tree, "set", shard_bytes=SMALL)
    tree.remove(["set/shard-000002.tar"])
    tree.sent.clear()
    send_packed(source, tree, "set", shard_bytes=SMALL)
    assert tree.sent == ["set/shard-000002.tar"]


@pytest.mark.parametrize("fail_at", [0, 1, 3])
def test_an_interrupted_unpacking_goes_on(source, tmp_path, files, fail_at):
    tree = Counting()
    send_packed(source, tree, "set", shard_bytes=SMALL)
    tree.fail_at = fail_at
    with pytest.raises(PlaceError):
        fetch_packed(tree, "set", str(tmp_path / "back"))
    there = contents(tmp_path / "back")
    assert all(files[name] == data for name, data in there.items()) and len(there) < len(files)
    tree.fail_at = None
    tree.fetched.clear()
    outcome = fetch_packed(tree, "set", str(tmp_path / "back"))
    assert outcome.skipped == len(there) and contents(tmp_path / "back") == files
    tree.fetched.clear()
    assert fetch_packed(tree, "set", str(tmp_path / "back")).skipped == len(files) and tree.fetched == []


def test_one_missing_file_is_fetched_alone(source, tmp_path, files):
    tree = Counting()
    send_packed(source, tree, "set", shard_bytes=SMALL)
    fetch_packed(tree, "set", str(tmp_path / "back"))
    (tmp_path / "back/c1/0041").unlink()
    tree.fetched.clear()
    fetch_packed(tree, "set", str(tmp_path / "back"))
    assert tree.fetched == [] and contents(tmp_path / "back") == files


class StopAfter(Report):
    def __init__(self, count):
        self.left = count

    def stopping(self):
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize("count", [0, 1, 2, 4, 7])
def test_a_wish_to_stop_is_heard_and_the_rest_follows_later(source, tmp_path, files, count):
    tree = Counting()
    outcome = send_packed(source, tree, "set", StopAfter(count), shard_bytes=SMALL)
    assert not outcome.complete and not is_packed(tree, "set")
    assert send_packed(source, tree, "set", shard_bytes=SMALL).complete
    assert not fetch_packed(tree, "set", str(tmp_path / "back"), StopAfter(count)).complete
    assert fetch_packed(tree, "set", str(tmp_path / "back")).complete
    assert contents(tmp_path / "back") == files


@pytest.mark.parametrize("size", [10, 100_000])
def test_a_file_that_changes_while_it_is_packed_is_named(tmp_path, monkeypatch, size):
    source = fill(tmp_path / "source", {"a": b"1" * size, "b": b"2" * size})
    real = shardfile.os.fstat

    def later(fd):
        os.utime(source / "b")
        return real(fd)

    monkeypatch.setattr(shardfile.os, "fstat", later)
    os.utime(source / "a", ns=(0, 0))
    os.utime(source / "b", ns=(0, 0))
    with pytest.raises(Changed, match="/b was rewritten"):
        send_packed(str(source), BucketTree(), "set", shard_bytes=SMALL)


def test_a_large_file_is_streamed_and_skipped_when_it_is_there(tmp_path):
    tree = Counting()
    files = {"a": b"small", "big": os.urandom(5 << 20), "c": b"small"}
    source = fill(tmp_path / "source", files)
    moved = []
    report = Report()
    report.moved = moved.append
    outcome = send_packed(str(source), tree, "set", report, shard_bytes=1 << 20)
    assert outcome.shards == 3 and sum(moved) == sum(shard.size_bytes for shard in Packed(tree, "set").header.shards)
    assert send_packed(str(source), tree, "set", shard_bytes=1 << 20).skipped == 3
    fetch_packed(tree, "set", str(tmp_path / "back"))
    assert contents(tmp_path / "back") == files


def test_a_local_target_keeps_no_leftovers_when_packing_fails(tmp_path):
    from outlast.inside.move.local import LocalTree

    source = fill(tmp_path / "source", {"a": "1", "b": "-> /etc"})
    with pytest.raises(Exception, match="b is a link"):
        send_packed(str(source), LocalTree(), str(tmp_path / "packed"))
    assert list((tmp_path / "packed").iterdir()) == []


CHILD = """
import os, sys
from outlast.inside.move.local import LocalTree
from outlast.inside.move.packing import send_packed
from outlast.inside.move.unpacking import fetch_packed
class Far(LocalTree):
    url = "far://"
source, place, back = sys.argv[1:]
os.makedirs(place)
send_packed(source, Far(), place)
fetch_packed(Far(), place, back)
# Not ru_maxrss: that one remembers the process which started this one.
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def test_memory_stays_small_whatever_the_size(tmp_path):
    source = fill(tmp_path / "source", {f"{at:03}": bytes(2 << 20) for at in range(40)})
    (source / "sparse").touch()
    os.truncate(source / "sparse", 160 << 20)
    arguments = [sys.executable, "-c", CHILD, str(source), str(tmp_path / "place"), str(tmp_path / "back")]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    assert int(done.stdout) < 100 << 10, "KiB of memory"
    assert (tmp_path / "back" / "sparse").stat().st_size == 160 << 20
