"""Processes beside this one that are lent work, because one Python keeps one processor busy.

    this process  -- lines of JSON: what to do       -->  a hand
                  <--  lines of JSON: how that ended  --

A hand ends with its input, so it never outlives this process for long. What it was lent and did not do is done here:
none at all is a fine number of hands.
"""

from __future__ import annotations

import abc
import collections
import json
import os
import queue
import subprocess
import sys
import threading
from typing import IO, Any, Callable, Deque, Dict, Generic, Iterable, List, Optional, Type, TypeVar, cast

from .errors import AccessDenied, Changed, Damaged, InsideError, NotFound, PlaceError, RequestError, StoreFull
from .net.connection import Unreachable

P = TypeVar("P")

_MOST = 3
#: Pieces that a hand holds: the next one is there when it has finished one.
_LENT = 2
_START = "import sys; sys.path.insert(0, sys.argv[1]); __import__(sys.argv[2], fromlist=['main']).main()"
_KINDS: Dict[str, Type[InsideError]] = {
    kind.__name__: kind
    for kind in (AccessDenied, Changed, Damaged, NotFound, PlaceError, RequestError, StoreFull, Unreachable)
}


def hands_at_most() -> int:
    """How many could work beside this process: one for each further processor, up to a few."""
    if not os.path.isfile(__file__) or not sys.executable:  # out of an archive, or embedded: nothing to start
        return 0
    return min(_MOST, processors() - 1)


def processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def start_hand(module: str) -> Optional[subprocess.Popen[bytes]]:
    """A process that runs `main` of a module of this package, by its full name; None when there can be no more."""
    try:
        # A session of its own: Ctrl-C is for this process, which then ends the hand.
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _START, _root(), module],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    except OSError:
        return None


def line(body: object) -> bytes:
    # Names that are no UTF-8 hold lone surrogates: in ASCII they pass.
    return json.dumps(body, separators=(",", ":")).encode("ascii") + b"\n"


def fault(error: InsideError) -> List[str]:
    """An error for the way back."""
    kind = next(each.__name__ for each in type(error).__mro__ if each.__name__ in _KINDS or each is InsideError)
    return [kind, error.key if isinstance(error, NotFound) else str(error)]


def error_of(said: List[str]) -> InsideError:
    return _KINDS.get(said[0], PlaceError)(said[1])


def _root() -> str:
    """The folder from which this package can be imported."""
    folder = os.path.dirname(os.path.abspath(__file__))
    for _ in (__package__ or "").split("."):
        folder = os.path.dirname(folder)
    return folder


class Work(abc.ABC, Generic[P]):
    """Work in pieces that hands can share."""

    @abc.abstractmethod
    def to_json(self, piece: P) -> Optional[object]:
        """What a hand is told of a piece; None for one that has to be done in this process."""

    @abc.abstractmethod
    def do(self, piece: P) -> Any:
        """Do a piece here. Called from several threads for pieces that cannot be lent."""

    def done(self, piece: P, answer: Any) -> None:
        """A piece was done, here or by a hand. Called from several threads."""


class Hands:
    """Processes that share one kind of work with this one, while the context lasts.

    `module` is what they run: its `main` calls `serve_hand`. They are told `task` first. Until `begin` there are none:
    a hand takes a tenth of a second to be ready, so whoever knows how much work there is says whether that pays.
    """

    def __init__(self, module: str, task: object) -> None:
        self._module = module
        self._task = task
        self._hands: List[_Hand] = []
        self._threads: List[threading.Thread] = []
        self._lend_to: Callable[[_Hand], None] = lambda hand: None

    def __enter__(self) -> Hands:
        return self

    def __exit__(self, *_: object) -> None:
        for hand in self._hands:
            hand.end()

    def begin(self) -> None:
        """Start them, unless they are there. Also while pieces are shared, by what makes these."""
        if not self._hands:
            self._hands = [_Hand(self._module, self._task) for _ in range(hands_at_most())]
            self._put_to_work()

    def share(self, pieces: Iterable[P], work: Work[P]) -> None:
        """Do all pieces. The first error ends it when what is under way has ended; what was done stays done."""
        source = _Pieces(pieces)
        self._lend_to = lambda hand: hand.take_part(source, work)
        self._put_to_work()
        try:
            _take_part(source, work)
        except BaseException as error:  # noqa: BLE001 - raised below, when the hands have finished what they write
            source.fail(error)
        for thread in self._threads:
            thread.join()
        self._threads, self._lend_to = [], lambda hand: None
        if source.error is None:
            _take_part(source, work)  # what a hand had that died
        if source.error is not None:
            raise source.error

    def _put_to_work(self) -> None:
        for hand in self._hands:
            if hand.is_there:
                thread = threading.Thread(target=self._lend_to, args=(hand,), name="outlast-hand", daemon=True)
                self._threads.append(thread)
                thread.start()


