"""Equal steps of pure computing, each followed by writing a checkpoint of the given size.

Prints how long the computing took. In a stint the checkpoint is committed; run by hand it is only written.
"""

import hashlib
import os
import sys
import time

import outlast

MEGABYTES, ROUNDS, WORK = (int(text) for text in sys.argv[1:4])
piece = os.urandom(1 << 20)
saves = 0


def save(folder):
    with open(os.path.join(folder, "weights.bin"), "wb") as file:
        for number in range(MEGABYTES):
            # Different in every megabyte of every round: nothing may be found in the store already.
            file.write((saves * MEGABYTES + number).to_bytes(8, "little") + piece[8:])


computing_s = saving_s = 0.0
for saves in range(ROUNDS):
    began = time.perf_counter()
    digest = b"0"
    for _ in range(WORK):
        digest = hashlib.sha256(digest).digest()
    computed = time.perf_counter()
    if outlast.info().inside:
        outlast.save(save)
    else:
        # As a careful script does it: a file that is whole or not there, never one that is overwritten in place.
        os.makedirs("aside", exist_ok=True)
        save("aside")
        os.replace("aside/weights.bin", "weights.bin")
    computing_s += computed - began
    saving_s += time.perf_counter() - computed
print("computing took", computing_s, "writing took", saving_s, flush=True)
