"""The free-train preset followed word by word, and a run that is pinned to an environment, for real."""

from __future__ import annotations

import json
import sys

from lab import kill

HOURLY = """
import argparse, json, os, time
import moxing as mox

parser = argparse.ArgumentParser()
parser.add_argument("--data_url")
parser.add_argument("--train_url")
args = parser.parse_args()
mox.file.copy_parallel(args.data_url, "/cache/data")
last = os.path.join(args.train_url, "last_epoch.ckpt")
os.makedirs("/cache/ckpt", exist_ok=True)
start = 0
if mox.file.exists(last):
    mox.file.copy(last, "/cache/ckpt/last_epoch.ckpt")
    with open("/cache/ckpt/last_epoch.ckpt") as file:
        start = json.load(file)["epoch"]
    print("going on after epoch", start, flush=True)
for epoch in range(start, 20):
    time.sleep(0.3)
    with open("/cache/ckpt/last_epoch.ckpt", "w") as file:
        json.dump({"epoch": epoch + 1, "data": os.listdir("/cache/data")}, file)
    mox.file.copy("/cache/ckpt/last_epoch.ckpt", last)
    print("epoch %d/20 loss %.3f" % (epoch + 1, 1 / (epoch + 1)), flush=True)
"""


def test_the_free_train_preset_trains_through_a_folder_that_plays_the_bucket(lab):
    lab.write("code/train.py", HOURLY)
    lab.write("data/x.txt", "1\n")
    lab.outlast("init", "code", "--like", "free-train", "--stints", "30")
    lab.outlast("store", "map", "obs://my-bucket", "bucket")
    lab.outlast("cp", "./data", "obs://my-bucket/free_train/data")
    run = lab.submit("code")
    last = lab.folder / "bucket" / "free_train" / "out" / "last_epoch.ckpt"
    lab.until(lambda: lab.client.runs.get(run).checkpoints)
    lab.until(lambda: [pid for pid in lab.scripts() if kill(pid)])
    view = lab.wait(run)
    assert view.state == "succeeded" and len(view.stint_list) == 2, view.message
    assert json.loads(last.read_text()) == {"epoch": 20, "data": ["x.txt"]}
    assert "going on after epoch" in b"".join(lab.client.runs.logs(run)).decode()
    assert "epoch 20/20" in next((lab.folder / "code" / "MA_LOG").iterdir()).read_text()


def test_a_run_starts_from_the_environment_that_it_is_pinned_to(lab):
    lab.write("numbers.txt", "numpy\n")
    lab.write("code/train.py", "import numpy\nprint('numpy', numpy.__version__, flush=True)\n")
    lab.outlast("environments", "add", "numbers", "--requirements", "numbers.txt")
    plan = json.loads(lab.outlast("run", "code/train.py", "--environment", "num", "--dry-run", "--json").stdout)
    assert plan["spec"]["environment"] == {"name": "numbers", "requirements": ["numpy"], "image": ""}
    assert "numbers" in lab.outlast("run", "code/train.py", "--environment", "numbers", "--dry-run").stdout
    # This interpreter has the package already, so nothing is fetched.
    run = lab.submit("code/train.py", "--environment", "numbers", "--python", sys.executable)
    lab.outlast("environments", "remove", "numbers")
    view = lab.wait(run)
    assert view.state == "succeeded", view.message
    log = b"".join(lab.client.runs.logs(run)).decode()
    assert "numbers.txt" in log and "numpy " in log


def test_a_probe_knows_the_environments_of_the_real_home(lab):
    lab.write("numbers.txt", "numpy\n")
    lab.write("code/train.py", "import numpy\nfor n in range(1, 4):\n    print(f'epoch {n}/3 loss 1', flush=True)\n")
    lab.outlast("environments", "add", "numbers", "--requirements", "numbers.txt")
    pinned = ("--environment", "numbers", "--python", sys.executable)
    done = lab.outlast("probe", "code/train.py", *pinned, "--time", "20s", "--json")
    assert json.loads(done.stdout)["stints"] == 1
