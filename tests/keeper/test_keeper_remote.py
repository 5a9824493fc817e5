"""Runs in a store over a network: looked at less often, and not lost because the store was away."""

from __future__ import annotations

import json

import pytest

from outlast.inside import layout
from outlast.inside.errors import AccessDenied, PlaceError
from outlast.keeper.inbox import absorb, drop_marker, markers
from outlast.keeper.index import Index
from outlast.testing.runs import write_run


@pytest.fixture
def remote(world, monkeypatch):
    """The world's store as if it were far away; `asked` counts what it was asked, `fault` is what it answers."""
    monkeypatch.setattr("outlast.keeper.keeper.is_remote", lambda url: True)
    monkeypatch.setattr(type(world.store), "pace_s", 1.0)
    whole = world.store.get
    world.asked, world.fault = [], None

    def get(key):
        world.asked.append(key)
        if world.fault is not None:
            raise world.fault
        return whole(key)

    monkeypatch.setattr(world.store, "get", get)
    return world


def notice_of(world, run):
    index = Index(world.settings.home / "index.db")
    try:
        return index.get(run).view["notice"]
    finally:
        index.close()


def running(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    world.platform.start(world.store).beat()
    return spec, keeper


def test_running_stint_is_looked_at_every_three_seconds(remote):
    _, keeper = running(remote)
    assert remote.turn(keeper) == pytest.approx(3.0)
    remote.asked.clear()
    remote.clock.now += 1.0
    assert keeper.turn(woken=False) == pytest.approx(2.0)
    assert remote.asked == []
    remote.clock.now += 2.0
    keeper.turn(woken=False)
    assert len(remote.asked) == 4
    keeper.turn(woken=True)  # a command, or a job that ended
    assert len(remote.asked) == 8


def test_silence_of_a_store_is_not_the_silence_of_a_runner(remote):
    spec, keeper = running(remote)
    remote.turn(keeper)
    remote.fault = PlaceError("503 SlowDown")
    remote.turn(keeper, 50.0)
    assert "503 SlowDown" in notice_of(remote, spec.id)
    remote.fault = None
    remote.turn(keeper, 50.0)
    assert remote.store.head(layout.end_key(spec.id, 1)) is None
    remote.turn(keeper, 70.0)  # from here on it could have been heard
    assert json.loads(remote.store.get(layout.end_key(spec.id, 1)))["reason"] == "lost"


def test_store_that_stays_away_is_asked_ever_less_often(remote):
    _, keeper = running(remote)
    remote.turn(keeper)
    remote.fault = PlaceError("no route to host")
    delays = []
    for _ in range(6):
        remote.clock.now += 100.0
        keeper.turn(woken=False)
        delays.append(max(keeper._due.values()) - remote.clock.now)
    assert delays == [2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_refused_keys_make_the_keeper_open_the_store_anew(remote):
    spec, keeper = running(remote)
    remote.turn(keeper)
    remote.fault = AccessDenied("the keys for s3://b are not accepted (ExpiredToken)")
    remote.turn(keeper)
    assert spec.id not in keeper._kept
    assert "ExpiredToken" in notice_of(remote, spec.id)
    remote.fault = None
    remote.turn(keeper, 5.0)
    assert spec.id in keeper._kept


def test_marker_of_a_store_that_cannot_be_opened_waits(world):
    keeper = world.keeper()
    drop_marker(keeper.home, "0101-a-b-c", "gopher://x")
    drop_marker(keeper.home, "0101-a-b-d", "obs://bucket/x")
    index = Index(keeper.home.index)
    try:
        assert absorb(keeper.home, index, take=True) == []
    finally:
        index.close()
    assert len(markers(keeper.home)) == 2
