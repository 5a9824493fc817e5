"""The command line in this process, and its output without what differs from run to run."""

import contextlib
import io
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from outlast.cli.entry import main
from outlast.client import Client
from outlast.settings import Settings

TRAINING = """\
import argparse, json, os, pathlib, time

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--wait", action="store_true")
options = parser.parse_args()
print("data", pathlib.Path("mnist/a.txt").read_text().strip())
state = pathlib.Path("ckpt/state.json")
first = json.loads(state.read_text())["epoch"] if state.exists() else 0
state.parent.mkdir(exist_ok=True)
for epoch in range(first + 1, options.epochs + 1):
    print(f"epoch {epoch} loss {options.lr / epoch:.4f}", flush=True)
    state.write_text(json.dumps({"epoch": epoch}))
while options.wait and os.environ["OUTLAST_STINT"] == "1":  # it is ended from outside
    time.sleep(0.05)
pathlib.Path("out").mkdir(exist_ok=True)
pathlib.Path("out/model.txt").write_text("weights")
"""

_RUN = re.compile(r"\b\d{4}-[a-z]+-[a-z]+-[a-z0-9]{3}\b")
_TIME = re.compile(r"(?<![\w.])\d+(\.\d+)? ?(ms|s|min|h)\b( \d+ ?(s|min)\b)?")
_LINES_OF_PLACES = re.compile(r"^\s*(code|store|command|python)\s.*(\n\s{9,}\S.*)*", re.MULTILINE)


def write_project(folder):
    (folder / "mnist").mkdir(parents=True)
    (folder / "mnist" / "a.txt").write_text("digits\n")
    (folder / "train.py").write_text(TRAINING)
    return folder


@dataclass
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


class Terminal:
    """Somebody who types commands, with a home folder and an environment of their own."""

    def __init__(self, home, **environ):
        self.home = Path(home)
        self.environ = {"OUTLAST_HOME": str(home), "COLUMNS": "220", "LANG": "C.UTF-8", **environ}

    def client(self):
        """The same as a library."""
        return Client(settings=Settings.load(self.environ))

    def type(self, line, cwd=None, stdin="", **environ):
        words = line.split() if isinstance(line, str) else list(line)
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        before = Path.cwd()
        os.chdir(cwd or before)
        try:
            with (
                mock.patch.dict(os.environ, {**self.environ, **environ}),
                mock.patch.object(sys, "stdin", io.StringIO(stdin)),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
            ):
                code = main(words)
        finally:
            os.chdir(before)
        return Said(code, *(each.buffer.getvalue().decode("utf-8", "backslashreplace") for each in (out, err)))


def alike(text):
    """A text without ids, times, paths and the spaces that depend on them."""
    text = _LINES_OF_PLACES.sub("", text)
    text = _RUN.sub("RUN", text)
    text = re.sub(r"http://127\.0\.0\.1:\d+|file:///\S+|(?<![\w.])/\S+", "PLACE", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ][\d:.+Z]+", "MOMENT", text)
    text = _TIME.sub("TIME", text)
    text = re.sub(r"\b(now|TIME ago|just now)\b", "AGO", text)
    text = re.sub(r"\d+(\.\d+)? ?%", "SHARE", text)
    text = re.sub(r", [\d.]+ epochs/s", "", text)
    text = re.sub(r"PLACE (…|\.\.\.)", "PLACE", text)
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())
