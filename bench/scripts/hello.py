"""Says when its first line runs, on the clock that all processes share."""

import time

print("first line at", time.monotonic(), flush=True)
