"""A line that says what is going on when something takes longer than two seconds."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

from outlast.cli.paint import Ink, clip, terminal_width
from outlast.model.quantities import format_duration

PATIENCE_S = 2.0
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Waiting:
    """While open: silent for two seconds, then one line on standard error, animated on a terminal.

    `note` changes the words: pass it where a progress callback is wanted. Where there are few of them, `each_is_a_line`
    shows every one also where nothing is animated.
    """

    def __init__(self, what: str, *, each_is_a_line: bool = False) -> None:
        self._what = what
        self._each_is_a_line = each_is_a_line
        self._ink = Ink(sys.stderr)
        self._animated = sys.stderr.isatty() and self._ink.on
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="outlast-waiting", daemon=True)

    def __enter__(self) -> Waiting:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._thread.join()

    def note(self, what: str) -> None:
        self._what = what

    def _loop(self) -> None:
        started = time.monotonic()
        if self._closing.wait(PATIENCE_S):
            return
        if not self._animated:
            self._print_lines()
            return
        frame = 0
        while not self._closing.wait(0.1):
            frame = (frame + 1) % len(_FRAMES)
            text = f"{_FRAMES[frame]} {self._what} … {format_duration(time.monotonic() - started)}"
            sys.stderr.write("\r\x1b[2K" + self._ink("dim", clip(text, terminal_width() - 1)))
            sys.stderr.flush()
        sys.stderr.write("\r\x1b[2K")
        sys.stderr.flush()

    def _print_lines(self) -> None:
        shown = self._what
        print(f"{shown} …", file=sys.stderr, flush=True)
        # Looked at from here and not printed by `note`, which a signal handler may call in the midst of a print.
        while self._each_is_a_line and not self._closing.wait(0.1):
            if self._what != shown:
                shown = self._what
                print(f"{shown} …", file=sys.stderr, flush=True)
