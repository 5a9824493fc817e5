"""How much of the machine looking at a training may take."""

from __future__ import annotations

import time
from typing import Callable, Optional

#: Unused budget that may be saved up, so that a burst (a whole log at once) is read completely.
BURST_S = 0.5


class Budget:
    """A share of wall time that may be spent on the processor, with some of it saved up for bursts.

    Processor time, because on a machine that is busy with the training itself waiting for a turn is no spending.
    """

    def __init__(
        self,
        share: Optional[float],
        clock: Callable[[], float] = time.perf_counter,
        cpu_clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self._share = share  # None: no limit
        self._clock = clock
        self._cpu_clock = cpu_clock
        self._saved_s = BURST_S
        self._since: Optional[float] = None
        self._cpu_since = 0.0

    def start(self) -> None:
        now = self._clock()
        if self._share is not None and self._since is not None:
            self._saved_s = min(BURST_S, self._saved_s + (now - self._since) * self._share)
        self._since = now
        self._cpu_since = self._cpu_clock()

    def stop(self) -> None:
        self._saved_s -= self._cpu_clock() - self._cpu_since

    def charge(self, seconds: float) -> None:
        """Processor time that was spent on our behalf elsewhere."""
        self._saved_s -= seconds

    def is_left(self) -> bool:
        return self._share is None or self._saved_s > self._cpu_clock() - self._cpu_since
