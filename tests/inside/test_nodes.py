"""Several nodes in one stint: one of them is the stint, and none is left behind."""

import signal
import textwrap
from types import SimpleNamespace

import pytest
from nodesbench import PATIENCE_S, NodesBench, wait_until

from outlast.inside import layout, verdict
from outlast.inside.crew import SILENT_S, Crew
from outlast.inside.errors import PlaceError
from outlast.inside.records import Beat, End
from outlast.testing import MemoryStore
from servers.nodes_training import expected_sum


@pytest.fixture
def make(tmp_path):
    benches = []

    def build(**options):
        benches.append(NodesBench(tmp_path, **options))
        return benches[-1]

    yield build
    for bench in benches:
        bench.close()


@pytest.fixture
def held(make):
    """Two nodes in the middle of their training: five steps are saved, the sixth waits for the gate."""
    bench = make(env={"HOLD": "6"})
    bench.runners = bench.start_nodes()
    bench.wait_for_step(5)
    return bench


def finish(bench, stint=2):
    """The next stint, with the gate open; what the run is worth in the end."""
    bench.gate.touch()
    assert bench.play_nodes(stint).reason == "finished"
    return int(bench.file("out/sum.txt"))


def test_the_nodes_find_each_other_and_only_the_first_commits(make):
    bench = make(nodes=3)
    assert bench.play_nodes().reason == "finished"
    assert int(bench.file("out/sum.txt")) == expected_sum(nodes=3)
    assert 1 <= len(bench.checkpoints()) <= 12
    for node in (1, 2):
        assert bench.node_log(node).startswith(f"node {node} of 3 restored None\nstep 1 ")
        assert bench.node_end(node).exit_code == 0 or bench.node_end(node).reason == "stopped"
    assert bench.log().startswith("node 0 of 3 ")


@pytest.mark.parametrize("opens", [False, True])
def test_a_lost_node_ends_the_stint_and_the_next_one_goes_on(held, opens):
    held.runners[1].kill()
    if opens:  # the script of node 0 hears of it first, by its broken connection
        held.gate.touch()
    assert held.runners[0].wait(PATIENCE_S) == 0
    end = held.end()
    assert (end.reason, end.message) == ("lost", "node 1 was lost: its process is gone")
    assert finish(held) == expected_sum()
    assert "restored checkpoint 0001-00000" in held.node_log(1, 2)


def test_a_node_that_does_not_want_to_leave_holds_nobody_up(make):
    """Its saves do not count, so it gets no grace: an hour of it would have to pass here otherwise."""
    stubborn = """
        import os, signal, time
        print("here", flush=True)
        if os.environ["NODE_RANK"] == "1":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                time.sleep(0.1)
    """
    bench = make(script=textwrap.dedent(stubborn))
    assert bench.play_nodes(grace_s=3600.0).reason == "finished"
    assert (bench.node_end(1).reason, bench.node_log(1).splitlines()[0]) == ("stopped", "here")


def test_nodes_end_with_a_stint_that_somebody_else_has_ended(held):
    held.runners[0].kill()
    held.store.put_if_absent(layout.end_key(held.run, 1), End("lost", by="keeper").to_bytes())
    assert held.runners[1].wait(PATIENCE_S) == 0
    # Its script may see the broken connection before its runner sees the end.
    assert held.node_end(1).reason in ("stopped", "script-error")
    assert finish(held) == expected_sum()


def test_a_stop_ends_every_node(held):
    held.want("stop")
    assert [runner.wait(PATIENCE_S) for runner in held.runners] == [0, 0]
    assert held.end().reason == "stopped" and held.node_end(1).reason in ("stopped", "script-error")
    held.want("go")
    assert finish(held) == expected_sum()


@pytest.mark.parametrize("node", [0, 1])
def test_a_machine_that_is_taken_away_ends_the_stint_for_that_reason(held, node):
    held.runners[node].send_signal(signal.SIGTERM)
    assert [runner.wait(PATIENCE_S) for runner in held.runners] == [0, 0]
    assert held.end().reason == "preempted"
    assert ("node 1" in held.end().message) is (node == 1)
    assert finish(held) == expected_sum()


