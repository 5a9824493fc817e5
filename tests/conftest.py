"""Servers that many tests share; each starts when the first test of a process asks for it."""

from __future__ import annotations

import signal

import hypothesis

pytest_plugins = ["servers.seaweed", "servers.hadoop", "servers.ceph", "servers.postgres"]

# How long an example takes says more about the machine's other work than about the code.
hypothesis.settings.register_profile(
    "outlast", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.load_profile("outlast")

# A test run that was started in the background ignores Ctrl-C, and so would every command that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
