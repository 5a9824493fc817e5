"""Ctrl-C as something to wait for, so that the first one can detach and the second one stop the run."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from types import FrameType, TracebackType
from typing import Any


class Interrupts:
    """While open, Ctrl-C raises nothing: it is counted, and `wait` returns at once.

    The handler only writes a byte to a pipe: setting a `threading.Event` from a signal handler can deadlock with
    the very wait that it interrupts.
    """

    def __init__(self) -> None:
        self.count = 0
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        self._before = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)
        os.close(self._reader)
        os.close(self._writer)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        with contextlib.suppress(BlockingIOError):  # a full pipe already says it
            os.write(self._writer, b"!")

    def wait(self, timeout_s: float) -> bool:
        """Wait for the next Ctrl-C, at most so long; True when there was one (each is reported once)."""
        ready, _, _ = select.select([self._reader], [], [], timeout_s)
        if not ready:
            return False
        self.count += len(os.read(self._reader, 1))
        return True
