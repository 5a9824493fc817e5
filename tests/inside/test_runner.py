"""The runner for real: every way a stint can end, with a script in a process of its own."""

import os
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from stintbench import StintBench

needs_bwrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
PYTHON37 = next(iter(Path.home().glob(".pyenv/versions/3.7.*/bin/python3.7")), None) or shutil.which("python3.7")

# A limit that no start-up keeps, however quick the machine: 20 ms were enough for one that had all files at hand.
A_MOMENT_S = 0.0001

COUNTER = """
import json, os, time
os.makedirs("ckpt", exist_ok=True)
start = json.load(open("ckpt/state.json"))["epoch"] if os.path.exists("ckpt/state.json") else 0
for epoch in range(start, {epochs}):
    time.sleep({seconds})
    with open("ckpt/tmp.part", "w") as out: json.dump({{"epoch": epoch + 1}}, out)
    os.replace("ckpt/tmp.part", "ckpt/state.json")
    print("epoch: %d/{epochs} loss: %.3f" % (epoch + 1, 1 / (epoch + 1)), flush=True)
os.makedirs("out", exist_ok=True)
open("out/done.txt", "w").write("from %d to {epochs}" % start)
"""

ANSWERING = """
import os, time, outlast
state = {{"epoch": 0}}
def save(folder):
    open(os.path.join(folder, "n.txt"), "w").write(str(state["epoch"]))
def load(folder):
    state["epoch"] = int(open(os.path.join(folder, "n.txt")).read())
for epoch in outlast.epochs({epochs}, save=save, load=load):
    assert state["epoch"] == epoch, (state, epoch)
    time.sleep({seconds})
    state["epoch"] = epoch + 1
    outlast.track(loss=1.0 / (epoch + 1), epoch=epoch + 1)
    print("did", epoch, flush=True)
os.makedirs("out", exist_ok=True)
open("out/done.txt", "w").write(str(state["epoch"]))
"""


def eventually(condition, timeout_s=150):
    deadline = time.monotonic() + timeout_s
    while not (found := condition()):
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.01)
    return found


@pytest.mark.parametrize("sandbox", [False, pytest.param(True, marks=needs_bwrap)])
def test_a_script_that_finishes_leaves_outputs_metrics_and_a_log(tmp_path, sandbox):
    bench = StintBench(tmp_path, COUNTER.format(epochs=4, seconds=0.05), sandbox=sandbox)
    end = bench.play()
    assert end.reason == "finished", end
    assert bench.file("out/done.txt") == b"from 0 to 4"
    assert "epoch: 4/4 loss: 0.250" in bench.log()
    losses = [line["values"]["loss"] for line in bench.metrics() if "loss" in line["values"]]
    assert losses == [1.0, 0.5, 0.333, 0.25]
    assert bench.checkpoints()
    assert end.epoch == 4
    assert {"fetching", "environment", "restoring", "starting", "running", "committing"} <= set(end.phases)


@pytest.mark.parametrize("sandbox", [False, pytest.param(True, marks=needs_bwrap)])
def test_an_unmodified_script_is_handed_over_and_goes_on(tmp_path, sandbox):
    bench = StintBench(tmp_path, COUNTER.format(epochs=24, seconds=0.25), sandbox=sandbox)
    stint = 1
    while (end := bench.play(stint, limit_s=6, grace_s=1)).reason == "hand-over":
        stint += 1
        assert stint < 6
    assert end.reason == "finished", end
    assert stint >= 2
    assert "restored checkpoint" in bench.log(2)
    assert not bench.file("out/done.txt").startswith(b"from 0 ")


@pytest.mark.parametrize("sandbox", [False, pytest.param(True, marks=needs_bwrap)])
def test_an_answering_script_repeats_no_epoch(tmp_path, sandbox):
    bench = StintBench(tmp_path, ANSWERING.format(epochs=30, seconds=0.2), sandbox=sandbox, checkpoint=".outlast/c")
    stint = 1
    while (end := bench.play(stint, limit_s=6)).reason == "hand-over":
        assert end.exit_code == 85
        stint += 1
        assert stint < 8
    assert end.reason == "finished", (end, bench.log(stint))
    done = [line for number in range(1, stint + 1) for line in bench.log(number).splitlines() if "did" in line]
    assert done == [f"did {epoch}" for epoch in range(30)]
    assert bench.file("out/done.txt") == b"30"
    assert stint >= 2


