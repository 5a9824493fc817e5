"""Servers that many tests share; each starts when the first test of a process asks for it."""

pytest_plugins = ["servers.seaweed", "servers.hadoop", "servers.ceph"]
