"""One stint started by its boot file, in the emptiest container that bubblewrap can make."""

import atexit
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from stintbench import StintBench

from outlast.inside.boot import BOOT
from outlast.platforms.boot import boot_file

OLD_PYTHON = Path("~/.pyenv/versions/3.7.16/bin/python3.7").expanduser()


@functools.cache
def built():
    """The boot file, made once for all tests of a process."""
    folder = tempfile.mkdtemp(prefix="outlast-boots-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return boot_file(Path(folder))


class BootBench(StintBench):
    """A bench whose runner is the boot file."""

    def told(self, stint=1, **more):
        place = json.loads(self.order(stint, **more.pop("options", {})).read_text())
        return {name: place[name] for name in ("store", "run", "stint", "token")} | more

    def variables(self, stint=1, **more):
        return {BOOT: json.dumps(self.told(stint, **more)), **self.private()}

    def boot(self, variables, *arguments, cage=(), environ=None, flags=("-I", "-S"), timeout=150):
        """Run the boot file to its end; nothing of our own environment reaches it."""
        env = {"PATH": os.environ["PATH"], "OUTLAST_WORK": str(self.folder), **variables, **(environ or {})}
        command = [*cage, self.runner_python, *flags, str(built()), *arguments]
        return subprocess.run(command, env=env, cwd="/", capture_output=True, text=True, timeout=timeout, check=False)

    def cage(self, *shown, network=False):
        """A container: the system read-only, an empty /tmp, no home, no network, run by nobody."""
        command = ["bwrap", "--die-with-parent", "--unshare-user", "--uid", "65534", "--gid", "65534", "--unshare-pid"]
        command += [] if network else ["--unshare-net"]
        command += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
        command += ["--ro-bind", str(built()), str(built())]
        for path in shown:
            command += ["--bind", str(path), str(path)]
        return [*command, "--"]


def bench_python():
    """The oldest interpreter that the boot file must do with, where there is one here."""
    return str(OLD_PYTHON) if OLD_PYTHON.exists() else sys.executable
