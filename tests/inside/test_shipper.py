"""Output and metrics reach the store once and in order, whatever the store and the disk do."""

from __future__ import annotations

import errno
import json
import os
import random
import resource
import threading
import time

import pytest

from outlast.inside import layout, spool
from outlast.inside.errors import NotFound, PlaceError
from outlast.inside.metrics import Point
from outlast.inside.shipper import EAGER_BYTES, SEGMENT_BYTES, Shipper, metric_line
from outlast.testing.memory_store import MemoryStore

RUN, STINT = "1115-quiet-otter-7kx", 3


def shipped(store: MemoryStore, prefix: str | None = None) -> list[bytes]:
    return [store.get(entry.key) for entry in store.list(prefix or layout.log_prefix(RUN, STINT))]


def until(condition, seconds: float = 150) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.005)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def make(store, tmp_path):
    made: list[Shipper] = []

    def build(secrets=(), where=None) -> Shipper:
        made.append(Shipper(where or store, RUN, STINT, str(tmp_path / "output.log"), secrets))
        return made[-1]

    yield build
    for shipper in made:
        shipper.close(5.0)


def test_output_arrives_in_order_and_leaves_no_local_file(store, make, tmp_path):
    shipper = make()
    for n in range(1000):
        shipper.log(b"line %d\n" % n)
    assert shipper.close(10.0)
    assert b"".join(shipped(store)) == b"".join(b"line %d\n" % n for n in range(1000))
    assert list(tmp_path.iterdir()) == []


def test_first_line_is_there_soon_without_a_flush(store, make):
    shipper = make()
    began = time.monotonic()
    shipper.log(b"hello\n")
    until(lambda: shipped(store))
    print(f"after {time.monotonic() - began:.2f} s")
    assert shipped(store) == [b"hello\n"]


def test_silence_makes_no_segments(store, make):
    shipper = make()
    shipper.log(b"a\n")
    assert shipper.flush(5.0) and shipper.flush(5.0)
    shipper.log(b"")
    assert shipper.close(5.0)
    assert len(shipped(store)) == 1


def test_segments_end_at_line_ends_and_stay_below_their_size(store, make):
    shipper = make()
    line = b"x" * 999 + b"\n"
    for _ in range(3000):
        shipper.log(line[:500])
        shipper.log(line[500:])
    assert shipper.close(20.0)
    segments = shipped(store)
    assert b"".join(segments) == line * 3000
    assert all(len(segment) <= SEGMENT_BYTES for segment in segments)
    assert sum(not segment.endswith(b"\n") for segment in segments) <= 1 + len(line) * 3000 // spool.PART_BYTES


def test_a_line_that_never_ends_is_shipped_all_the_same(store, make):
    shipper = make()
    for _ in range(40):
        shipper.log(b"." * 65536)
    assert shipper.close(10.0)
    assert b"".join(shipped(store)) == b"." * 65536 * 40


def test_many_waiting_bytes_go_at_once(store, make):
    shipper = make()
    shipper.log(b"first\n")
    until(lambda: len(shipped(store)) == 1)
    shipper.log(b"y" * (EAGER_BYTES - 1) + b"\n")
    until(lambda: sum(map(len, shipped(store))) >= EAGER_BYTES, 5.0)


