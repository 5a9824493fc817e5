"""A runner's desk for scripts that import outlast."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

from outlast.inside.desk import Desk, DeskHandler
from outlast.inside.flag import StopFlag

SOURCE = Path(__file__).parents[2] / "src"
OLD_PYTHON = Path("~/.pyenv/versions/3.7.16/bin/python3.7").expanduser()


def tracked_calls(batch):
    """The calls of `outlast.track` in a batch, as `on_track` would have them."""
    for (at, epoch, step), rows in itertools.groupby(batch.rows(), key=lambda row: row[:3]):
        yield {"at": at, "epoch": epoch, "step": step, "values": {name: value for *_, name, value in rows}}


class Runner(DeskHandler):
    """A runner's desk that takes snapshots of the checkpoint place into memory."""

    def __init__(self, root):
        self.root = root
        self.place = root / "ckpt"
        self.flag = StopFlag.create(str(root / "flag"))
        self.calls = []
        self.points = []
        self.saves = []  # (files, progress)
        self.refuse = ""
        self.hook = lambda name, message: None
        self.desk = Desk(str(root / "socket"), self)

    def __getattribute__(self, name):
        if not name.startswith("on_") or name == "on_points":
            return super().__getattribute__(name)

        def note(message):
            self.calls.append((name[3:], message))
            self.hook(name[3:], message)
            return getattr(self, "take_" + name[3:], lambda _: None)(message)

        return note

    def on_points(self, batch):
        for message in tracked_calls(batch):
            self.on_track(message)

    def take_track(self, message):
        self.points.append(message)

    def take_save(self, message):
        if self.refuse:
            raise RuntimeError(self.refuse)
        self.saves.append((self.files(), message["progress"]))
        return {"ticket": len(self.saves)}

    def files(self):
        found = [path for path in self.place.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.place)): path.read_text() for path in found}

    def names(self):
        return [name for name, _ in self.calls]

    def env(self, **more):
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        kept.update(
            PYTHONPATH=str(SOURCE), PYTHONWARNINGS="error", PYTHONDONTWRITEBYTECODE="1",
            OUTLAST_RUN="1115-quiet-otter-abc", OUTLAST_STINT="2", OUTLAST_SOCKET=self.desk.path,
            OUTLAST_FLAG=str(self.root / "flag"), OUTLAST_CHECKPOINT=str(self.place), OUTLAST_RESTORED="",
            OUTLAST_PROGRESS="{}", OUTLAST_OUTPUT=str(self.root / "out"), OUTLAST_PARAMS="{}",
        )  # fmt: skip
        kept.update(more)
        return kept

    def start(self, script, python=sys.executable, **more):
        path = self.root / "script.py"
        path.write_text("import outlast, os, sys, time\n" + textwrap.dedent(script))
        return subprocess.Popen(
            [str(python), str(path)], env=self.env(**more), cwd=self.root, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, script, **more):
        process = self.start(script, **more)
        out, err = process.communicate(timeout=150)
        assert self.desk.drain(150)
        return process.returncode, out, err


def resumed(runner):
    """The environment of a stint that restored the last save."""
    return {"OUTLAST_RESTORED": "0001-000001", "OUTLAST_PROGRESS": json.dumps(runner.saves[-1][1])}


COUNTING = """
    total = 0
    def save(folder):
        with open(folder + "/total", "w") as file:
            file.write(str(total))
    def load(folder):
        global total
        with open(folder + "/total") as file:
            total = int(file.read())
    for epoch in outlast.epochs(5, save=save, load=load):
        total += 10 ** epoch
        print("epoch", epoch, flush=True)
    print("total", total)
"""
