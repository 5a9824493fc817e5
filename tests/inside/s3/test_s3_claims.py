"""Claims in a bucket: exactly one of many writers wins, also where the server overwrites whatever it is told."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from outlast.inside.s3.client import S3Client
from outlast.inside.s3.conditional import Claims
from outlast.inside.s3.store import S3Store

WRITERS = 8


@pytest.fixture
def store(seaweed):
    """The real server, asked as one must be asked that ignores `If-None-Match`."""
    return S3Store(seaweed.access._replace(conditional=False), seaweed.bucket(), "p")


@pytest.fixture
def hurried(monkeypatch):
    """Nobody else writes here, so the second in which a candidate was stored need not be over for three more."""
    monkeypatch.setattr("outlast.inside.s3.conditional._SETTLE_S", 1.0)


def race(store, key, writers=WRITERS):
    barrier = threading.Barrier(writers)

    def write(number):
        barrier.wait()
        return number, store.put_if_absent(key, b"%d" % number)

    with ThreadPoolExecutor(writers) as pool:
        return [number for number, won in pool.map(write, range(writers)) if won]


def test_of_eight_writers_one_wins_without_the_help_of_the_server(store):
    winners = race(store, "runs/x/claim.json")
    assert len(winners) == 1
    assert store.get("runs/x/claim.json") == b"%d" % winners[0]
    assert not store.put_if_absent("runs/x/claim.json", b"late")
    assert [entry.key for entry in store.list("")] == ["runs/x/claim.json"]


def test_claim_whose_winner_was_killed_is_finished_by_the_next_writer(seaweed, store, hurried):
    bucket = store.url.split("/")[2]

    class Killed(Exception):
        pass

    client = S3Client(seaweed.access._replace(conditional=False), bucket)
    whole = client.put

    def put(key, data, if_absent=False):
        if key == "p/runs/x/end.json":
            raise Killed  # won, and gone before the key was written
        return whole(key, data, if_absent)

    client.put = put
    with pytest.raises(Killed):
        Claims(client, "p/").put("p/runs/x/end.json", b"the dead one's")
    assert store.head("runs/x/end.json") is None
    assert not store.put_if_absent("runs/x/end.json", b"mine")
    assert store.get("runs/x/end.json") == b"the dead one's"


def test_removed_key_can_be_claimed_anew(store, hurried):
    assert store.put_if_absent("a", b"1")
    store.delete("a")
    assert store.put_if_absent("a", b"2")
    assert store.get("a") == b"2"


def test_server_that_refuses_is_recognised_by_one_try_and_costs_no_wait(seaweed):
    store = S3Store(seaweed.access, seaweed.bucket())
    assert store.conditional
    store._claims._sleep = lambda seconds: pytest.fail("it waited")
    assert len(race(store, "k")) == 1
    assert [entry.key for entry in store.list("")] == ["k"]


def test_many_keys_go_with_one_request(seaweed):
    store = S3Store(seaweed.access, seaweed.bucket(), "p")
    for number in range(5):
        store.put(f"log/{number}", b"x")
    store.delete_all([])
    store.delete_all(f"log/{number}" for number in range(4))
    assert [entry.key for entry in store.list("")] == ["log/4"]
