"""The runner dies at each phase and around each of its first writes: the next stint arrives at the same weights."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from stintbench import SOURCE, StintBench
from test_runner import ANSWERING, COUNTER

from outlast.inside.checkpoints import Checkpoints

CRASHER = Path(__file__).parent / "crashing_runner.py"
PHASES = ["fetching", "environment", "staging", "restoring", "starting", "running", "committing"]
SCRIPTS = {
    "unmodified": (COUNTER.format(epochs=8, seconds=0.05), "ckpt", b"to 8"),
    "answering": (ANSWERING.format(epochs=8, seconds=0.05), ".outlast/c", b"8"),
}


def crash(bench, stint, when, limit_s=None):
    """Play a stint whose runner kills itself; True when it really did."""
    place = bench.order(stint, limit_s=limit_s)
    done = subprocess.run(
        [sys.executable, str(CRASHER), when, str(place)],
        env={"PYTHONPATH": str(SOURCE), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        timeout=150,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


def check_what_is_left(bench, stint):
    """Every committed checkpoint restores, and the next stint finishes with the right result."""
    for name in bench.checkpoints():
        restored = Checkpoints(bench.store, bench.run).restore([name], str(bench.folder / "look" / name))
        assert restored.checkpoint == name, restored.skipped
    end = bench.play(stint)
    assert end.reason == "finished", (end, bench.log(stint))


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("phase", PHASES)
def test_runner_killed_on_entering_a_phase_loses_nothing(tmp_path, phase, script):
    text, place, result = SCRIPTS[script]
    bench = StintBench(tmp_path, text, checkpoint=place)
    assert crash(bench, 1, f"phase:{phase}")
    check_what_is_left(bench, 2)
    assert bench.file("out/done.txt").endswith(result)


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 7, 9, 12])
def test_runner_killed_around_a_write_loses_nothing(tmp_path, side, number):
    text, place, result = SCRIPTS["answering"]
    bench = StintBench(tmp_path, text, checkpoint=place)
    known = bench.checkpoints()
    crashed = crash(bench, 1, f"{side}:{number}")
    assert crashed or number > 5, "the stint has fewer writes than expected"
    assert set(known) <= set(bench.checkpoints())
    if crashed:
        check_what_is_left(bench, 2)
    assert bench.file("out/done.txt").endswith(result)


def test_runner_killed_while_it_hands_over_loses_nothing(tmp_path):
    text = ANSWERING.format(epochs=35, seconds=0.2)
    bench = StintBench(tmp_path, text, checkpoint=".outlast/c")
    assert crash(bench, 1, "phase:committing", limit_s=6)
    assert bench.checkpoints()
    check_what_is_left(bench, 2)
    assert bench.file("out/done.txt") == b"35"
