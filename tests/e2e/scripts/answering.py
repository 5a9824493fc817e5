"""The same training written with `import outlast`: leaves between epochs, saves what it needs, tracks its loss."""

import argparse
import hashlib
import json
import os
import time

import outlast

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--work", type=int, default=20000)
parser.add_argument("--pace", type=float, default=0.0, help="seconds that an epoch takes at least")
options = parser.parse_args()

weights = ("0" * 64).encode()


def save(folder):
    with open(os.path.join(folder, "weights.json"), "w") as file:
        json.dump({"weights": weights.hex()}, file)


def load(folder):
    global weights  # noqa: PLW0603
    with open(os.path.join(folder, "weights.json")) as file:
        weights = bytes.fromhex(json.load(file)["weights"])


for epoch in outlast.epochs(options.epochs, save=save, load=load):
    began = time.monotonic()
    for _ in range(options.work):
        weights = hashlib.sha256(weights).digest()
    time.sleep(max(0.0, began + options.pace - time.monotonic()))
    outlast.track(loss=1.0 / (epoch + 1 + weights[0] / 256), epoch=epoch + 1)
    print("step", epoch, weights.hex()[:16], flush=True)

os.makedirs("out", exist_ok=True)
with open("out/weights.txt", "w") as file:
    file.write(weights.hex() + "\n")
