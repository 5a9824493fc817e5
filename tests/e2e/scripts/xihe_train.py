"""A training instance in the style of Xihe: everything is an option, and nothing comes from the network."""

import argparse
import hashlib
import json
import os
import time
import urllib.request

parser = argparse.ArgumentParser()
parser.add_argument("--data_url", type=str, required=True)
parser.add_argument("--pretrain_url", type=str, required=True)
parser.add_argument("--output_path", type=str, required=True)
parser.add_argument("--epoch_size", type=int, default=32)
parser.add_argument("--hold", default="", help="STINT:EPOCH,… after which to wait until the stint is ended")
parser.add_argument("--download", action="store_true")
args = parser.parse_args()

if args.download:
    urllib.request.urlopen("http://dataset.example/mnist.zip")
with open(args.pretrain_url) as file:
    weights = file.read()
assert os.path.isdir(args.data_url) and os.path.isfile(args.pretrain_url)

checkpoint = os.path.join(args.output_path, "checkpoint_lenet.json")
state = {"epoch": 0, "weights": weights}
if os.path.exists(checkpoint):
    with open(checkpoint) as file:
        state = json.load(file)
    print("resume from epoch", state["epoch"], flush=True)
while state["epoch"] < args.epoch_size:
    state = {"epoch": state["epoch"] + 1, "weights": hashlib.sha256(state["weights"].encode()).hexdigest()}
    print("epoch: %d step: 1875, loss is %.5f" % (state["epoch"], 1 / state["epoch"]), flush=True)
    with open(checkpoint + ".part", "w") as file:
        json.dump(state, file)
    os.replace(checkpoint + ".part", checkpoint)
    while "%s:%d" % (os.environ["OUTLAST_STINT"], state["epoch"]) in args.hold.split(","):
        time.sleep(0.02)

with open(os.path.join(args.output_path, "weights.txt"), "w") as file:
    file.write(state["weights"])
