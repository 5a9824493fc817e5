"""A training that knows nothing of Outlast: weights that depend on every step, saved in one file by rename.

Its final weights are a function of its arguments alone, so that any way of interrupting it can be checked bit for bit.
"""

import argparse
import hashlib
import json
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--work", type=int, default=20000)
parser.add_argument("--pace", type=float, default=0.0, help="seconds that an epoch takes at least")
parser.add_argument("--never-save", action="store_true")
parser.add_argument("--fail-at", type=int, default=-1)
options = parser.parse_args()

os.makedirs("ckpt", exist_ok=True)
os.makedirs("out", exist_ok=True)
state = {"epoch": 0, "weights": "0" * 64}
if os.path.exists("ckpt/state.json"):
    with open("ckpt/state.json") as file:
        state = json.load(file)
    print("resumed at epoch", state["epoch"], flush=True)

while state["epoch"] < options.epochs:
    began = time.monotonic()
    weights = state["weights"].encode()
    for _ in range(options.work):
        weights = hashlib.sha256(weights).digest()
    time.sleep(max(0.0, began + options.pace - time.monotonic()))
    state = {"epoch": state["epoch"] + 1, "weights": weights.hex()}
    if state["epoch"] == options.fail_at:
        raise ValueError("the loss is nan at epoch %d" % state["epoch"])
    loss = 1.0 / (state["epoch"] + int(state["weights"][:4], 16) / 65536)
    print("epoch: %d/%d loss: %.6f" % (state["epoch"], options.epochs, loss), flush=True)
    if not options.never_save:
        with open("ckpt/state.json.tmp", "w") as file:
            json.dump(state, file)
        os.replace("ckpt/state.json.tmp", "ckpt/state.json")

with open("out/weights.txt", "w") as file:
    file.write(state["weights"] + "\n")
