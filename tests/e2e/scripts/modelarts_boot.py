"""A boot file in the style of ModelArts' second generation: folders in, folders out, argparse that knows no more."""

import argparse
import hashlib
import json
import os
import time

parser = argparse.ArgumentParser(description="MNIST")
parser.add_argument("--data_url", type=str, default="./data")
parser.add_argument("--train_url", type=str, default="./output")
parser.add_argument("--batchsize", type=int, default=32)
parser.add_argument("--learning_rate", type=float, default=0.1)
parser.add_argument("--epochs", type=int, default=32)
parser.add_argument("--hold", default="", help="STINT:EPOCH,… after which to wait until the stint is ended")
args = parser.parse_args()

images = sorted(os.listdir(args.data_url))
print("found", images, "batch", args.batchsize, "hosts", os.environ["MA_NUM_HOSTS"], flush=True)
with open("/cache/scratch.bin", "xb") as scratch:  # private to this stint: it was never there before
    scratch.write(b"0" * 100)

checkpoint = os.path.join(args.train_url, "lenet.ckpt")
state = {"epoch": 0, "weights": "%s %g" % (images, args.learning_rate)}
if os.path.exists(checkpoint):
    with open(checkpoint) as file:
        state = json.load(file)
    print("resume from epoch", state["epoch"], flush=True)
while state["epoch"] < args.epochs:
    state = {"epoch": state["epoch"] + 1, "weights": hashlib.sha256(state["weights"].encode()).hexdigest()}
    print("epoch: %d/%d loss: %.4f" % (state["epoch"], args.epochs, 1 / state["epoch"]), flush=True)
    with open(checkpoint + ".part", "w") as file:
        json.dump(state, file)
    os.replace(checkpoint + ".part", checkpoint)
    while "%s:%d" % (os.environ["OUTLAST_STINT"], state["epoch"]) in args.hold.split(","):
        time.sleep(0.02)

with open(os.path.join(args.train_url, "weights.txt"), "w") as file:
    file.write(state["weights"])
