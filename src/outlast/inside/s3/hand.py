"""One of the processes of `hands`: takes numbered jobs from its input, and tells by its output what became of them."""

from __future__ import annotations

import collections
import json
import os
import signal
import sys
import threading
import time
from typing import IO, Any, Callable, Deque, Dict, Iterator, List, Optional

from ..beside import fault, line
from ..errors import InsideError
from ..move.base import Job, Report
from . import jobs as lanes
from .hands import MOVES, Task
from .server import Server

#: Ended jobs and seconds after which it speaks.
_FEW, _SOON_S = 32, 0.1


class Ear(Iterator[Optional[Job]]):
    """The jobs that arrive, read by a thread of its own so that moving never waits for them."""

    def __init__(self, heard: IO[bytes]) -> None:
        self.numbers: Dict[Job, int] = {}
        self.ended = threading.Event()
        self._heard = heard
        self._waiting: Deque[Job] = collections.deque()
        self._nudge: Callable[[], None] = lambda: None

    def listen(self, nudge: Callable[[], None]) -> None:
        self._nudge = nudge
        threading.Thread(target=self._run, daemon=True).start()

    def __next__(self) -> Optional[Job]:
        return self._waiting.popleft() if self._waiting else None

    @property
    def is_empty(self) -> bool:
        return not self._waiting

    def _run(self) -> None:
        for text in self._heard:
            first, batch = json.loads(text.decode("ascii"))
            for number, fields in enumerate(batch, first):
                job = Job(*fields)
                self.numbers[job] = number
                self._waiting.append(job)
            self._nudge()
        # Everything was told already, or nobody is there to hear it.
        self.ended.set()
        self._nudge()


class Voice(Report):
    """Tells in lines of many jobs each: a line a job would cost more than the job."""

    def __init__(self, said: IO[bytes], ear: Ear) -> None:
        self._said = said
        self._ear = ear
        self._lock = threading.Lock()
        self._moved = 0
        self._done: List[int] = []
        self._failed: List[Any] = []
        self._spoke_at = time.monotonic()

    def moved(self, count: int) -> None:
        with self._lock:
            self._moved += count
            self._speak()

    def done(self, job: Job) -> None:
        with self._lock:
            self._done.append(self._ear.numbers.pop(job))
            self._speak()

    def failed(self, job: Job, error: InsideError) -> None:
        with self._lock:
            self._failed.append([self._ear.numbers.pop(job), fault(error)])
            self._speak()

    def stopping(self) -> bool:
        return self._ear.ended.is_set()

    def _speak(self) -> None:
        ended = len(self._done) + len(self._failed)
        now = time.monotonic()
        if ended < _FEW and now - self._spoke_at < _SOON_S and not (ended and self._ear.is_empty):
            return
        body = {"moved": self._moved, "done": self._done, "failed": self._failed}
        self._moved, self._done, self._failed, self._spoke_at = 0, [], [], now
        try:
            self._said.write(line(body))
            self._said.flush()
        except OSError:
            self._ear.ended.set()


def main() -> None:
    """Move until the input ends or SIGTERM comes; files under way then leave nothing behind."""
    heard, said = sys.stdin.buffer, sys.stdout.buffer
    task = Task.from_line(heard.readline())
    ear = Ear(heard)
    signal.signal(signal.SIGTERM, lambda *_: ear.ended.set())
    server = Server(task.access, task.bucket, task.policy)
    moves = MOVES[task.verb](server, ear, Voice(said, ear), task.how)
    ear.listen(moves.nudge)
    try:
        lanes.run(moves, task.how.workers, lambda: server.http.is_near)
    except InsideError:
        pass  # the job that showed it was told; the others go back
    finally:
        # Not through the interpreter's end: the thread that reads would have to be waited for.
        os._exit(0)
