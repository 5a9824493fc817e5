"""A job of real processes without a stint around it: a plan on disk, the role runner, and what it printed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from outlast.inside.contracts.openpai.containers import Mounts
from outlast.inside.contracts.openpai.job import K8S, YARN, Job, Role
from outlast.inside.contracts.openpai.runner import Plan

SOURCE = Path(__file__).parents[3] / "src"
PORTS = {"http": 1, "ssh": 1}


def role(name, command, **fields):
    return Role(name, command, **{"ports": PORTS, **fields})


class JobBench:
    def __init__(
        self, folder, *roles, v2=False, keep=(), code=None, python=sys.executable, mounts=None, inputs=(), **fields
    ):
        self.root = Path(folder) / "code"
        self.root.mkdir()
        scratch = Path(folder) / "scratch"
        scratch.mkdir()
        if code is not None:
            for name, text in code.items():
                path = Path(folder) / "pristine" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            fields["code_from"] = "../pristine"
        self.job = Job(K8S if v2 else YARN, "mnist", "ann", list(roles), **fields)
        plan = Plan(
            self.job, str(self.root), str(scratch), sys.executable, list(keep), list(inputs),
            mounts=mounts or Mounts(), label="outlast-test",
        )  # fmt: skip
        self._plan = Path(folder) / "plan.json"
        self._plan.write_text(json.dumps(plan.to_json()))
        self._python = python

    def start(self, **environment):
        env = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONUNBUFFERED": "1", **environment}
        command = [self._python, "-m", "outlast.inside.contracts.openpai", str(self._plan)]
        return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def play(self, timeout=150, **environment):
        """(exit code, output) of the whole job."""
        process = self.start(**environment)
        output, _ = process.communicate(timeout=timeout)
        return process.returncode, output

    def log(self, task, stream="stdout"):
        return (self.root / "pai-log" / task / f"user.pai.{stream}").read_text()


def wait_for(path, process, timeout_s=150):
    """Until a file exists, which a script writes when it is ready."""
    deadline = time.monotonic() + timeout_s
    while not path.exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.02)


def ask_to_leave(process):
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=150)
    return process.returncode, output
