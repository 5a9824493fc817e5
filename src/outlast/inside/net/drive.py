"""Running steps: one to its end, or dozens side by side in one thread."""

from __future__ import annotations

import contextlib
import heapq
import select
import time
from typing import Any, Callable, Dict, List, Optional, Tuple, TypeVar

from .connection import Connection, Steps, Unreachable

T = TypeVar("T")


def finish(steps: Steps[T], sleep: Callable[[float], None] = time.sleep) -> T:
    """Run steps to their end and return their result; waits as long as the connection's own timeout allows."""
    try:
        waiting = next(steps)
        while True:
            if isinstance(waiting, float):
                sleep(waiting)
                waiting = next(steps)
            elif _wait(waiting):
                waiting = next(steps)
            else:
                waiting = steps.throw(_timed_out(waiting))
    except StopIteration as end:
        result: T = end.value
        return result


def _wait(connection: Connection) -> bool:
    poller = select.poll()
    poller.register(connection.fileno(), connection.wants)
    return bool(poller.poll(connection.timeout_s * 1000))


def _timed_out(connection: Connection) -> Unreachable:
    return Unreachable("%s did not answer for %g s" % (connection.where, connection.timeout_s))


class Source:
    """Where a loop takes its work from. Safe for several loops at once when `take` and `finished` are."""

    def take(self) -> Optional[Steps[Any]]:
        """The next steps to run, or None when there are none now."""
        raise NotImplementedError

    def finished(self) -> bool:
        """True when there will never be more, whatever the steps under way do."""
        raise NotImplementedError

    def wait(self) -> None:
        """Called when there is nothing to do and the work is not finished: another loop has all of it."""
        time.sleep(0.005)


class Loop:
    """Runs the steps of a source, at most `width` at a time, until it is finished.

    A small request costs one wait for many connections instead of a thread switch each. `stopping` is asked between
    waits; when it says yes the steps under way are closed where they stand.
    """

    _LOOK_S = 0.25  # how often timeouts and `stopping` are looked at when nothing happens

    def __init__(self, width: int, stopping: Callable[[], bool] = lambda: False) -> None:
        self._width = width
        self._stopping = stopping
        self._epoll = select.epoll()
        self._watched: Dict[int, Tuple[Connection, int]] = {}
        self._waiting: Dict[int, Tuple[Steps[Any], Connection, float]] = {}
        self._pauses: List[Tuple[float, int, Steps[Any]]] = []
        self._number = 0
        self._looked_at = time.monotonic()

    def run(self, source: Source) -> None:
        """Run everything. An error that steps raise ends the loop: they are meant to handle their own."""
        try:
            while not self._stopping():
                while len(self._waiting) + len(self._pauses) < self._width:
                    steps = source.take()
                    if steps is None:
                        break
                    self._advance(steps)
                if self._waiting or self._pauses:
                    self._turn()
                elif source.finished():
                    return
                else:
                    source.wait()
        finally:
            for steps, connection, _ in self._waiting.values():
                steps.close()
                connection.close()
            for _, _, steps in self._pauses:
                steps.close()
            self._epoll.close()

    def _turn(self) -> None:
        timeout = self._LOOK_S
        now = time.monotonic()
        if self._pauses:
            timeout = min(timeout, max(0.0, self._pauses[0][0] - now))
        for descriptor, _ in self._epoll.poll(timeout, self._width):
            found = self._waiting.pop(descriptor, None)
            if found is None:
                self._forget(descriptor)
            else:
                self._advance(found[0])
        now = time.monotonic()
        while self._pauses and self._pauses[0][0] <= now:
            self._advance(heapq.heappop(self._pauses)[2])
        if now - self._looked_at > 1.0:
            self._looked_at = now
            self._end_overdue(now)

    def _end_overdue(self, now: float) -> None:
        for descriptor, (steps, connection, since) in list(self._waiting.items()):
            if now - since > connection.timeout_s:
                del self._waiting[descriptor]
                self._advance(steps, _timed_out(connection))

    def _advance(self, steps: Steps[Any], error: Optional[Exception] = None) -> None:
        try:
            waiting = next(steps) if error is None else steps.throw(error)
        except StopIteration:
            return
        if isinstance(waiting, float):
            self._number += 1
            heapq.heappush(self._pauses, (time.monotonic() + waiting, self._number, steps))
            return
        self._watch(waiting)
        self._waiting[waiting.fileno()] = (steps, waiting, time.monotonic())

    def _watch(self, connection: Connection) -> None:
        """Registered once and kept: one-shot arming would cost a system call for every request."""
        descriptor, wants = connection.fileno(), connection.wants
        known = self._watched.get(descriptor)
        if known is not None and known[0] is connection:
            if known[1] == wants:
                return
            self._epoll.modify(descriptor, wants)
        else:
            # A descriptor of a closed socket has left the epoll by itself and may come back as another connection.
            self._epoll.register(descriptor, wants)
        self._watched[descriptor] = (connection, wants)

    def _forget(self, descriptor: int) -> None:
        """Nobody waits for this one now: an idle connection that the server closed would wake us for ever."""
        if self._watched.pop(descriptor, None) is not None:
            with contextlib.suppress(OSError, ValueError):
                self._epoll.unregister(descriptor)
