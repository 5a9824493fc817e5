"""Ctrl-C while something throws away what it made: the first one interrupts the work, none interrupts the tidying."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any


class Tidying:
    """While open, Ctrl-C interrupts as usual until tidying up begins: with the first Ctrl-C, or with `begin`.

    From then on it only tells that things are being tidied up: people press it again when nothing seems to happen,
    and what they would leave behind so is a training that goes on unseen. Signals reach the main thread alone, so
    elsewhere there is nothing to hold off.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._begun = False
        self._before: Any = None

    def __enter__(self) -> Tidying:
        handler = signal.getsignal(signal.SIGINT)
        # A program that ignores Ctrl-C, or leaves it to the system, is not interrupted half-way through tidying.
        if threading.current_thread() is threading.main_thread() and callable(handler):
            self._before = handler
            signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def begin(self) -> None:
        """From here on nothing may be left half done."""
        self._begun = True
        self._tell("tidying up")

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._begun:
            self._tell("still tidying up: the trial's processes and its folder go first")
            return
        self._begun = True  # before the handler raises: the next Ctrl-C may come before anybody has caught it
        self._before(number, frame)
