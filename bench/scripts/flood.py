"""Prints as fast as Python can: lines as an over-talkative training writes them."""

import sys
import time

LINES = int(sys.argv[1])
block = "".join(
    "worker %05d: batch moved to device, queue length %4d, all is well\n" % (i, i % 977) for i in range(1000)
)
began = time.monotonic()
for _ in range(LINES // 1000):
    sys.stdout.write(block)
sys.stdout.flush()
print("wrote", LINES, "lines in", time.monotonic() - began, flush=True)
