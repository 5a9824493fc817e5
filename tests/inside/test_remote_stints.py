"""Stints whose run folder lies in a bucket: one runner wins, keys stay private, outages are survived and said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stintbench import SOURCE, StintBench

from outlast.inside import layout
from outlast.inside.blobs import Blobs
from outlast.inside.place import ACCESSES, SECRET_PREFIX
from servers.faults import ALWAYS, drop, drop_after, slow_down
from servers.faulty import Faulty

QUICK = "print('hello')\n"
OLD_PYTHON = Path("~/.pyenv/versions/3.7.16/bin/python3.7").expanduser()

#: Prints whatever it can find of the runner's secrets, in its environment and by guessing.
SPYING = """
import os
for name, value in os.environ.items():
    print(name, value)
print("guessed", "%s"[::-1], flush=True)
"""

#: Saves every fifth of a second until it is told to end.
SAVING = """
import os, time
os.makedirs("ckpt", exist_ok=True)
number = 0
while not os.path.exists(%r):
    number += 1
    with open("ckpt/part", "w") as out: out.write("%%d" %% number)
    os.replace("ckpt/part", "ckpt/state.txt")
    print("epoch: %%d" %% number, flush=True)
    time.sleep(0.2)
"""


@pytest.fixture
def address(seaweed):
    return f"s3://{seaweed.bucket()}/lab/outlast"


def test_of_several_runners_of_one_stint_exactly_one_plays_it(tmp_path, seaweed, address):
    bench = StintBench(tmp_path, QUICK, store=address, access=seaweed.access)
    place = bench.order(1)
    env = {**os.environ, "PYTHONPATH": str(SOURCE), **bench.private()}
    runners = [subprocess.Popen([sys.executable, "-m", "outlast.inside", str(place)], env=env) for _ in range(4)]
    assert [runner.wait(150) for runner in runners] == [0, 0, 0, 0]
    claim = json.loads(bench.store.get(layout.claim_key(bench.run, 1)))
    assert claim["pid"] in [runner.pid for runner in runners]
    assert bench.end(1).reason == "finished"
    assert bench.log(1).count("hello") == 1


def test_script_gets_no_keys_and_output_that_guesses_them_is_masked(tmp_path, seaweed, address):
    bench = StintBench(tmp_path, SPYING % seaweed.secret[::-1], store=address, access=seaweed.access)
    assert bench.play(1, secrets=[ACCESSES]).reason == "finished"
    log = bench.log(1)
    assert "guessed ***" in log
    assert seaweed.secret not in log and SECRET_PREFIX not in log and seaweed.key not in log
    for entry in bench.store.list(""):
        assert seaweed.secret.encode() not in bench.store.get(entry.key), entry.key
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in files if seaweed.secret.encode() in path.read_bytes()] == []


def test_runner_without_good_keys_leaves_with_one_line(tmp_path, seaweed, address):
    bench = StintBench(tmp_path, QUICK, store=address, access=seaweed.access)
    bench.access = seaweed.access._replace(secret="wrong-" + seaweed.secret[:8])
    output, _ = (runner := bench.start(1)).communicate(timeout=150)
    assert runner.returncode == 1
    assert output.startswith("stint 1 cannot begin: the keys for s3://") and output.count("\n") == 1
    assert bench.store.head(layout.claim_key(bench.run, 1)) is None


@pytest.mark.skipif(not OLD_PYTHON.exists(), reason="no Python 3.7 here")
def test_oldest_python_plays_a_stint_from_a_bucket(tmp_path, seaweed, address):
    bench = StintBench(tmp_path, QUICK, store=address, access=seaweed.access, runner_python=str(OLD_PYTHON))
    assert bench.play(1).reason == "finished"
    assert "hello" in bench.log(1)


def test_store_that_is_away_for_seconds_costs_nothing_and_is_said(tmp_path, seaweed, address):
    with Faulty(seaweed.endpoint) as proxy:
        leave = tmp_path / "leave"
        access = seaweed.access._replace(endpoint=proxy.url, conditional=True)
        bench = StintBench(tmp_path, SAVING % str(leave), store=address, access=access)
        bench.store = type(bench.store)(seaweed.access, address.split("/")[2], "lab/outlast")  # we are not affected
        runner = bench.start(1)
        wait_for(lambda: len(bench.checkpoints()) >= 2)
        # A torn upload first: the next blob arrives, its answer does not; then nothing at all for some seconds.
        torn = (drop_after(method="PUT", path="/blobs/"), drop(method="PUT", path="/blobs/"))
        proxy.add(*torn, slow_down(retry_after_s=None, times=ALWAYS))
        began, before = time.monotonic(), len(bench.checkpoints())
        wait_for(lambda: time.monotonic() - began > 4.5)
        assert len(bench.checkpoints()) <= before + 1
        proxy.clear()
        wait_for(lambda: len(bench.checkpoints()) >= before + 3)
        leave.touch()
        assert runner.wait(150) == 0
        runner.stdout.close()
        end = bench.end(1)
        assert (end.reason, end.exit_code) == ("finished", 0)
        assert "the store is back after" in bench.log(1) and "the script went on meanwhile" in bench.log(1)
        blobs = Blobs(bench.store)
        for name in bench.checkpoints():
            manifest = json.loads(bench.store.get(layout.checkpoint_key(bench.run, name)))
            for file in manifest["files"].values():
                blobs.get_bytes(file["sha256"])


def test_running_stint_takes_a_few_requests_each_second(tmp_path, seaweed, address):
    with Faulty(seaweed.endpoint) as proxy:
        leave = tmp_path / "leave"
        access = seaweed.access._replace(endpoint=proxy.url, conditional=True)
        # Chatty, but with nothing to save: what is counted is what every stint costs.
        script = SAVING.replace("ckpt/", "elsewhere/").replace('"ckpt"', '"elsewhere"').replace("0.2", "0.02")
        bench = StintBench(tmp_path, script % str(leave), store=address, access=access)
        runner = bench.start(1)
        wait_for(lambda: any("/log/" in seen.target for seen in list(proxy.seen)))
        began, before = time.monotonic(), len(proxy.seen)
        wait_for(lambda: time.monotonic() - began > 6)
        rate = (len(proxy.seen) - before) / (time.monotonic() - began)
        leave.touch()
        assert runner.wait(150) == 0
        runner.stdout.close()
        print(f"{rate:.1f} requests each second")
        assert rate < 4


def wait_for(condition, timeout_s=150.0):
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)