def test_a_set_of_texts_has_the_same_order_in_each_stint(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    script = "print('order', list(set(str(number) for number in range(50))))"
    bench = StintBench(tmp_path, script)
    assert [bench.play(stint).reason for stint in (1, 2)] == ["finished", "finished"]
    first, second = ([line for line in bench.log(stint).splitlines() if "order" in line] for stint in (1, 2))
    assert first == second != []


def test_a_script_that_never_saves_ends_at_the_limit_with_words(tmp_path):
    bench = StintBench(tmp_path, "import time\nwhile True: time.sleep(0.01)")
    end = bench.play(limit_s=5, grace_s=0.5)
    assert end.reason == "time-limit"
    assert "no checkpoint appeared in ckpt" in end.message
    assert bench.checkpoints() == []


def test_a_failing_script_leaves_its_last_lines_and_a_fingerprint(tmp_path):
    script = "print('hello')\nraise ValueError('bad loss at 0x7f001')"
    first, second = StintBench(tmp_path / "a", script).play(), StintBench(tmp_path / "b", script).play()
    assert first.reason == "script-error"
    assert first.exit_code == 1
    assert any("bad loss" in line for line in first.tail)
    assert first.fingerprint == second.fingerprint != ""


def test_a_checkpoint_is_kept_when_the_script_dies_later(tmp_path):
    script = COUNTER.format(epochs=20, seconds=0.03) + "\nraise SystemExit(3)"
    end = StintBench(tmp_path, script).play()
    assert (end.reason, end.exit_code) == ("script-error", 3)
    assert end.checkpoints >= 1


def test_sigterm_saver_is_given_its_grace(tmp_path):
    script = """
import signal, sys, time, os
def save(*_):
    os.makedirs("ckpt", exist_ok=True)
    open("ckpt/state.json", "w").write('{"saved": "on the way out"}')
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
while True: time.sleep(0.01)
"""
    bench = StintBench(tmp_path, script)
    end = bench.play(limit_s=6, grace_s=1)
    assert end.reason == "hand-over", end
    manifest = f"runs/{bench.run}/checkpoints/{bench.checkpoints()[-1]}.json"
    assert b"on the way out" in bench.file("ckpt/state.json", manifest)


def test_stop_is_heard_while_the_script_runs(tmp_path):
    bench = StintBench(tmp_path, ANSWERING.format(epochs=1000, seconds=0.05), checkpoint=".outlast/c")
    runner = bench.start()
    eventually(lambda: bench.checkpoints())
    bench.want("stop")
    runner.communicate(timeout=150)
    assert bench.end().reason == "stopped"


def test_until_ends_the_run_when_it_holds(tmp_path):
    bench = StintBench(
        tmp_path, ANSWERING.format(epochs=1000, seconds=0.02), checkpoint=".outlast/c", until="loss<=0.2 and epoch>=5"
    )
    end = bench.play()
    assert end.reason == "finished"
    assert "loss<=0.2" in end.message
    assert end.epoch < 100


def test_sigterm_to_the_runner_is_a_preemption_that_saves(tmp_path):
    bench = StintBench(tmp_path, ANSWERING.format(epochs=1000, seconds=0.05), checkpoint=".outlast/c")
    runner = bench.start()
    eventually(lambda: bench.checkpoints())
    runner.send_signal(signal.SIGTERM)
    runner.communicate(timeout=150)
    end = bench.end()
    assert end.reason == "preempted"
    assert end.checkpoints >= 1


def test_a_second_runner_finds_the_claim_and_leaves(tmp_path):
    bench = StintBench(tmp_path, COUNTER.format(epochs=8, seconds=0.1))
    first = bench.start()
    eventually(lambda: bench.beat())
    second = bench.start()
    second.communicate(timeout=150)
    assert second.returncode == 0
    first.communicate(timeout=150)
    assert bench.end().reason == "finished"
    assert bench.log().count("epoch: 1/8") == 1


def test_a_fenced_runner_stops_its_script_and_commits_nothing(tmp_path):
    from outlast.inside import layout
    from outlast.inside.records import End

    bench = StintBench(tmp_path, ANSWERING.format(epochs=1000, seconds=0.05), checkpoint=".outlast/c")
    runner = bench.start()
    eventually(lambda: bench.checkpoints())
    bench.store.put_if_absent(layout.end_key(bench.run, 1), End("lost", by="keeper").to_bytes())
    known = bench.checkpoints()
    runner.communicate(timeout=150)
    assert bench.end().by == "keeper"
    # One commit may have been past its last check when the fence went up; a thousand epochs would have made more.
    assert len(bench.checkpoints()) <= len(known) + 1


def test_killing_the_runner_ends_the_script_too(tmp_path):
    script = "import os, time\nopen('pid.txt', 'w').write(str(os.getpid()))\nprint('up', flush=True)\ntime.sleep(600)"
    bench = StintBench(tmp_path, script)
    runner = bench.start()
    pid_file = tmp_path / "work/0001/tree/code/pid.txt"
    eventually(lambda: pid_file.exists() and pid_file.read_text())
    pid = int(pid_file.read_text())
    runner.kill()
    runner.communicate()
    eventually(lambda: not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2])


