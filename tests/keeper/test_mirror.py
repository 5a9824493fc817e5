"""A run folder and its mirror never disagree, whoever dies when."""

from __future__ import annotations

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from mirrorbench import RUN, MirrorBench, Runner, read

from outlast.inside import layout
from outlast.inside.blobs import Blobs
from outlast.inside.checkpoints import Checkpoints
from outlast.inside.records import Control, End, Order, to_bytes
from outlast.inside.stores import open_store
from outlast.keeper.mirror import Mirror, remove_mirror
from outlast.keeper.transit import Transit, input_key
from outlast.testing.memory_store import MemoryStore


def make_bench(folder, rng):
    home, away = MemoryStore(), MemoryStore()
    bench = MirrorBench(home, away, folder / "spool", rng)
    home.on_call = away.on_call = bench.count_call
    return bench


@settings(max_examples=40)
@given(st.randoms(use_true_random=False), st.integers(20, 120))
def test_any_interleaving_of_runners_kills_pushes_pulls_and_fences_keeps_the_promises(tmp_path_factory, rng, steps):
    bench = make_bench(tmp_path_factory.mktemp("mirror"), rng)
    for _ in range(steps):
        move = rng.choice(["plan", "push", "run", "run", "run", "run", "pull", "pull", "fence"])
        if move == "plan" or not bench.stint:
            bench.plan()
        elif move != "fence" or rng.random() < 0.3:
            getattr(bench, move)()
        bench.check()
    bench.settle()
    bench.check()
    ids = Checkpoints(bench.home, RUN).ids()
    committed = [name for runner in bench.runners.values() for name in runner.committed_before_end]
    assert set(committed) <= set(ids)
    # The newest checkpoint is of the newest stint which committed any: nobody who was forgotten overtakes it. A runner
    # that commits behind its own end, before it is heard of, may be that of a later stint.
    if committed:
        newest = max(layout.checkpoint_order(name) for name in committed)
        assert layout.checkpoint_order(ids[-1]) >= newest


def test_the_same_holds_between_a_folder_and_a_bucket(tmp_path, seaweed):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    rng = random.Random(seed)
    away = open_store(f"s3://{seaweed.bucket()}/mirror", seaweed.access)
    bench = MirrorBench(open_store((tmp_path / "home").as_uri()), away, tmp_path / "spool", rng)
    for _ in range(2):
        bench.plan()
        bench.mirror.push(Order.from_bytes(bench.home.get(layout.order_key(RUN, bench.stint))), {})
        for _ in range(25):
            bench.run()
            if rng.random() < 0.3:
                bench.restart()
                bench.mirror.pull(bench.stint)
        bench.settle()
        bench.check()


def started(tmp_path):
    bench = MirrorBench(MemoryStore(), MemoryStore(), tmp_path, random.Random(1))
    bench.plan()
    bench.mirror.push(Order.from_bytes(bench.home.get(layout.order_key(RUN, 1))), {})
    bench.runners[1] = Runner(bench, 1)
    bench.runners[1].step()
    return bench, bench.runners[1]


def test_runners_own_end_wins_over_a_fence_that_comes_later(tmp_path):
    bench, runner = started(tmp_path)
    runner.save()
    while runner.todo:
        runner.step()
    bench.away.put_quick(layout.usage_key(RUN, 1), b"{}")
    runner.end()
    bench.fence_now()
    assert bench.mirror.pull(1)
    assert bench.home.get(layout.usage_key(RUN, 1)) == b"{}"
    assert End.from_bytes(bench.home.get(layout.end_key(RUN, 1))).by == "runner"
    assert Checkpoints(bench.home, RUN).ids() == ["0001-000001"]


def test_fence_comes_first_and_a_late_end_changes_nothing(tmp_path):
    bench, runner = started(tmp_path)
    bench.fence_now()
    runner.end()
    assert bench.mirror.pull(1)
    assert End.from_bytes(bench.home.get(layout.end_key(RUN, 1))).by == "keeper"