class Flaky(MemoryStore):
    """Fails puts as a seeded coin says; sometimes it fails after having taken the bytes."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = random.Random(seed)
        self.is_down = False
        self.versions: dict[str, set[bytes]] = {}

    def put(self, key, data):
        toss = self.random.random()
        if self.is_down or toss < 0.3:
            raise PlaceError("no network")
        self.versions.setdefault(key, set()).add(data)
        super().put(key, data)
        if toss < 0.5:
            raise OSError(errno.ETIMEDOUT, "timed out")


@pytest.mark.parametrize("seed", range(3))
def test_failing_store_loses_nothing_repeats_nothing_rewrites_nothing(seed, make):
    print("seed", seed)
    store = Flaky(seed)
    shipper = make(where=store)
    rng = random.Random(seed)
    sent = b""
    for n in range(60):
        piece = b"%d " % n + b"z" * rng.randrange(3000) + rng.choice([b"\n", b""])
        sent += piece
        shipper.log(piece)
        shipper.metric(Point(float(n), None, n, {"loss": 1.0}), "log")
        if n % 10 == 0:
            shipper.flush(0.05)
    until(lambda: shipper.flush(1.0), 30.0)
    assert b"".join(shipped(store)) == sent
    lines = b"".join(shipped(store, layout.metrics_prefix(RUN, STINT))).splitlines()
    assert [json.loads(line)["step"] for line in lines] == list(range(60))
    assert all(len(versions) == 1 for versions in store.versions.values())


def test_store_that_is_down_is_said_and_nothing_blocks(make, tmp_path):
    store = Flaky(0)
    store.is_down = True
    shipper = make(where=store)
    began = time.monotonic()
    for _ in range(100):
        shipper.log(b"w" * 100_000)
    assert time.monotonic() - began < 60.0
    until(lambda: shipper.last_error)
    assert shipper.last_error == "no network"
    assert not shipper.flush(0.2)
    assert shipper.waiting_bytes == 10_000_000
    store.is_down = False
    until(lambda: shipper.flush(1.0))
    assert b"".join(shipped(store)) == b"w" * 10_000_000 and shipper.last_error == ""


def test_close_in_vain_keeps_the_local_files(make, tmp_path):
    store = Flaky(0)
    store.is_down = True
    shipper = make(where=store)
    shipper.log(b"precious\n")
    assert shipper.close(0.3) is False
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"precious\n"]


def test_output_after_closing_is_ignored(store, make):
    shipper = make()
    shipper.log(b"a\n")
    assert shipper.close(5.0) and shipper.close(5.0)
    shipper.log(b"b\n")
    shipper.metric(Point(0.0, None, None, {}), "log")
    assert shipped(store) == [b"a\n"]


def test_secret_split_over_two_chunks_is_masked_in_the_store_and_on_disk(make, tmp_path):
    store = Flaky(0)
    store.is_down = True
    shipper = make([b"hunter22", b"tiny"], store)
    shipper.log(b"password hunt")
    shipper.log(b"er22 or tiny\n")
    shipper.metric(Point(0.0, None, None, {"hunter22": 1.0}), "track")
    assert not shipper.flush(0.1)
    for path in tmp_path.iterdir():
        assert b"hunter" not in path.read_bytes()
    store.is_down = False
    until(lambda: shipper.flush(1.0))
    assert b"".join(shipped(store)) == b"password *** or ***\n"


def test_end_that_may_begin_a_secret_comes_out_after_a_quiet_moment(store, make):
    shipper = make([b"hunter22"])
    shipper.log(b"what? h")
    until(lambda: b"".join(shipped(store)) == b"what? h")


def test_full_disk_drops_counts_and_says_so(store, make, monkeypatch):
    shipper = make()
    shipper.log(b"before")
    assert shipper.flush(5.0)
    real, room = os.write, [3]

    def write(fd, data):
        if room[0] <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        size = min(room[0], len(data))
        room[0] -= size
        return real(fd, data[:size])

    monkeypatch.setattr(spool.os, "write", write)
    shipper.log(b"0123456789")
    shipper.log(b"more\n")
    shipper.metric(Point(0.0, None, None, {"loss": 1.0}), "log")
    monkeypatch.setattr(spool.os, "write", real)
    shipper.log(b"after\n")
    assert shipper.close(5.0)
    assert b"".join(shipped(store)) == b"before012\n[outlast] 12 bytes of output dropped: disk full\nafter\n"
    assert shipper.dropped_bytes == 12


def test_metric_lines_are_as_the_format_says(store, make):
    values = {"loss": float("nan"), "a": float("inf"), "b": float("-inf"), "n": 3, "samples": "ab12"}
    assert json.loads(metric_line(Point(12.31449, 3.0, 120, values), "track")) == {
        "at_s": 12.314, "epoch": 3.0, "step": 120, "from": "track",
        "values": {"loss": "nan", "a": "inf", "b": "-inf", "n": 3, "samples": "ab12"},
    }  # fmt: skip
    assert metric_line(Point(0.0, None, None, {"损失": 1.0}), "log").count(b"\n") == 1


def test_several_threads_may_write(store, make):
    shipper = make([b"hunter22"])

    def work(name: int) -> None:
        for n in range(300):
            shipper.log(b"%d:%d\n" % (name, n))
            shipper.metric(Point(0.0, None, n, {"loss": float(name)}), "log")

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shipper.close(10.0)
    lines = b"".join(shipped(store)).splitlines()
    for name in range(4):
        assert [line for line in lines if line.startswith(b"%d:" % name)] == [b"%d:%d" % (name, n) for n in range(300)]
    assert len(b"".join(shipped(store, layout.metrics_prefix(RUN, STINT))).splitlines()) == 1200


def test_memory_stays_flat_and_parts_are_removed_when_much_is_written(tmp_path):
    class Sink(MemoryStore):
        taken = 0

        def put(self, key, data):
            self.taken += len(data)

    store = Sink()
    shipper = Shipper(store, RUN, STINT, str(tmp_path / "spool"))
    chunk = b"a line of output that is about sixty bytes long, like others\n" * 1000
    shipper.log(chunk)
    shipper.flush(5.0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    for _ in range(1000):
        shipper.log(chunk)
    took = time.monotonic() - began
    assert shipper.close(60.0)
    print(f"{1_000_000 / took:.0f} lines a second")
    assert store.taken == 1001 * len(chunk)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 * 1024
    assert list(tmp_path.iterdir()) == []


def test_a_copy_of_the_log_is_masked_and_goes_on_where_the_last_stint_ended(store, tmp_path):
    copy = tmp_path / "MA_LOG" / "job.log"
    for word in (b"one", b"two"):
        shipper = Shipper(store, RUN, STINT, str(tmp_path / "spool"), [b"hunter2-hunter2"], str(copy))
        shipper.log(word + b" hunter2-hunter2\n")
        until(lambda word=word: word in copy.read_bytes())  # while the run goes on
        assert shipper.close(5.0)
    assert copy.read_bytes() == b"one ***\ntwo ***\n"


def test_a_copy_that_cannot_be_written_costs_nothing(store, tmp_path):
    (tmp_path / "file").touch()
    shipper = Shipper(store, RUN, STINT, str(tmp_path / "spool"), (), str(tmp_path / "file" / "job.log"))
    shipper.log(b"hello\n")
    assert shipper.close(5.0) and b"".join(shipped(store)) == b"hello\n"


def test_nothing_is_written_for_a_run_that_says_nothing(store, make, tmp_path):
    assert make().close(5.0)
    assert shipped(store) == [] and list(tmp_path.iterdir()) == []
    with pytest.raises(NotFound):
        store.get(layout.log_key(RUN, STINT, 1))
