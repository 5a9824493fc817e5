"""A training whose accuracy is decided by its learning rate; saves and resumes like any other."""

import argparse
import json
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--pace", type=float, default=0.05)
parser.add_argument("--wait-for", default="", help="train no further than the first epoch before this file exists")
options = parser.parse_args()

os.makedirs("ckpt", exist_ok=True)
os.makedirs("out", exist_ok=True)
done = 0
if os.path.exists("ckpt/state.json"):
    with open("ckpt/state.json") as file:
        done = json.load(file)["epoch"]

for epoch in range(done + 1, options.epochs + 1):
    time.sleep(options.pace)
    while epoch > 1 and options.wait_for and not os.path.exists(options.wait_for):
        time.sleep(0.02)
    accuracy = options.lr * (1 - 0.5**epoch) + options.batch / 1e6
    print("epoch %d/%d loss=%.5f val_acc=%.5f" % (epoch, options.epochs, 1 - accuracy, accuracy), flush=True)
    with open("ckpt/state.tmp", "w") as file:
        json.dump({"epoch": epoch}, file)
    os.replace("ckpt/state.tmp", "ckpt/state.json")

with open("out/model.json", "w") as file:
    json.dump({"lr": options.lr}, file)
