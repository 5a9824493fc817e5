"""Signals while something throws away what it made: the first one interrupts the work, none interrupts the tidying."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

#: Ctrl-C, the end of a terminal or of a connection to it, and what `kill` and `timeout` send.
_SIGNALS = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)


class Tidying:
    """While open, these signals interrupt as usual until tidying up begins: with the first of them, or with `begin`.

    From then on they only tell that things are being tidied up: people press Ctrl-C again when nothing seems to happen,
    and what they would leave behind so is a training that goes on unseen. Signals reach the main thread alone, so
    elsewhere there is nothing to hold off.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._begun = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Tidying:
        if threading.current_thread() is threading.main_thread():
            handlers = {number: signal.getsignal(number) for number in _SIGNALS}
            # A program that ignores a signal (`nohup`) goes on ignoring it. What ends a program at once would leave
            # everything behind; Ctrl-C, where the system has it, belongs to somebody else.
            self._before = {
                number: handler for number, handler in handlers.items()
                if callable(handler) or (handler is signal.SIG_DFL and number != signal.SIGINT)
            }  # fmt: skip
        for number in self._before:
            signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def begin(self) -> None:
        """From here on nothing may be left half done."""
        self._begun = True
        self._say("tidying up")

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._begun:
            self._say("still tidying up: the trial's processes and its folder go first")
            return
        self._begun = True  # before the handler raises: the next signal may come before anybody has caught it
        handler = self._before[number]
        if callable(handler):
            handler(number, frame)
        else:
            raise SystemExit(128 + number)  # what a shell reports for a program that the signal has ended

    def _say(self, words: str) -> None:
        with contextlib.suppress(OSError):  # a terminal that is gone hears nothing, and must not stop the tidying
            self._tell(words)
