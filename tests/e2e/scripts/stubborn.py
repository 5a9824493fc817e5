"""A training that does not listen: it takes a signal to stop for nothing, and never ends by itself."""

import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("epoch 1/100 loss 0.5", flush=True)
while True:
    time.sleep(0.05)