def test_a_script_that_fails_on_another_node_is_shown_with_its_last_lines(make):
    bench = make(env={"FAIL": "4", "HOLD": "4"})
    bench.start_nodes()[0].wait(PATIENCE_S)
    end = bench.end()
    assert (end.reason, end.message) == ("script-error", "on node 1 the script ended with exit code 3")
    assert any("node 1 has no memory left" in line for line in end.tail) and end.fingerprint
    assert bench.checkpoints()


def test_a_script_that_fails_everywhere_says_so(make):
    bench = make(env={"FAIL": "4"})
    bench.start_nodes()[0].wait(PATIENCE_S)
    end = bench.end()
    assert end.reason == "script-error" and "on node 1 the script ended with exit code 3" in end.message


def test_a_save_of_another_node_is_ignored_with_one_notice(make):
    bench = make(env={"RANK": "0"})  # so that its script thinks that it is the one to save
    assert bench.play_nodes().reason == "finished"
    assert 1 <= len(bench.checkpoints()) <= 12
    assert bench.node_log(1).count("which is ignored") == 1 and "which is ignored" not in bench.log()


def test_a_node_that_cannot_get_ready_ends_the_stint_with_its_words(make):
    bench = make()
    reason = End("setup-error", "there is no package of that name", "request")
    bench.store.put(layout.end_key(bench.run, 1, 1), reason.to_bytes())
    bench.start_nodes(only=[0])[0].wait(PATIENCE_S)
    end = bench.end()
    assert (end.reason, end.cause) == ("setup-error", "request")
    assert end.message == "node 1 could not get ready: there is no package of that name"


def test_a_stop_does_not_wait_for_a_node_that_never_comes(make):
    bench = make()
    (runner,) = bench.start_nodes(only=[0])
    wait_until(lambda: (beat := bench.beat()) is not None and beat.notice == "waits for node 1", "its notice")
    bench.want("stop")
    assert runner.wait(PATIENCE_S) == 0 and bench.end().reason == "stopped"


def test_a_second_runner_of_the_same_node_leaves(held):
    (again,) = held.start_nodes(only=[1])
    assert again.wait(PATIENCE_S) == 0
    held.gate.touch()
    assert held.runners[0].wait(PATIENCE_S) == 0 and held.end().reason == "finished"


# ---- the crew by itself


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def crew():
    store, clock = MemoryStore(), Clock()
    stint = SimpleNamespace(run="r", number=1, place=SimpleNamespace(nodes=3, node=0))
    found = Crew(stint, store, clock)
    return SimpleNamespace(crew=found, store=store, clock=clock)


def beat(world, node, count, phase="running"):
    world.store.put(layout.beat_key("r", 1, node), Beat(count=count, phase=phase).to_bytes())


def test_a_silent_node_is_lost_and_a_slow_one_is_not(crew):
    for turn in range(5):
        beat(crew, 1, turn)
        beat(crew, 2, 1)
        crew.crew.look()
        crew.clock.now += SILENT_S / 5
    assert crew.crew.trouble is None
    crew.clock.now += 1
    crew.crew.look()
    assert crew.crew.trouble.why == verdict.NODE_LOST and crew.crew.trouble.sentence.startswith("node 2 was lost")


def test_a_store_that_is_away_loses_nobody(crew, monkeypatch):
    beat(crew, 1, 1)
    beat(crew, 2, 1)
    crew.crew.look()
    with monkeypatch.context() as patch:
        patch.setattr(crew.store, "get", away)
        crew.clock.now += 10 * SILENT_S
        crew.crew.look()
    crew.crew.look()
    assert crew.crew.trouble is None


def away(key):
    raise PlaceError("the store is away")


def test_a_machine_that_goes_outranks_a_script_that_fails_because_of_it(crew):
    crew.store.put(layout.end_key("r", 1, 1), End("script-error", "the script ended with exit code 1").to_bytes())
    crew.crew.look()
    assert crew.crew.trouble.why == verdict.NODE_FAILED
    beat(crew, 2, 1, "handing-over")
    crew.crew.look()
    assert crew.crew.trouble.why == verdict.PREEMPTED
