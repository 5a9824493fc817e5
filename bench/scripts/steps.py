"""A training of equal epochs that records when it starts, each epoch, and when it leaves."""

import atexit
import hashlib
import os
import sys
import time

print("first line at", time.monotonic(), flush=True)

import outlast  # noqa: E402 - the first line comes before everything else on purpose

EPOCHS = int(sys.argv[1])
WORK = int(sys.argv[2])
state = {"epochs": 0, "hash": b"0"}
atexit.register(lambda: print("last line at", time.monotonic(), flush=True))


def save(folder):
    with open(os.path.join(folder, "state.txt"), "w") as file:
        file.write("%d %s" % (state["epochs"], state["hash"].hex()))


def load(folder):
    with open(os.path.join(folder, "state.txt")) as file:
        epochs, digest = file.read().split()
    state.update(epochs=int(epochs), hash=bytes.fromhex(digest))


for epoch in outlast.epochs(EPOCHS, save=save, load=load):
    digest = state["hash"]
    for _ in range(WORK):
        digest = hashlib.sha256(digest).digest()
    state.update(epochs=epoch + 1, hash=digest)
    print("worked epoch", epoch, flush=True)
