"""A home folder of its own, the real command line, and a hand that can kill anything that belongs to it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from outlast.client import Client
from outlast.inside import processes
from outlast.keeper.home import Home
from outlast.settings import write_setting

SCRIPTS = Path(__file__).parent / "scripts"

#: No pauses between tries and no patience limit: the crash tests interrupt far more often than the world does.
#: A keeper that is killed while it ends a stint may leave a frozen runner; silence gives it away, here soon.
RELENTLESS = {"backoff_s": "0", "no_progress_limit": "100000", "silence_limit_s": "10"}


class Lab:
    """Everything happens below `folder`; `close` ends whatever is left."""

    def __init__(self, folder, settings=None, **environment):
        self.folder = Path(folder)
        self.home = self.folder / "home"
        self.environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
        self.environ.update(environment, OUTLAST_HOME=str(self.home), NO_COLOR="1", COLUMNS="100")
        self._client = None
        self._started = []
        # In the home and not in the environment: any command or client may be the one that starts the keeper.
        for name, value in (settings or {}).items():
            write_setting(Home(self.home).path, name, value)

    @property
    def client(self):
        if self._client is None:
            self._client = Client(home=self.home)
        return self._client

    def project(self, script, name="train.py"):
        """A code folder with one of the scripts in it."""
        folder = self.folder / f"project-{Path(script).stem}"
        folder.mkdir(exist_ok=True)
        target = folder / name
        target.write_bytes((SCRIPTS / script).read_bytes())
        return target

    def write(self, path, text):
        """A file below the lab's folder."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def outlast(self, *arguments, check=True, timeout=200, cwd=None, before=(), **environment):
        """Run the command line for real; `before` is a command that runs it in turn."""
        done = subprocess.run(
            [*before, sys.executable, "-m", "outlast.cli.entry", *map(str, arguments)],
            env={**self.environ, **environment},
            cwd=cwd or self.folder,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        if check:
            assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def start(self, *arguments, **environment):
        """The same, watched by a test while it goes on; its output is in `output` of what is returned."""
        output = self.folder / f"output-{len(list(self.folder.glob('output-*')))}.txt"
        with output.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "outlast.cli.entry", *map(str, arguments)],
                env={**self.environ, **environment}, cwd=self.folder, stdin=subprocess.DEVNULL,
                stdout=file, stderr=subprocess.STDOUT,
            )  # fmt: skip
        process.output = output
        self._started.append(process)
        return process

    def submit(self, *arguments):
        """Start a run in the background and return its id."""
        return self.outlast("run", "--detach", *arguments).stdout.split()[0]

    def show(self, run):
        return json.loads(self.outlast("show", run, "--json").stdout)

    def wait(self, run, timeout_s=200):
        """Until the run is final; fails with its story otherwise."""
        deadline = time.monotonic() + timeout_s
        while True:
            view = self.client.runs.get(run)
            if view.state.is_final:
                return view
            if time.monotonic() > deadline:
                raise AssertionError(f"{run} is still {view.state}: {view.to_json(detail=True)}\n{self.story()}")
            time.sleep(0.05)

    def until(self, condition, timeout_s=150, pause_s=0.03):
        """Wait for a condition and return what it returned."""
        deadline = time.monotonic() + timeout_s
        while True:
            found = condition()
            if found:
                return found
            if time.monotonic() > deadline:
                raise AssertionError(f"{condition} did not come true in {timeout_s} s\n{self.story()}")
            time.sleep(pause_s)

    def pids(self, *words):
        """Processes that mention this home folder and all the words in their command line."""
        found = []
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            try:
                command = Path("/proc", name, "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if str(self.home) in command and all(word in command for word in words):
                found.append(int(name))
        return found

    def keepers(self):
        return self.pids("outlast.keeper")

    def runners(self):
        return [pid for pid in self.pids("place.json") if "bwrap" not in _name_of(pid)]

    def scripts(self):
        """The trainings themselves: what the runners' sandboxes (or the runners) have started last."""
        found = []
        for runner in self.runners():
            found += [pid for pid in processes.descendants(runner) if "python" in _name_of(pid)]
        return found

    def wake(self):
        """Any command that looks after runs starts the keeper again; this is the cheapest."""
        from outlast.keeper.wake import ensure_keeper

        ensure_keeper(Home(self.home), self.environ)

    def story(self):
        """What is left to look at when something did not happen: processes, stints, the keeper's log."""
        lines = []
        for pid in self.pids():
            stat = processes.read_stat(pid)
            command = Path("/proc", str(pid), "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            lines.append(f"{pid} {stat.state if stat else '?'} {command[-160:]}")
        for run in self.client.runs.list():
            view = self.client.runs.get(run.id)
            lines.append(f"{view.id} {view.state}: {view.message} {view.notice}")
            lines += [str(stint)[:600] for stint in view.stint_list[-2:]]
        logs = [self.home / "keeper.log", *sorted(self.home.glob("local/jobs/*/runner.log"))[-2:]]
        lines += [f"== {log}\n{log.read_text(errors='replace')[-2000:]}" for log in logs if log.exists()]
        return "\n".join(lines)

    def close(self):
        for process in self._started:
            process.kill()
            process.wait()
        for _ in range(20):
            left = self.pids()
            for pid in left:
                processes.kill_tree(pid)
            if not left:
                return


def _name_of(pid):
    try:
        return Path("/proc", str(pid), "comm").read_text()
    except OSError:
        return ""


def kill(pid):
    """kill -9; False when it was gone already."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


#: A user namespace that maps root to somebody else: permissions count there, as they do for everybody but root.
AS_SOMEBODY = ("unshare", "--user", "--map-user=1000")


def can_be_somebody():
    try:
        return subprocess.run([*AS_SOMEBODY, "true"], capture_output=True, timeout=150).returncode == 0
    except OSError:
        return False
