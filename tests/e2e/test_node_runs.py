"""Runs of several nodes on this machine, by the command line, with what happens to clusters happening to them."""

import os
import signal

import pytest
from lab import Lab

from outlast.platforms.local.machine import Machine
from servers.nodes_training import TRAINING, expected_sum

pytestmark = pytest.mark.skipif(Machine.look().capacity.cpus < 2, reason="two nodes need two processors")


@pytest.fixture
def quick(tmp_path):
    lab = Lab(tmp_path, {"backoff_s": "0"})
    yield lab
    lab.close()


def test_a_run_of_two_nodes_survives_the_loss_of_either(quick):
    """Stint 1 loses node 1, stint 2 loses node 0, both in the middle of a step; stint 3 goes on to the end."""
    gate, script = quick.folder / "gate", quick.write("project/train.py", TRAINING)
    options = ("--nodes", "2", "--output", "out", "--env", "HOLD=6", "--env", f"GATE={gate}", "--sandbox", "off")
    run = quick.submit(script, *options)
    for stint, place in ((1, "place-1.json"), (2, "place.json")):
        quick.until(lambda stint=stint: b"step 5 " in log(quick, run, 1) and has_begun(quick, run, stint))
        (pid,) = quick.until(lambda place=place, stint=stint: quick.pids(f"{run}.{stint:04d}/{place}"))
        os.kill(pid, signal.SIGKILL)
    quick.until(lambda: has_begun(quick, run, 3))
    gate.touch()
    view = quick.wait(run)
    assert view.state == "succeeded", view.message
    assert [stint.reason for stint in view.stint_list] == ["lost", "lost", "finished"]
    assert view.stint_list[0].message == "node 1 was lost: its process is gone"
    quick.outlast("fetch", run, "--to", quick.folder / "got")
    assert int(next((quick.folder / "got").rglob("sum.txt")).read_text()) == expected_sum()
    assert not quick.pids("place-1.json")


def log(lab, run, node):
    return b"".join(lab.client.runs.logs(run, node=node))


def has_begun(lab, run, stint):
    """Whether both scripts of a stint have started, and something is saved to go on from."""
    view = lab.client.runs.get(run)
    if len(view.stint_list) < stint or not view.last_checkpoint:
        return False
    texts = [b"".join(lab.client.runs.logs(run, stint=stint, node=node)) for node in (0, 1)]
    return all(b"node %d of 2" % node in text for node, text in enumerate(texts))


def test_what_cannot_work_is_said_before_anything_starts(lab):
    script = lab.write("project/train.py", "print('never')")
    for words, said in (
        (("--nodes", "0"), "must be a whole number from 1"),
        (("--nodes", "100000"), "is more than this machine has"),
        (("--nodes", "2", "--no-network"), "nodes work together over the network"),
        (("--nodes", "2", "--contract", "xihe"), "and so one node only"),
    ):
        done = lab.outlast("run", script, *words, check=False)
        assert done.returncode == 2 and said in done.stderr, done.stderr
    run = lab.outlast("run", script, "--detach").stdout.split()[0]
    lab.wait(run)
    done = lab.outlast("logs", run, "--node", "1", check=False)
    assert done.returncode == 10 and "has no node 1; its stints have one machine each, node 0" in done.stderr
