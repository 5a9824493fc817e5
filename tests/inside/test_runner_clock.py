"""A wall clock that jumps while a stint runs moves neither its deadline nor its ledger."""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from stintbench import SOURCE, StintBench

JUMPING = Path(__file__).parents[1] / "jumping_clock"
SAVING = """
import os, time
os.makedirs("ckpt", exist_ok=True)
for number in range(1000):
    with open("ckpt/part", "w") as out: out.write(str(number))
    os.replace("ckpt/part", "ckpt/state.txt")
    time.sleep(0.1)
"""


def test_runner_whose_clock_jumps_hands_over_at_its_limit(tmp_path):
    clock = tmp_path / "clock.txt"
    clock.write_text("0")
    bench = StintBench(tmp_path, SAVING)
    environ = {"PYTHONPATH": os.pathsep.join([str(SOURCE), str(JUMPING)]), "JUMPING_CLOCK": str(clock)}
    runner = bench.start(limit_s=6, grace_s=0.5, environ=environ)
    deadline = time.monotonic() + 150
    while not bench.checkpoints():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    clock.write_text("-86400")
    runner.communicate(timeout=150)
    end = bench.end()
    assert end.reason == "hand-over", end
    assert 0 < sum(end.phases.values()) < 600