class _Pieces(Generic[P]):
    """Pieces for several takers. One that raises while it is made is the end of them."""

    def __init__(self, pieces: Iterable[P]) -> None:
        self.error: Optional[BaseException] = None
        self._iterator = iter(pieces)
        self._waiting: Deque[P] = collections.deque()
        self._lock = threading.Lock()

    def take(self) -> Optional[P]:
        with self._lock:
            if self.error is not None:
                return None
            return self._waiting.popleft() if self._waiting else next(self._iterator, None)

    def give_back(self, pieces: Iterable[P]) -> None:
        with self._lock:
            self._waiting.extendleft(pieces)

    def fail(self, error: BaseException) -> None:
        with self._lock:
            self.error = self.error or error


def _take_part(source: _Pieces[P], work: Work[P]) -> None:
    while True:
        piece = source.take()
        if piece is None:
            return
        work.done(piece, work.do(piece))


class _Died(Exception):
    """The process of a hand is gone."""


class _Hand:
    """One process, as the thread that lends it pieces sees it."""

    def __init__(self, module: str, task: object) -> None:
        self._process = start_hand(module)
        self.is_there = self._process is not None
        self._first_words = line(task)  # until they are said

    def take_part(self, source: _Pieces[P], work: Work[P]) -> None:
        """Have pieces done until there are none; those that it cannot be lent are done in this thread."""
        lent: Deque[P] = collections.deque()
        try:
            while self._lend(source, work, lent):
                answer = self._hear()
                if "failed" in answer:
                    raise error_of(answer["failed"])
                work.done(lent.popleft(), answer["done"])
        except _Died:
            self.is_there = False
            source.give_back(reversed(lent))
        except BaseException as error:  # noqa: BLE001 - raised by `share`, in the thread of whoever asked
            source.fail(error)

    def end(self) -> None:
        """Let it finish what it has, and go."""
        if self._process is None:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                cast("IO[bytes]", pipe).close()
            except OSError:
                pass
        self._process.wait()

    def _lend(self, source: _Pieces[P], work: Work[P], lent: Deque[P]) -> bool:
        """Lend until it has enough. False when it has nothing and there is nothing more."""
        while len(lent) < _LENT:
            piece = source.take()
            if piece is None:
                break
            body = work.to_json(piece)
            if body is None:
                work.done(piece, work.do(piece))
            else:
                lent.append(piece)
                self._say(line(body))
        return bool(lent)

    def _say(self, words: bytes) -> None:
        assert self._process is not None
        said = cast("IO[bytes]", self._process.stdin)
        try:
            # At once: making the next piece may take as long as this one.
            said.write(self._first_words + words)
            said.flush()
        except OSError:
            raise _Died from None
        self._first_words = b""

    def _hear(self) -> Dict[str, Any]:
        assert self._process is not None
        try:
            answer: Dict[str, Any] = json.loads(cast("IO[bytes]", self._process.stdout).readline().decode("ascii"))
        except (OSError, ValueError):  # no line, or half of one
            raise _Died from None
        return answer


def serve_hand(make: Callable[[Any], Callable[[Any], object]]) -> None:
    """The life of a hand: `make` gets the task and gives what does a piece. Ends with its input."""
    said = sys.stdout.buffer
    told: queue.Queue[bytes] = queue.Queue()
    # Heard while it works: if it wrote a long answer while it was being told a long piece, both would wait forever.
    threading.Thread(target=_listen, args=(sys.stdin.buffer, told), daemon=True).start()
    do: Optional[Callable[[Any], object]] = None
    for text in iter(told.get, b""):
        body = json.loads(text.decode("ascii"))
        if do is None:
            do = make(body)
            continue
        try:
            answer: Dict[str, object] = {"done": do(body)}
        except InsideError as error:
            answer = {"failed": fault(error)}
        said.write(line(answer))
        said.flush()
    # Not through the interpreter's end, for which somebody waits: everything is written.
    os._exit(0)


def _listen(heard: IO[bytes], told: queue.Queue[bytes]) -> None:
    for text in heard:
        told.put(text)
    told.put(b"")
