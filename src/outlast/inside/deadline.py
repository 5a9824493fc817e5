"""When to ask the script to leave: as late as is safe, and never later. Pure: the caller brings the time.

All times are seconds since the runner started, by its monotonic clock. Three facts are learned while the script
runs: how long an epoch takes, how long a save takes, and how long a commit takes.
"""

from __future__ import annotations

import collections
from typing import Deque, NamedTuple, Optional

#: Room for the end record and the last log segment.
CLOSING_S = 0.3
#: What a commit is expected to take before the first one was seen.
FIRST_COMMIT_S = 0.5

GO = "go"
FLAG = "flag"  # raise the flag: the script leaves at its next safe point
TERM = "term"  # SIGTERM to the script alone
KILL = "kill"  # end the whole process group


class Advice(NamedTuple):
    """What to do now, and why, in words for the log."""

    action: str
    why: str = ""


class Learned:
    """The largest of the last few durations: optimism here costs a whole epoch of lost work."""

    def __init__(self, keep: int = 5) -> None:
        self._last: Deque[float] = collections.deque(maxlen=keep)

    def add(self, seconds: float) -> None:
        self._last.append(max(0.0, seconds))

    def expect(self, default: float = 0.0) -> float:
        return max(self._last) if self._last else default

    def known(self) -> bool:
        return bool(self._last)


class Deadline:
    """Plans the end of one stint.

    A script that *answers* (it uses `outlast.epochs`, `save` or `should_stop`) is asked by the flag and leaves at a
    boundary. One that does not is asked by SIGTERM: right after a checkpoint when the next one cannot be reached
    any more, otherwise `grace_s` before the end, in case it saves on SIGTERM.
    """

    def __init__(self, limit_s: Optional[float], grace_s: float) -> None:
        self.limit_s = limit_s
        self.grace_s = grace_s
        self.answers = False
        self._epoch = Learned()
        self._save = Learned()
        self._commit = Learned()
        self._interval = Learned(keep=3)
        self._boundary_s: Optional[float] = None
        self._saved_s: Optional[float] = None
        self._start_s = 0.0

    def script_started(self, now_s: float) -> None:
        self._start_s = now_s

    def loop_started(self, now_s: float) -> None:
        """The script is about to begin its first epoch."""
        if self._boundary_s is None:
            self._start_s = now_s

    def boundary(self, now_s: float) -> None:
        """The script is between two epochs."""
        self._epoch.add(now_s - (self._start_s if self._boundary_s is None else self._boundary_s))
        self._boundary_s = now_s

    def checkpoint(self, now_s: float) -> None:
        """A whole checkpoint was found and its snapshot taken."""
        self._interval.add(now_s - (self._start_s if self._saved_s is None else self._saved_s))
        self._saved_s = now_s

    def save_took(self, seconds: float) -> None:
        self._save.add(seconds)

    def commit_took(self, seconds: float) -> None:
        self._commit.add(seconds)

    def time_left_s(self, now_s: float) -> Optional[float]:
        return None if self.limit_s is None else max(0.0, self.limit_s - now_s)

    @property
    def expected_interval_s(self) -> Optional[float]:
        return self._interval.expect() if self._interval.known() else None

    def kill_at_s(self) -> float:
        """When nothing of the script may be left, so that the last checkpoint still gets out."""
        assert self.limit_s is not None
        commit = self._commit.expect(min(FIRST_COMMIT_S, self.limit_s / 20)) * 1.5
        # However slow commits are, half of the time belongs to the training.
        return max(self.limit_s / 2, self.limit_s - CLOSING_S - commit)

    def decide(self, now_s: float) -> Advice:
        """What to do at this moment. Once it says `flag` or more, it never says less again as time goes on."""
        if self.limit_s is None:
            return Advice(GO)
        kill_s = self.kill_at_s()
        if now_s >= kill_s:
            return Advice(KILL, "the limit of %g s is reached" % self.limit_s)
        save_s = self._save.expect(0.1)
        margin_s = 0.3 + 0.1 * self._epoch.expect()
        if self.answers:
            return self._ask_by_flag(now_s, kill_s, save_s, margin_s)
        return self._ask_by_signal(now_s, kill_s, save_s)

    def _ask_by_flag(self, now_s: float, kill_s: float, save_s: float, margin_s: float) -> Advice:
        if now_s >= kill_s - min(self.grace_s, margin_s):
            return Advice(TERM, "the script has not left yet")
        latest_s = kill_s - save_s - margin_s
        if now_s >= latest_s - save_s / 2:
            return Advice(FLAG, "the limit is near")
        if self._boundary_s is not None:
            epoch_s = self._epoch.expect()
            # Meant for the boundary ahead: raised right after one, while the script still saves there, the flag
            # would make it leave an epoch too early.
            halfway = now_s >= self._boundary_s + epoch_s / 2
            if halfway and self._boundary_s + 2 * epoch_s > latest_s:
                return Advice(FLAG, "one more epoch of %.1f s would not end in time" % epoch_s)
        return Advice(GO)

    def _ask_by_signal(self, now_s: float, kill_s: float, save_s: float) -> Advice:
        term_s = kill_s - min(self.grace_s, kill_s / 2)
        if now_s >= term_s:
            return Advice(TERM, "the limit is near")
        if self._saved_s is not None and self._interval.known():
            interval_s = self._interval.expect()
            if self._saved_s + interval_s + save_s > kill_s:
                return Advice(TERM, "the next checkpoint, %.1f s after the last, would come too late" % interval_s)
        return Advice(GO)
