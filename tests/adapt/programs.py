"""Programs of several files: written to a folder, adapted there, and run as processes that can be killed."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from outlast.operations.adapt import adapt

_START = """
import os, runpy, signal, sys
sys.path[:0] = [{folder!r}, {beside!r}]
import pretend
sys.modules.update(pretend.torch())
sys.argv = {argv!r}
write, line = sys.stdout.write, []
def write_until(text):
    write(text)
    line.append(text)
    if text.endswith("\\n"):
        if "".join(line).startswith({until!r}):
            os.kill(os.getpid(), signal.SIGKILL)
        line.clear()
sys.stdout.write = write_until
runpy.run_path(sys.argv[0], run_name="__main__")
"""
#: What a step of the programs in these tests trains.
STEP = """
optimizer.zero_grad()
loss = model(x) - y
loss = loss * loss
loss.backward()
optimizer.step()
"""
POINTS = "".join(f"{at / 8},{at / 4 + 1}\n" for at in range(8))


@dataclass(frozen=True)
class Ran:
    lines: list[str]
    error: str
    code: int


class Program:
    """Files in a folder. Lines of a file that are `STEP` become the steps of a training."""

    def __init__(self, folder: Path, entry: str = "train.py", **files: str) -> None:
        self.folder, self.entry = folder, entry
        for name, text in files.items():
            path = folder / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_stepped(textwrap.dedent(text)))

    def adapt(self, contract: str = "modelarts"):
        """Write the adaptation; whatever is written compiles, and a second time changes nothing."""
        done = adapt(str(self.folder / self.entry), contract=contract, write=True, force=True)
        for name in done.changed:
            compile(Path(name).read_text(), name, "exec")
        again = adapt(str(self.folder / self.entry), contract=contract)
        assert not again.changed, "a second time must change nothing"
        for kept in self.folder.rglob("*.orig"):
            kept.unlink()
        return done

    def text(self, name: str) -> str:
        return (self.folder / name).read_text()

    def files(self) -> set[str]:
        return {
            str(path.relative_to(self.folder))
            for path in self.folder.rglob("*")
            if path.is_file() and path.suffix not in (".py", ".pyc")
        }

    def run(self, *argv: str, until: str = "\0", environ: dict[str, str] | None = None) -> Ran:
        """Run it as `python train.py argv` would, at most until it prints a line that begins so.

        It ends itself there: from outside, a short program might have ended before it could be killed.
        """
        start = _START.format(
            folder=str((self.folder / self.entry).parent), beside=str(Path(__file__).parent),
            argv=[str(self.folder / self.entry), *argv], until=until,
        )  # fmt: skip
        env = {name: value for name, value in os.environ.items() if not name.startswith(("OUTLAST", "CONTRACT"))}
        env |= environ or {}
        with subprocess.Popen(
            [sys.executable, "-u", "-c", start], cwd=self.folder, env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            assert process.stdout is not None and process.stderr is not None
            lines = [line.rstrip("\n") for line in process.stdout]
            error = process.stderr.read()
        return Ran(lines, error, process.returncode)


def _stepped(text: str) -> str:
    lines = []
    for line in text.lstrip("\n").splitlines():
        lead = line[: len(line) - len(line.lstrip())]
        lines += [lead + each for each in STEP.strip().splitlines()] if line.strip() == "STEP" else [line]
    return "\n".join(lines) + "\n"
