"""Output over all stints, in order, each byte once."""

from __future__ import annotations

import contextlib

from outlast.inside import layout
from outlast.inside.records import Order
from outlast.testing.memory_store import MemoryStore
from outlast.track.logs import LogTail, read_log

RUN = "1115-quiet-otter-7kx"


def order(store: MemoryStore, stint: int) -> None:
    store.put(layout.order_key(RUN, stint), Order(run=RUN, stint=stint, token="t", platform="local").to_bytes())


def test_log_of_a_stint_is_its_segments_in_order():
    store = MemoryStore()
    for number in range(1, 13):
        store.put(layout.log_key(RUN, 1, number), b"%d," % number)
    store.put(layout.log_key(RUN, 2, 1), b"other")
    assert b"".join(read_log(store, RUN, 1)) == b"1,2,3,4,5,6,7,8,9,10,11,12,"
    assert list(read_log(store, RUN, 7)) == []


def test_tail_follows_from_stint_to_stint():
    store = MemoryStore()
    tail = LogTail(store, RUN)
    assert tail.poll() == []
    order(store, 1)
    store.put(layout.log_key(RUN, 1, 1), b"a")
    assert tail.poll() == [(1, b"a")]
    store.put(layout.log_key(RUN, 1, 2), b"b")
    order(store, 2)
    order(store, 3)
    store.put(layout.log_key(RUN, 3, 1), b"c")
    assert tail.poll() == [(1, b"b"), (3, b"c")]
    store.put(layout.log_key(RUN, 3, 2), b"d")
    assert tail.poll() == [(3, b"d")] and tail.poll() == []


def test_a_failing_store_does_not_make_the_tail_skip():
    store = MemoryStore()
    order(store, 1)
    store.put(layout.log_key(RUN, 1, 1), b"a")
    tail = LogTail(store, RUN)
    store.fail_next("head", OSError("no network"))
    with contextlib.suppress(OSError):
        tail.poll()
    assert tail.poll() == [(1, b"a")]


def test_segment_that_cannot_be_read_now_is_read_later_and_none_is_lost_before_it():
    store = MemoryStore()
    order(store, 1)
    tail = LogTail(store, RUN)
    for number, text in enumerate((b"a", b"b", b"c"), 1):
        store.put(layout.log_key(RUN, 1, number), text)
    broken = [layout.log_key(RUN, 1, 2)]

    def fail(verb: str, key: str) -> None:
        if verb == "get" and key in broken:
            broken.clear()
            raise OSError("no network")

    store.on_call = fail
    found = []
    for _ in range(2):
        try:
            found += tail.poll()
        except OSError:
            continue
    assert b"".join(piece for _, piece in found) == b"abc"
