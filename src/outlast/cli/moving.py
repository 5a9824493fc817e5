"""What `cp` and `sync` show while bytes move, and Ctrl-C as a wish to stop cleanly."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from outlast.cli.paint import Ink
from outlast.cli.waiting import PATIENCE_S, Waiting
from outlast.inside.errors import InsideError
from outlast.inside.move.base import Job
from outlast.inside.move.engine import Listener
from outlast.model.quantities import format_duration, format_size

if TYPE_CHECKING:
    from outlast.inside.move.plan import Plan

_LINE_EVERY_S = 5.0
_DRAW_EVERY_S = 0.2


class Watch(Listener):
    """Listens to one copy. While open, the first Ctrl-C asks it to stop and the second ends the process.

    On a terminal a bar shows bytes, files, rate and time left; otherwise a line does, every few seconds. Both only
    after two seconds, and never with `quiet`.
    """

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._lock = threading.Lock()
        self._wish = False
        self._moving = False
        self._before: Any = None
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._waiting = Waiting("looking") if not quiet else None
        self.files = self.size_bytes = 0
        self.all_files = self.all_bytes = 0

    def __enter__(self) -> Watch:
        self._before = signal.signal(signal.SIGINT, self._on_signal)
        if self._waiting is not None:
            self._waiting.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)
        self._stop_waiting()
        self._closing.set()
        if self._thread is not None:
            self._thread.join()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self._moving:
            raise KeyboardInterrupt
        if self._wish:
            os._exit(130)  # threads may hang in the network; what is half done has no name yet
        self._wish = True

    def looking(self, words: str) -> None:
        if self._waiting is not None:
            self._waiting.note(words)

    def planned(self, plan: Plan) -> None:
        self.begin(plan.file_count, plan.size_bytes)

    def begin(self, files: int = 0, size_bytes: int = 0) -> None:
        """The moving begins; zero when it is not known how much there is."""
        self._stop_waiting()
        self.all_files, self.all_bytes = files, size_bytes
        self._moving = True
        if not self._quiet:
            self._thread = threading.Thread(target=self._show, name="outlast-moving", daemon=True)
            self._thread.start()

    def moved(self, count: int) -> None:
        with self._lock:
            self.size_bytes += count

    def done(self, job: Job) -> None:
        with self._lock:
            self.files += 1

    def failed(self, job: Job, error: InsideError) -> None:
        self.done(job)

    def stopping(self) -> bool:
        return self._wish

    def _stop_waiting(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.__exit__(None, None, None)

    def _show(self) -> None:
        started = time.monotonic()
        if self._closing.wait(PATIENCE_S):
            return
        if Ink(sys.stderr).can_move:
            self._show_bar()
            return
        while not self._closing.wait(_LINE_EVERY_S):
            print(self.line(time.monotonic() - started), file=sys.stderr, flush=True)

    def line(self, elapsed_s: float) -> str:
        """How far it is, in one line: `3.1 GB of 8.0 GB, 1200 of 3000 files, 210.4 MB/s, 24 s left`."""
        rate = self.size_bytes / elapsed_s if elapsed_s > 0 else 0.0
        words = [_part(format_size(self.size_bytes), format_size(self.all_bytes), self.all_bytes)]
        words.append(_part(str(self.files), str(self.all_files), self.all_files) + " files")
        words.append(f"{format_size(rate)}/s")
        if rate > 0 and self.all_bytes:
            words.append(f"{format_duration(max(self.all_bytes - self.size_bytes, 0) / rate)} left")
        return ", ".join(words)

    def _show_bar(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        columns = [BarColumn(), DownloadColumn(binary_units=True), TextColumn("{task.fields[files]}")]
        columns += [TransferSpeedColumn(), TimeRemainingColumn()]
        with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
            task = bar.add_task("", total=self.all_bytes or None, files="")
            while not self._closing.wait(_DRAW_EVERY_S):
                files = _part(str(self.files), str(self.all_files), self.all_files) + " files"
                words = "stopping …" if self._wish else files
                bar.update(task, completed=self.size_bytes, files=words)
                bar.refresh()


def _part(done: str, whole: str, known: int) -> str:
    return f"{done} of {whole}" if known else done
