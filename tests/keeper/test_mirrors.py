"""Mirrors beside the keeper's turns: nobody waits for a store, and nothing is lost with a thread."""

from __future__ import annotations

import random
import threading
import time

import pytest
from mirrorbench import RUN, MirrorBench, Runner

from outlast.errors import Unavailable
from outlast.inside import layout
from outlast.inside.checkpoints import Checkpoints
from outlast.inside.errors import AccessDenied, PlaceError
from outlast.inside.records import Control, End, Order
from outlast.keeper import mirrors as mirrors_module
from outlast.keeper.mirrors import Mirrors
from outlast.testing.memory_store import MemoryStore


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(mirrors_module, "PULL_S", 0.01)


@pytest.fixture
def bench(tmp_path):
    bench = MirrorBench(MemoryStore(), MemoryStore(), tmp_path / "spool", random.Random(1))
    bench.plan()
    bench.order = Order.from_bytes(bench.home.get(layout.order_key(RUN, 1)))
    bench.spec = {"inputs": []}
    bench.news = threading.Semaphore(0)
    made = []

    def make(open_store=None, **options):
        made.append(
            Mirrors(tmp_path / "spool", open_store or (lambda order: bench.away), wake=bench.news.release, **options)
        )
        return made[-1]

    bench.mirrors = make
    yield bench
    for each in made:
        each.close()


def wait_for(condition):
    deadline = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_push_goes_on_beside_and_tells_when_it_is_done(bench):
    mirrors = bench.mirrors()
    assert not mirrors.push(bench.home, bench.spec, bench.order)
    assert bench.news.acquire(timeout=90)
    assert mirrors.push(bench.home, bench.spec, bench.order)
    assert bench.away.head(layout.order_key(RUN, 1)) is not None


@pytest.mark.parametrize(("error", "why"), [(PlaceError("no route"), "down"), (AccessDenied("bad keys"), "refused")])
def test_store_that_cannot_be_prepared_refuses_and_is_tried_again_when_asked(bench, error, why):
    mirrors = bench.mirrors()
    bench.away.fail_next("put", error)
    wait_for(lambda: not mirrors.push(bench.home, bench.spec, bench.order))
    assert bench.news.acquire(timeout=90)
    with pytest.raises(Unavailable, match=r"the store of far \(y\) cannot be prepared") as caught:
        mirrors.push(bench.home, bench.spec, bench.order)
    assert caught.value.why == why
    wait_for(lambda: mirrors.push(bench.home, bench.spec, bench.order))


def test_input_that_does_not_arrive_keeps_the_stint_from_starting(bench):
    def send(spec, order, say):
        raise PlaceError("the disk is gone")

    mirrors = bench.mirrors(send_inputs=send)
    mirrors.push(bench.home, bench.spec, bench.order)
    assert bench.news.acquire(timeout=90)
    with pytest.raises(Unavailable, match="the disk is gone"):
        mirrors.push(bench.home, bench.spec, bench.order)
    assert bench.away.head(layout.order_key(RUN, 1)) is None


def test_open_stint_is_brought_home_until_its_end_is(bench):
    mirrors = bench.mirrors()
    bench.mirror.push(bench.order, {})
    runner = Runner(bench, 1)
    runner.step()
    wait_for(lambda: mirrors.follow(bench.home, bench.order))
    runner.save()
    while runner.todo:
        runner.step()
    runner.beat()
    wait_for(lambda: Checkpoints(bench.home, RUN).ids() == ["0001-000001"])
    bench.home.put(layout.control_key(RUN), Control(want="stop").to_bytes())
    wait_for(lambda: Control.from_bytes(bench.away.get(layout.control_key(RUN))).want == "stop")
    runner.end()
    wait_for(lambda: bench.home.head(layout.end_key(RUN, 1)) is not None)
    wait_for(lambda: not [each for each in threading.enumerate() if each.name == f"outlast mirror {RUN}"])
    assert mirrors.words(RUN) == ""


def test_fence_ends_a_silent_stint_and_what_it_saved_comes_home_first(bench):
    mirrors = bench.mirrors()
    bench.mirror.push(bench.order, {})
    runner = Runner(bench, 1)
    runner.step()
    runner.save()
    while runner.todo:
        runner.step()
    for _ in range(3):
        mirrors.fence(bench.home, bench.order, End("lost", by="keeper"))
    wait_for(lambda: bench.home.head(layout.end_key(RUN, 1)) is not None)
    assert Checkpoints(bench.home, RUN).ids() == ["0001-000001"]
    runner.end()
    assert bench.home.get(layout.end_key(RUN, 1)) == bench.away.get(layout.end_key(RUN, 1))


def test_store_that_hangs_holds_up_neither_the_turn_nor_other_runs(bench):
    gate = threading.Event()

    def hang(verb, key):
        if layout.run_prefix(RUN) in key:
            gate.wait(90)

    mirrors = bench.mirrors()
    bench.away.on_call = hang
    other = Order("0102-other-run", 1, "t", "far", store="y")
    bench.home.put(layout.spec_key(other.run), bench.home.get(layout.spec_key(RUN)))
    assert not mirrors.push(bench.home, bench.spec, bench.order)
    assert not mirrors.follow(bench.home, bench.order)  # and so its silence is no sign of death
    wait_for(lambda: mirrors.push(bench.home, bench.spec, other))
    assert not mirrors.push(bench.home, bench.spec, bench.order)
    gate.set()
    wait_for(lambda: mirrors.push(bench.home, bench.spec, bench.order))


def test_trouble_is_told_in_words_and_goes_when_it_is_over(bench):
    mirrors = bench.mirrors()
    broken = {"is": True}

    def on_call(verb, key):
        if broken["is"]:
            raise PlaceError("the network is unreachable")

    bench.away.on_call = on_call
    mirrors.follow(bench.home, bench.order)
    wait_for(lambda: "its mirror cannot be used: the network is unreachable" in mirrors.words(RUN))
    assert not mirrors.follow(bench.home, bench.order)
    broken["is"] = False
    wait_for(lambda: mirrors.follow(bench.home, bench.order) and not mirrors.words(RUN))


def test_another_keeper_finishes_what_one_began(bench):
    first = bench.mirrors()
    bench.mirror.push(bench.order, {})
    runner = Runner(bench, 1)
    runner.step()
    runner.log()
    first.follow(bench.home, bench.order)
    first.close()
    runner.log()
    runner.end()
    second = bench.mirrors()
    second.follow(bench.home, bench.order)
    wait_for(lambda: bench.home.head(layout.end_key(RUN, 1)) is not None)
    assert len(list(bench.home.list(layout.log_prefix(RUN, 1)))) == 2


def test_mirror_out_of_reach_for_long_is_lost_until_it_is_back(bench, monkeypatch):
    mirrors = bench.mirrors()
    assert not mirrors.is_lost(bench.home, bench.order)
    monkeypatch.setattr(mirrors_module, "GIVE_UP_S", 0.05)
    broken = {"is": True}

    def on_call(verb, key):
        if broken["is"]:
            raise PlaceError("the network is unreachable")

    bench.away.on_call = on_call
    mirrors.follow(bench.home, bench.order)
    wait_for(lambda: mirrors.is_lost(bench.home, bench.order))
    broken["is"] = False
    wait_for(lambda: not mirrors.is_lost(bench.home, bench.order))
