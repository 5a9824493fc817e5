"""Trying again: bounded, with pauses that grow and are spread out, longer when the server names a time."""

from __future__ import annotations

import random
import time
from typing import Callable, NamedTuple, Optional, TypeVar

from ..errors import InsideError

T = TypeVar("T")


class Policy(NamedTuple):
    """How often and how long."""

    tries: int = 6
    first_s: float = 0.2
    longest_s: float = 8.0
    total_s: float = 120.0
    timeout_s: float = 60.0  # of one silence within a try


#: For whoever has others to look after: one second try, then say so.
HURRIED = Policy(tries=2, total_s=10.0, timeout_s=10.0)
#: For what must arrive even if the store is away for minutes: a checkpoint, the end of a stint.
STEADFAST = Policy(tries=60, total_s=300.0)


class Again(Exception):
    """Raised by an attempt that may work later. Holds the error to raise when there is no later."""

    def __init__(self, error: InsideError, after_s: Optional[float] = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.after_s = after_s  # what the server asked for


class Patience:
    """Counts the tries of one request and says how long to pause before the next."""

    def __init__(self, policy: Policy, clock: Callable[[], float] = time.monotonic) -> None:
        self._policy = policy
        self._clock = clock
        self._began_at = clock()
        self._tries = 0

    def pause_s(self, again: Again) -> float:
        """The pause before the next try; raises the attempt's error when there shall be none."""
        policy = self._policy
        self._tries += 1
        # Half fixed, half random: many clients that failed together must not come back together.
        longest = min(policy.longest_s, policy.first_s * 2.0 ** (self._tries - 1))
        pause = longest * (0.5 + random.random() / 2)
        if again.after_s is not None:
            pause = max(pause, min(again.after_s, policy.longest_s * 4))
        if self._tries >= policy.tries or self._clock() - self._began_at + pause > policy.total_s:
            raise again.error
        return pause


def retrying(policy: Policy, call: Callable[[], T], sleep: Callable[[float], None] = time.sleep) -> T:
    """Call until it works; what it raises inside `Again` is raised when the policy's patience ends."""
    patience = Patience(policy)
    while True:
        try:
            return call()
        except Again as again:
            pause = patience.pause_s(again)
        sleep(pause)


def retry_after_s(text: str) -> Optional[float]:
    """Seconds from a Retry-After header; None when it holds none (dates are not worth their trouble)."""
    try:
        return max(0.0, float(text))
    except ValueError:
        return None
