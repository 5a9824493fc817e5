"""Stints of several nodes on one machine, each node with the real runner, and a script whose nodes need each other."""

import dataclasses
import functools
import os
import subprocess
import time
from pathlib import Path

from stintbench import SOURCE, StintBench

from outlast.inside import layout
from outlast.inside.place import Place
from outlast.inside.records import End
from servers.nodes_training import TRAINING

#: A deadline that only a broken program reaches.
PATIENCE_S = 150.0


def wait_until(holds, what):
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, f"{what}: not within {PATIENCE_S} s"
        time.sleep(0.02)


class NodesBench(StintBench):
    """Start the nodes of a stint by hand; `gate` opens what the script waits at."""

    def __init__(self, folder, script=TRAINING, *, nodes=2, env=None, **spec):
        self.nodes = nodes
        self.gate = Path(folder) / "gate"
        env = {"GATE": str(self.gate), **(env or {})}
        super().__init__(folder, script, env=env, resources={"cpus": 1, "gpus": 0, "npus": 0, "nodes": nodes}, **spec)
        self._runners = []

    def start_nodes(self, stint=1, only=None, **options):
        """The runners of the nodes, or of those in `only`, in order."""
        first = Place.read(str(self.order(stint, **options)))
        return [self._start(first, node) for node in (range(self.nodes) if only is None else only)]

    def _start(self, first, node):
        work = Path(first.work, "nodes", f"{node:04d}") if node else Path(first.work)
        work.mkdir(parents=True, exist_ok=True)
        place = dataclasses.replace(first, work=str(work), node=node, nodes=self.nodes, address="127.0.0.1")
        place.write(str(work / "place.json"))
        env = {**os.environ, "PYTHONPATH": str(SOURCE)}
        with (work / "runner.log").open("wb") as log:
            runner = subprocess.Popen(
                [self.runner_python, "-m", "outlast.inside", str(work / "place.json")], env=env, stdout=log, stderr=log
            )
        self._runners.append(runner)
        return runner

    def play_nodes(self, stint=1, **options):
        """A stint with all its nodes to the end; returns its end record."""
        for runner in self.start_nodes(stint, **options):
            assert runner.wait(PATIENCE_S) == 0
        return self.end(stint)

    def wait_for_step(self, step):
        """Until it is done on every node; what a slow machine saves in a row may be committed as one."""
        logs = [self.log, *(functools.partial(self.node_log, node) for node in range(1, self.nodes))]
        wait_until(lambda: all(f"step {step} " in log() for log in logs) and self.checkpoints(), f"step {step}")

    def node_end(self, node, stint=1):
        return End.from_bytes(self.store.get(layout.end_key(self.run, stint, node)))

    def node_log(self, node, stint=1):
        entries = self.store.list(layout.log_prefix(self.run, stint, node))
        return b"".join(self.store.get(entry.key) for entry in entries).decode(errors="replace")

    def close(self):
        for runner in self._runners:
            runner.kill()
            runner.wait()
