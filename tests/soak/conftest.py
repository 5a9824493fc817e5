"""What the long tests share: the tests they repeat on another server, and processes that do one task."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "inside" / "s3")]


class Signed:
    """A server as somebody sees it who signs in one certain way."""

    def __init__(self, server, signature):
        self._server = server
        self.access = server.access._replace(signature=signature)

    def __getattr__(self, name):
        return getattr(self._server, name)


@pytest.fixture(params=["v4", "v2"])
def gateway(request, ceph):
    """The gateway of Ceph, with either signature."""
    return Signed(ceph, request.param)


class Task:
    """A process of `tasks.py`. Its access goes to it on standard input, as a secret must."""

    def __init__(self, access, task, /, environ=None, **arguments):
        self._process = subprocess.Popen(
            [sys.executable, str(FOLDER / "tasks.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environ or {})},
        )  # fmt: skip
        self.say({"access": access.to_json(), "task": task, "arguments": arguments})

    def say(self, words):
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()

    def hear(self):
        """The next thing it reports."""
        line = self._process.stdout.readline()
        assert line, f"the task ended with {self._process.wait()}"
        return json.loads(line)

    def close(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


@pytest.fixture
def start_task():
    """Starts processes of `tasks.py` and ends them with the test."""
    tasks = []

    def start(*args, **kwargs):
        tasks.append(Task(*args, **kwargs))
        return tasks[-1]

    yield start
    for task in tasks:
        task.close()
