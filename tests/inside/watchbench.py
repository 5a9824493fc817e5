"""A checkpoint place whose time is simulated, and processes that hold files open."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
import zipfile

from outlast.inside.watcher import Watcher

SEED = int(os.environ.get("OUTLAST_TEST_SEED", "4711"))


def zip_bytes(value=0, size=300):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", str(value))
        archive.writestr("archive/data/0", bytes(size))
    return buffer.getvalue()


class World:
    """A checkpoint place, a clock, and a script that writes with the times it is told."""

    def __init__(self, root, place="ckpt", settle_s=1.0):
        self.root = root
        self.now = 100.0
        self.stamp = time.time_ns() - 10**13
        self.pids = []
        self.watcher = Watcher(str(root), place, lambda: self.pids, settle_s)

    def write(self, path, data=None, stamp=None):
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(zip_bytes(self.stamp) if data is None else data)
        self.touch(path, stamp)

    def replace(self, path, data=None):
        self.write(path + ".tmp", data)
        (self.root / (path + ".tmp")).rename(self.root / path)

    def touch(self, path, stamp=None):
        self.stamp += 10**8
        os.utime(self.root / path, ns=(stamp or self.stamp,) * 2)

    def scan(self, step_s=0.1):
        self.now += step_s
        return self.watcher.scan(self.now)

    def scans(self, seconds):
        """Scan ten times a second; the first candidate, or None."""
        for _ in range(round(seconds * 10)):
            candidate = self.scan()
            if candidate is not None:
                return candidate
        return None

    def commit(self, seconds=2.0):
        candidate = self.scans(seconds)
        assert candidate is not None
        self.watcher.committed(candidate)
        return candidate


def restored(tmp_path, *names):
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(zip_bytes())
    return World(tmp_path)


def paths(candidate):
    return sorted(file.path for file in candidate.files)


HOLD = """
import sys
file = open(sys.argv[1], sys.argv[2])
file.write(sys.argv[3])
file.flush()
print("ready", flush=True)
input()
"""


def start(code, *args):
    """A process that has printed its first line and waits for one."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    return process
