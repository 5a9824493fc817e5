"""Where a stint's time goes, measured as it passes. `outlast.track.ledger` makes the table for people of it."""

from __future__ import annotations

import threading
import time
from typing import Callable, Dict, Optional

#: What the runner records, in the order they happen.
PHASES = (
    "fetching", "environment", "staging", "restoring", "starting", "running", "saving", "handing_over", "committing",
)  # fmt: skip


class PhaseClock:
    """Seconds of each phase. They always add up to the time since the first `enter`. Safe from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seconds: Dict[str, float] = {}
        self._phase: Optional[str] = None
        self._since = 0.0

    def enter(self, phase: str) -> None:
        """Begin a phase and close the one before. A phase entered again goes on adding up."""
        with self._lock:
            self._settle()
            self._phase = phase
            self._seconds.setdefault(phase, 0.0)

    def add(self, phase: str, seconds: float) -> None:
        """Move seconds that were measured within the current phase to another: a save while the script runs.

        Moves at most what the current phase has, so that no phase becomes negative.
        """
        with self._lock:
            self._settle()
            if self._phase is None or self._phase == phase:
                return
            moved = min(max(0.0, seconds), self._seconds[self._phase])
            self._seconds[self._phase] -= moved
            self._seconds[phase] = self._seconds.get(phase, 0.0) + moved

    def phases(self) -> Dict[str, float]:
        """Seconds so far, the current phase up to this moment included."""
        with self._lock:
            self._settle()
            return dict(self._seconds)

    def _settle(self) -> None:
        now = self._clock()
        if self._phase is not None:
            # A clock that steps back must not take time away from a phase.
            self._seconds[self._phase] += max(0.0, now - self._since)
        self._since = now
