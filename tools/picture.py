"""Make docs/picture.svg: the first command of the README in a real terminal, once while it runs and once at its end.

`python -m tools.picture` types the command into tmux, waits for the two moments and draws what the screen showed.
Nothing on it is written by hand; it takes as long as the training does.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from outlast.keeper.home import Home
from outlast.keeper.wake import end_keeper
from tools.svg import draw_screens

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "picture.svg"
COMMAND = "outlast run examples/digits --limit 15s"
TITLE = "A training of 40 epochs goes through stints of 15 seconds"
COLUMNS, ROWS = 100, 30
SCROLLBACK = 200  # the closing table may be longer than the screen
DEADLINE_S = 300.0

# The third stint, far enough in it that all parts of the view are there: two hand-overs, bars, curve.
WHILE_RUNNING = re.compile(r"stint 2 handed over.*stint 3 +━.*?· ([3-8])(\.\d)? s left", re.DOTALL)
PROMPT = re.compile(r"^\$")
AT_THE_END = re.compile(r"outlast logs \S+ .*\n\$ ?$")
CLOSING = re.compile(r"^\S+ succeeded: ", re.MULTILINE)


class Terminal:
    """A shell on a tmux screen of its own server; `close` ends it and everything in it."""

    def __init__(self, home: Path) -> None:
        self.socket = f"outlast-picture-{os.getpid()}"
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        self.environ = {**os.environ, "OUTLAST_HOME": str(home), "PS1": "$ ", "PATH": path, "LC_ALL": "C.UTF-8"}
        self.environ.pop("COLUMNS", None)
        size = ["-x", str(COLUMNS), "-y", str(ROWS)]
        self._tmux("-f", os.devnull, "new-session", "-d", *size, "bash", "--norc", "--noprofile")
        self.wait_for(PROMPT)

    def type(self, line: str) -> None:
        self._tmux("send-keys", "-l", line)
        self._tmux("send-keys", "Enter")

    def screen(self, *, colours: bool = False, scrollback: int = 0) -> str:
        shown = self._tmux("capture-pane", "-p", *(["-e"] if colours else []), "-S", str(-scrollback))
        return shown.rstrip("\n")

    def wait_for(self, pattern: re.Pattern[str]) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not pattern.search(self.screen()):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the screen never showed {pattern.pattern!r}:\n{self.screen()}")
            time.sleep(0.1)

    def close(self) -> None:
        socket = Path(self._tmux("display-message", "-p", "#{socket_path}").strip())
        self._tmux("kill-server")
        socket.unlink(missing_ok=True)  # tmux leaves it behind

    def _tmux(self, *words: str) -> str:
        command = ["tmux", "-L", self.socket, *words]
        done = subprocess.run(command, cwd=ROOT, env=self.environ, capture_output=True, text=True, check=True)
        return done.stdout


def watch(home: Path) -> list[str]:
    """Run the command and return the two screens, with their colours."""
    terminal = Terminal(home)
    try:
        terminal.type(COMMAND)
        terminal.wait_for(WHILE_RUNNING)
        running = terminal.screen(colours=True)
        terminal.wait_for(AT_THE_END)
        plain = terminal.screen(scrollback=SCROLLBACK)
        height = len(CLOSING.split(plain)[-1].splitlines())
        closing = terminal.screen(colours=True, scrollback=SCROLLBACK).splitlines()[-height:-1]
    finally:
        terminal.close()
    return [running, "\n".join(closing)]


def main() -> int:
    if shutil.which("tmux") is None:
        sys.exit("the picture needs tmux; install it with your package manager")
    # A short, plain name: it is part of the picture.
    home = Path(tempfile.gettempdir()) / "outlast"
    if home.exists():
        sys.exit(f"{home} is in the way; remove it first")
    try:
        home.mkdir(mode=0o700)
        PICTURE.write_text(draw_screens(watch(home), COLUMNS, TITLE), encoding="utf-8")
    finally:
        end_keeper(Home(home))
        shutil.rmtree(home, ignore_errors=True)
    sys.stdout.write(f"wrote {PICTURE.relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
