"""More hands for many files: processes (see `beside`) that are lent jobs of one move.

    this process  -- a task, then lists of numbered jobs -->  a hand
                  <--  what it moved, ended and failed    --

The keys of the store go through that pipe and never into an argument or a variable.
"""

from __future__ import annotations

import json
import threading
from typing import IO, Any, Dict, Iterable, NamedTuple, cast

from ..beside import error_of, hands_at_most, line, start_hand
from ..move.base import Job, Moving
from ..net.retry import Policy
from ..stores.access import Access
from .download import Downloads
from .jobs import Jobs
from .upload import Uploads

SEND, FETCH = "send", "fetch"
MOVES: Dict[str, Any] = {SEND: Uploads, FETCH: Downloads}

#: A hand takes a tenth of a second to be ready: a thousand small files.
_MANY = 2000
#: Encrypted bytes pass through Python, so that a second processor pays for large files, too.
_MUCH_BYTES = 1 << 30
#: Lent at once, and twice that ahead of the reports: enough for a hand never to wait, little enough to end together.
_BATCH, _BATCH_BYTES = 64, 64 << 20


def hands_for(jobs: Iterable[Job], secure: bool) -> int:
    """How many hands pay; none for jobs that are still being looked for."""
    if not isinstance(jobs, list) or len(jobs) < 2:
        return 0
    if len(jobs) < _MANY and not (secure and sum(job.size_bytes for job in jobs) >= _MUCH_BYTES):
        return 0
    return min(hands_at_most(), len(jobs) - 1)


class Task(NamedTuple):
    """What all jobs of a hand have in common."""

    verb: str
    access: Access
    bucket: str
    policy: Policy
    how: Moving

    def to_line(self) -> bytes:
        return line([self.verb, self.access.to_json(), self.bucket, self.policy, self.how])

    @classmethod
    def from_line(cls, text: bytes) -> Task:
        verb, access, bucket, policy, how = json.loads(text.decode("ascii"))
        return cls(verb, Access.from_json(access), bucket, Policy(*policy), Moving(*how))


class Hands:
    """Some hands for the jobs of one move, while the context lasts. None at all is a fine number."""

    def __init__(self, count: int, task: Task, jobs: Jobs) -> None:
        self._hands = [_Hand(task, jobs) for _ in range(count)]

    def __enter__(self) -> Hands:
        return self

    def __exit__(self, *_: object) -> None:
        for hand in self._hands:
            hand.end()


class _Hand:
    """One process, and the thread that lends it jobs and hears how they ended."""

    def __init__(self, task: Task, jobs: Jobs) -> None:
        self._jobs = jobs
        self._lent: Dict[int, Job] = {}
        self._lent_bytes = 0
        self._number = 0
        self._process = start_hand("%s.hand" % __package__)
        if self._process is None:
            return  # no more processes allowed here: then with fewer hands
        self._thread = threading.Thread(target=self._run, args=(task,), name="outlast-hand", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """End the process; what it holds is left as if it had never begun."""
        if self._process is not None:
            self._process.terminate()
            self._thread.join()

    def _run(self, task: Task) -> None:
        process = self._process
        assert process is not None
        said, heard = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        try:
            said.write(task.to_line())
            while self._lend(said):
                answer = heard.readline()
                if not answer:
                    break
                self._hear(json.loads(answer.decode("ascii")))
        except (OSError, ValueError):
            pass  # it died: what it was lent comes back below
        finally:
            self._jobs.take_back(self._lent.values())
            for pipe in (said, heard):
                try:
                    pipe.close()
                except OSError:
                    pass
            process.wait()

    def _lend(self, said: IO[bytes]) -> bool:
        """Lend until it has enough. False when it has nothing and there is nothing more."""
        while len(self._lent) <= _BATCH and self._lent_bytes <= _BATCH_BYTES:
            batch = self._jobs.lend(_BATCH, _BATCH_BYTES)
            if not batch:
                break
            numbers = range(self._number, self._number + len(batch))
            self._number += len(batch)
            self._lent.update(zip(numbers, batch))
            self._lent_bytes += sum(job.size_bytes for job in batch)
            said.write(line([numbers[0], batch]))
        said.flush()
        return bool(self._lent)

    def _hear(self, answer: Dict[str, Any]) -> None:
        self._jobs.report.moved(answer["moved"])
        for number in answer["done"]:
            self._jobs.repay(self._settle(number))
        for number, said in answer["failed"]:
            self._jobs.repay(self._settle(number), error_of(said))

    def _settle(self, number: int) -> Job:
        job = self._lent.pop(number)
        self._lent_bytes -= job.size_bytes
        return job
