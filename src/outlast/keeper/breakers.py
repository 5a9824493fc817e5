"""Platforms that took no stint, and how long each is left alone: one circuit breaker per platform, for all runs.

Kept in `breakers.json` in the home, so that a keeper that starts anew does not hammer a platform that is down, and
so that `outlast platforms` can tell. Times are those of this machine's clock, since they outlive the process.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from outlast.errors import HomeError, Unavailable
from outlast.model.quantities import format_duration
from outlast.store.private import PrivateFile

#: The first wait, in units of the setting `refusal_wait_s`, and the longest: it doubles with each refusal in a row.
_WAITS = {"down": (1, 60), "full": (3, 60), "quota": (30, 360), "refused": (60, 360)}
_WORDS = {"full": "is full", "quota": "is out of quota", "refused": "refuses"}
#: So much earlier or later, so that runs which were refused together do not come back together.
_JITTER = 0.2
#: Asking about jobs is cheap, and runs wait for the answer: it is tried again after so many units at the latest.
_LONGEST_POLL = 12
#: A platform's own word on when to come back is believed up to here; a clock that was set back counts for no more.
_LONGEST_S = 86400.0


@dataclass(frozen=True)
class Breaker:
    """One platform that refused. Open until `until`; then one stint may try, and its fate decides."""

    why: str  # full, quota, down, refused
    detail: str  # in the platform's own words
    count: int  # refusals in a row
    since: float
    until: float
    by_poll: bool = False  # it was found out by asking about jobs, so that an answer is enough to close it

    def closed_s(self, now: float) -> float:
        """How long the platform is left alone yet."""
        left_s = self.until - now
        return left_s if 0 < left_s <= _LONGEST_S else 0.0

    def words(self, now: float) -> str:
        """What is the matter, to follow the platform's name."""
        if self.why == "down":
            return f"has been down for {format_duration(max(0.0, now - self.since))}"
        return f"{_WORDS.get(self.why, self.why)}: {self.detail}"


class Breakers:
    """The breakers of one home. Reading is a `stat` when nothing has changed."""

    def __init__(self, home: Path, first_wait_s: float, clock: Callable[[], float] = time.time) -> None:
        self._file = PrivateFile(home / "breakers.json", ("platforms",), "remove it; it only holds waiting times")
        self._first_wait_s = first_wait_s
        self.clock = clock
        self._lock = threading.RLock()  # platforms are asked by threads of their own
        self._stamp: tuple[int, int] | None = None
        self._known: dict[str, Breaker] = {}

    def all(self) -> Mapping[str, Breaker]:
        """Every platform that refused and has not taken a stint since."""
        with self._lock:
            try:
                found = self._file.path.stat()
                stamp: tuple[int, int] | None = (found.st_ino, found.st_mtime_ns)
            except OSError:
                stamp = None
            if self._stamp != stamp:
                self._stamp, self._known = stamp, self._read()
            return self._known

    def _read(self) -> dict[str, Breaker]:
        try:
            return {name: _breaker(body) for name, body in self._file.read()["platforms"].items()}
        except (HomeError, KeyError, TypeError, ValueError):
            return {}  # waiting times are no truth: without them a platform is asked once more

    def get(self, name: str) -> Breaker | None:
        return self.all().get(name)

    def note(self, name: str, error: Unavailable, *, by_poll: bool = False) -> None:
        """A platform refused: leave it alone for a while, longer each time, or for as long as it says itself."""
        with self._lock:
            now, before = self.clock(), self.get(name)
            if by_poll and before is not None and before.closed_s(now):
                return
            count = before.count + 1 if before is not None else 1
            since = before.since if before is not None and before.why == error.why else now
            wait_s = self._wait_s(error, count, _LONGEST_POLL if by_poll else None)
            self._put(name, Breaker(error.why, error.message, count, since, now + wait_s, by_poll))

    def begin_trial(self, name: str) -> None:
        """A stint is on its way to a platform that refused: the others wait until its fate is known."""
        with self._lock:
            before = self.get(name)
            if before is not None:
                self._put(name, replace(before, until=self.clock() + self._first_wait_s))

    def close(self, name: str, *, by_poll: bool = False) -> None:
        """The platform took a stint (or, when it only could not be asked, has answered), or its user has acted."""
        with self._lock:
            before = self.get(name)
            if before is not None and (before.by_poll or not by_poll):
                self._put(name, None)

    def forgive(self, why: str) -> None:
        """Close every breaker of a kind: whatever stood against those platforms, their user has acted."""
        for name in [name for name, each in self.all().items() if each.why == why]:
            self.close(name)

    def _wait_s(self, error: Unavailable, count: int, most: float | None) -> float:
        first, longest = _WAITS[error.why]
        units = min(first * 2.0 ** min(count - 1, 30), longest if most is None else most)
        wait_s = self._first_wait_s * units * random.uniform(1 - _JITTER, 1 + _JITTER)
        return min(max(wait_s, error.retry_after_s or 0.0), _LONGEST_S)

    def _put(self, name: str, breaker: Breaker | None) -> None:
        with contextlib.suppress(HomeError), self._changing() as platforms:
            platforms.pop(name, None)
            if breaker is not None:
                platforms[name] = asdict(breaker)

    @contextlib.contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        try:
            self._file.read()
        except HomeError:
            self._file.path.unlink(missing_ok=True)
        with self._file.changing() as body:
            yield body["platforms"]


def _breaker(body: Mapping[str, Any]) -> Breaker:
    return Breaker(
        str(body["why"]), str(body["detail"]), int(body["count"]), float(body["since"]), float(body["until"]),
        bool(body["by_poll"]),
    )  # fmt: skip
