"""One of many one-hour jobs in the style of ModelArts' first generation: MoXing, and one last_epoch.ckpt."""

import argparse
import hashlib
import json
import os
import time

import moxing as mox

parser = argparse.ArgumentParser()
parser.add_argument("--data_url", type=str, required=True)
parser.add_argument("--train_url", type=str, required=True)
parser.add_argument("--epochs", type=int, default=32)
parser.add_argument("--hold", default="", help="STINT:EPOCH,… after which to wait until the stint is ended")
args, unknown = parser.parse_known_args()

mox.file.copy_parallel(args.data_url, "/cache/data")
images = sorted(os.listdir("/cache/data"))
print("found", images, "at", args.data_url, flush=True)
os.makedirs("/cache/ckpt", exist_ok=True)

state = {"epoch": 0, "weights": str(images)}
if mox.file.exists(os.path.join(args.train_url, "last_epoch.ckpt")):
    mox.file.copy(os.path.join(args.train_url, "last_epoch.ckpt"), "/cache/ckpt/last_epoch.ckpt")
    with open("/cache/ckpt/last_epoch.ckpt") as file:
        state = json.load(file)
    print("resume from epoch", state["epoch"], flush=True)
while state["epoch"] < args.epochs:
    state = {"epoch": state["epoch"] + 1, "weights": hashlib.sha256(state["weights"].encode()).hexdigest()}
    print("epoch: %d/%d loss: %.4f" % (state["epoch"], args.epochs, 1 / state["epoch"]), flush=True)
    with open("/cache/ckpt/last_epoch.ckpt", "w") as file:
        json.dump(state, file)
    mox.file.copy_parallel("/cache/ckpt", args.train_url)
    while "%s:%d" % (os.environ["OUTLAST_STINT"], state["epoch"]) in args.hold.split(","):
        time.sleep(0.02)
