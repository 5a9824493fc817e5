"""Make docs/picture.svg: the first command of the README in a real terminal, once while it runs and once at its end.

`python -m tools.picture` types the command into tmux, waits for the two moments and draws what the screen showed.
Nothing on it is written by hand; it takes as long as the training does.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "picture.svg"
COMMAND = "outlast run examples/digits --limit 15s"
COLUMNS, ROWS = 100, 30
SCROLLBACK = 200  # the closing table may be longer than the screen
DEADLINE_S = 900.0

# The third stint, far enough in it that all parts of the view are there: two hand-overs, bars, curve.
WHILE_RUNNING = re.compile(r"stint 2 handed over.*stint 3 +━.*?· ([3-8])(\.\d)? s left", re.DOTALL)
AT_THE_END = re.compile(r"outlast logs \S+ .*\n\$ ?$")
CLOSING = re.compile(r"^\S+ succeeded: ", re.MULTILINE)

THEME = TerminalTheme(
    (13, 17, 23),
    (201, 209, 217),
    [(72, 79, 88), (255, 123, 114), (63, 185, 80), (210, 153, 34), (88, 166, 255), (188, 140, 255), (57, 197, 207),
     (177, 186, 196)],
    [(110, 118, 129), (255, 161, 152), (86, 211, 100), (227, 179, 65), (121, 192, 255), (210, 168, 255),
     (86, 212, 221), (240, 246, 252)],
)  # fmt: skip

# Fonts of the reader's machine only: a picture in a README must not ask any other server for anything.
FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>A training of 40 epochs goes through stints of 15 seconds</title>
<style>
.{unique_id}-matrix {{ font-family: Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
<rect fill="#0d1117" width="{width}" height="{height}" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


class Terminal:
    """A shell on a tmux screen of its own server; `close` ends it and everything in it."""

    def __init__(self, home: Path) -> None:
        self.socket = f"outlast-picture-{os.getpid()}"
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        wanted = {"OUTLAST_HOME": str(home), "PS1": "$ ", "PATH": path, "LC_ALL": "C.UTF-8"}
        variables = [part for name, value in wanted.items() for part in ("-e", f"{name}={value}")]
        self._tmux(
            "-f", os.devnull, "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), *variables,
            "bash", "--norc", "--noprofile",
        )  # fmt: skip

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
        self._tmux("kill-server")

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", "-L", self.socket, *words], cwd=ROOT, capture_output=True, text=True, check=True)
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


def draw(screens: list[str]) -> str:
    """The screens below each other as one SVG."""
    console = Console(
        file=io.StringIO(), width=COLUMNS, record=True, force_terminal=True, color_system="truecolor", legacy_windows=False
    )  # fmt: skip
    for number, screen in enumerate(screens):
        if number:
            console.print(Text("\n" + "┄" * COLUMNS + "\n", style="bright_black"))
        console.print(Text.from_ansi(screen), soft_wrap=True)
    return console.export_svg(theme=THEME, code_format=FRAME, unique_id="outlast")


def main() -> int:
    if shutil.which("tmux") is None:
        sys.exit("the picture needs tmux; install it with your package manager")
    # A short, plain name: it is part of the picture.
    home = Path(tempfile.gettempdir()) / "outlast"
    if home.exists():
        sys.exit(f"{home} is in the way; remove it first")
    try:
        PICTURE.write_text(draw(watch(home)), encoding="utf-8")
    finally:
        shutil.rmtree(home, ignore_errors=True)
    sys.stdout.write(f"wrote {PICTURE.relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