def test_stop_reaches_the_mirror_and_is_sent_once(tmp_path):
    bench, _ = started(tmp_path)
    bench.home.put(layout.control_key(RUN), Control(want="stop").to_bytes())
    bench.mirror.tell()
    assert json.loads(bench.away.get(layout.control_key(RUN)))["want"] == "stop"
    writes = []
    bench.away.on_call = lambda verb, key: writes.append(verb)
    bench.mirror.tell()
    assert writes == []


def test_quiet_stint_costs_a_handful_of_small_reads(tmp_path):
    bench, runner = started(tmp_path)
    for _ in range(30):
        runner.log()
        runner.beat()
    bench.mirror.pull(1)
    calls = []
    bench.away.on_call = lambda verb, key: calls.append((verb, key))
    bench.mirror.pull(1)
    assert len(calls) <= 4 and not [verb for verb, _ in calls if verb == "list"], calls


def test_damaged_checkpoint_at_home_sends_what_it_continued(tmp_path):
    bench, runner = started(tmp_path)
    for _ in range(2):
        runner.save()
        while runner.todo:
            runner.step()
    runner.end()
    assert bench.mirror.pull(1)
    entry = Checkpoints(bench.home, RUN).read("0001-000002").files["part0"]
    bench.home.put(layout.blob_key(entry["sha256"]), b"!" * entry["size"])
    elsewhere = MemoryStore()
    Mirror(bench.home, elsewhere, RUN, tmp_path).push(Order(RUN, 2, "t", "far", resume_from="0001-000002"), {})
    restored = Checkpoints(elsewhere, RUN)
    assert restored.ids() == ["0001-000001"]
    assert next(iter(restored.line("0001-000002"))) == "0001-000001"


def test_damaged_blob_in_the_mirror_keeps_neither_the_end_nor_the_others_away(tmp_path):
    bench, runner = started(tmp_path)
    for _ in range(2):
        runner.save()
        while runner.todo:
            runner.step()
    entry = Checkpoints(bench.away, RUN).read("0001-000001").files["part1"]
    bench.away.put(layout.blob_key(entry["sha256"]), b"!" * entry["size"])
    runner.end()
    assert bench.mirror.pull(1)
    assert Checkpoints(bench.home, RUN).ids() == ["0001-000002"]


def test_bytes_that_are_there_are_not_sent_again(tmp_path):
    source, target = MemoryStore(), MemoryStore()
    pairs = [(Blobs(source).put_bytes(data), len(data)) for data in (b"one", b"two", b"three")]
    Blobs(target).put_bytes(b"two")
    read_keys = []
    source.on_call = lambda verb, key: read_keys.append(key)
    Transit(source, target, tmp_path, lambda _: None).bring(pairs, "something")
    assert layout.blob_key(pairs[1][0]) not in read_keys
    assert [Blobs(target).get_bytes(sha256) for sha256, _ in pairs] == [b"one", b"two", b"three"]
    assert list(tmp_path.iterdir()) == []


def test_removing_a_mirror_spares_what_other_runs_name(tmp_path):
    away = MemoryStore()
    ours, shared = input_key("file:///data/a"), input_key("file:///data/b")
    for run, keys in ((RUN, [ours, shared]), ("0102-other-run", [shared])):
        inputs = [{"name": "x", "source": f"s3://bucket/mirror/{key}"} for key in keys]
        away.put(layout.spec_key(run), to_bytes({"inputs": inputs}))
        away.put(layout.claim_key(run, 1), b"{}")
    for key in (ours, shared):
        away.put(key + "/file", b"data")
    for _ in range(2):
        remove_mirror(away, RUN)
        left = [entry.key for entry in away.list("")]
        assert left == [shared + "/file", layout.spec_key("0102-other-run"), layout.claim_key("0102-other-run", 1)]
    assert read(away, layout.spec_key(RUN)) is None