def test_every_committed_epoch_has_its_metrics_even_after_kill_9(tmp_path):
    bench = StintBench(tmp_path, ANSWERING.format(epochs=1000, seconds=0.02), checkpoint=".outlast/c")
    runner = bench.start()
    eventually(lambda: len(bench.checkpoints()) >= 5)
    runner.kill()
    runner.communicate()
    from outlast.inside.checkpoints import Checkpoints

    committed = Checkpoints(bench.store, bench.run).read(bench.checkpoints()[-1]).progress["epoch"]
    tracked = {line["epoch"] for line in bench.metrics() if "loss" in line["values"]}
    assert tracked >= set(range(1, int(committed) + 1))


def test_a_limit_shorter_than_the_startup_is_named(tmp_path):
    script = COUNTER.format(epochs=1, seconds=0)
    bench = StintBench(tmp_path, script)
    end = bench.play(limit_s=A_MOMENT_S, grace_s=0)
    assert end.reason == "setup-error"
    assert end.cause == "request"
    assert "shorter than the start-up" in end.message
    assert "--limit" in end.message


def test_a_slow_start_of_a_run_that_has_come_further_is_the_fault_of_the_place(tmp_path):
    bench = StintBench(tmp_path, COUNTER.format(epochs=12, seconds=0.25))
    assert bench.play(1, limit_s=4, grace_s=1).reason == "hand-over"
    end = bench.play(2, limit_s=A_MOMENT_S, grace_s=0)
    assert (end.reason, end.cause) == ("setup-error", "place")
    assert "shorter than the start-up" in end.message


def test_a_damaged_checkpoint_falls_back_and_says_so(tmp_path):
    bench = StintBench(tmp_path, COUNTER.format(epochs=24, seconds=0.25))
    assert bench.play(1, limit_s=6, grace_s=1).reason == "hand-over"
    last = bench.checkpoints()[-1]
    assert len(bench.checkpoints()) >= 2
    from outlast.inside.checkpoints import Checkpoints

    entry = Checkpoints(bench.store, bench.run).read(last).files["ckpt/state.json"]
    blob = tmp_path / "store" / "blobs" / "sha256" / entry["sha256"][:2] / entry["sha256"][2:]
    os.chmod(blob, 0o644)
    blob.write_bytes(b"x" * entry["size"])
    assert bench.play(2).reason == "finished"
    assert f"checkpoint {last} is damaged" in bench.log(2)
    assert "restored checkpoint" in bench.log(2)


def test_secrets_reach_the_script_and_never_the_log(tmp_path):
    script = "import os\nprint('token is', os.environ['TOKEN'])\nprint(len(os.environ['TOKEN']))"
    bench = StintBench(tmp_path, script)
    end = bench.play(secrets=["TOKEN"], environ={"OUTLAST_SECRET_TOKEN": "hunter2hunter2"})
    assert end.reason == "finished"
    assert "hunter2" not in bench.log()
    assert "token is ***" in bench.log()
    assert "14" in bench.log()


def test_memory_over_the_limit_is_a_script_error_with_numbers(tmp_path):
    script = "import time\nblocks = [bytearray(30 << 20) for _ in range(20)]\nprint('held', flush=True)\ntime.sleep(30)"
    end = StintBench(tmp_path, script).play(memory_bytes=200 << 20)
    assert end.reason == "script-error"


@pytest.mark.skipif(PYTHON37 is None, reason="there is no Python 3.7 on this machine")
def test_runner_and_script_work_with_python_37(tmp_path):
    bench = StintBench(
        tmp_path, ANSWERING.format(epochs=35, seconds=0.2), checkpoint=".outlast/c",
        python=str(PYTHON37), runner_python=str(PYTHON37),
    )  # fmt: skip
    assert bench.play(1, limit_s=6).reason == "hand-over", bench.log()
    assert bench.play(2).reason == "finished"
    assert bench.file("out/done.txt") == b"35"
