"""Servers that many tests share; each starts when the first test of a process asks for it."""

from __future__ import annotations

import hypothesis

pytest_plugins = ["servers.seaweed", "servers.hadoop", "servers.ceph", "servers.postgres"]

# How long an example takes says more about the machine's other work than about the code.
hypothesis.settings.register_profile(
    "outlast", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.load_profile("outlast")
