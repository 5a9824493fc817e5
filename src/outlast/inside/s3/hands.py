"""More hands for many files: processes beside this one that are lent jobs, because one Python keeps one processor busy.

    this process  -- a task, then lists of numbered jobs -->  a hand
                  <--  what it moved, ended and failed    --

Lines of JSON, both ways. The keys of the store go through that pipe and never into an argument or a variable. A hand
ends with its input, so it never outlives this process; what it was lent and did not do is done here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import IO, Any, Dict, Iterable, List, NamedTuple, Optional, Type, cast

from ..errors import AccessDenied, Changed, Damaged, InsideError, NotFound, PlaceError, RequestError, StoreFull
from ..move.base import Job, Moving
from ..net.connection import Unreachable
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
_MOST = 3
#: Lent at once, and twice that ahead of the reports: enough for a hand never to wait, little enough to end together.
_BATCH, _BATCH_BYTES = 64, 64 << 20
_START = "import sys; sys.path.insert(0, sys.argv[1]); __import__(sys.argv[2], fromlist=['main']).main()"
_KINDS: Dict[str, Type[InsideError]] = {
    kind.__name__: kind
    for kind in (AccessDenied, Changed, Damaged, NotFound, PlaceError, RequestError, StoreFull, Unreachable)
}


def hands_for(jobs: Iterable[Job], secure: bool) -> int:
    """How many hands pay; none for jobs that are still being looked for."""
    if not isinstance(jobs, list) or len(jobs) < 2 or not os.path.isfile(__file__) or not sys.executable:
        return 0
    if len(jobs) < _MANY and not (secure and sum(job.size_bytes for job in jobs) >= _MUCH_BYTES):
        return 0
    return min(_MOST, _processors() - 1, len(jobs) - 1)


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


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


def line(body: object) -> bytes:
    # Names that are no UTF-8 hold lone surrogates: in ASCII they pass.
    return json.dumps(body, separators=(",", ":")).encode("ascii") + b"\n"


def fault(error: InsideError) -> List[str]:
    """An error for the way back."""
    kind = next(each.__name__ for each in type(error).__mro__ if each.__name__ in _KINDS or each is InsideError)
    return [kind, error.key if isinstance(error, NotFound) else str(error)]


def _error(said: List[str]) -> InsideError:
    return _KINDS.get(said[0], PlaceError)(said[1])


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
        self._process: Optional[subprocess.Popen[bytes]] = None
        try:
            # A session of its own: Ctrl-C is for this process, which then ends the hand.
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _START, _root(), "%s.hand" % __package__],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        except OSError:
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
            self._jobs.repay(self._settle(number), _error(said))

    def _settle(self, number: int) -> Job:
        job = self._lent.pop(number)
        self._lent_bytes -= job.size_bytes
        return job


def _root() -> str:
    """The folder from which this package can be imported."""
    folder = os.path.dirname(os.path.abspath(__file__))
    for _ in (__package__ or "").split("."):
        folder = os.path.dirname(folder)
    return folder
