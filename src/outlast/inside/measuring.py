"""The numbers of a training, from whoever names them: its output, its event files, and its own `outlast.track`."""

from __future__ import annotations

import threading
from typing import Any, Iterable, List, Sequence, Set, Tuple

from .events import EventFiles
from .metrics import MetricReader, Point
from .patterns import check_pattern
from .precedence import EVENTS, LOG, TRACK, Precedence
from .stint import Stint

#: Output that pauses for so long has said what it had to say for now.
QUIET_S = 0.5


class Measuring:
    """Reads, and passes on to the store and to what is known about progress. Safe to call from several threads."""

    def __init__(self, stint: Stint) -> None:
        self._stint = stint
        self._reader = MetricReader(patterns=_usable(stint))
        self._events = EventFiles(stint.code_dir, [str(each["path"]) for each in stint.spec.get("inputs") or ()])
        self._events.baseline()
        self._precedence = Precedence()
        self._printed_names: Set[str] = set()
        self._reading = threading.Lock()
        self._reached: Tuple[Any, ...] = ()
        self._last_read_s = 0.0

    def tracked(self, names: Iterable[str]) -> None:
        """The script itself tracks these: what it prints of them is a rounded copy."""
        self._precedence.add(TRACK, names)

    def read(self, chunk: bytes) -> None:
        """Learn from the output."""
        now_s = self._last_read_s = self._stint.elapsed_s()
        with self._reading:
            self._printed(self._reader.feed(chunk, now_s), now_s)

    def look(self) -> None:
        """What may be said while the output is quiet: the last state of a progress bar, and the event files."""
        now_s = self._stint.elapsed_s()
        if now_s - self._last_read_s > QUIET_S:
            self.read(b"")
        self._pass_on(self._events.poll(now_s), EVENTS)
        self._say(self._events.problems)

    def finish(self) -> None:
        """Everything that has not been read yet."""
        now_s = self._stint.elapsed_s()
        with self._reading:
            self._printed(self._reader.finish(now_s), now_s)
        self._pass_on(self._events.poll(now_s, is_last=True), EVENTS)
        self._say(self._events.problems)

    def _printed(self, points: Sequence[Point], now_s: float) -> None:
        reached = (self._reader.epoch, self._reader.epochs, self._reader.step, self._reader.steps)
        if any(each is not None for each in reached) and reached != self._reached:
            self._reached = reached
            self._stint.progress.from_log(now_s, *reached)
        self._pass_on(points, LOG)
        self._say(self._reader.problems)

    def _pass_on(self, points: Sequence[Point], source: str) -> None:
        for point in points:
            if source == LOG:
                self._printed_names.update(point.values)
            elif self._precedence.add(source, point.values):
                self._stint.progress.forget(
                    name for name in self._printed_names if not self._precedence.is_needed(LOG, name)
                )
            self._stint.shipper.metric(point, source)
            needed = {name: value for name, value in point.values.items() if self._precedence.is_needed(source, name)}
            self._stint.progress.measured(needed)

    def _say(self, problems: List[str]) -> None:
        while problems:
            self._stint.say(problems.pop(0))


def _usable(stint: Stint) -> List[str]:
    """The user's patterns that this interpreter understands; it may be older than the one that checked them."""
    found = []
    for pattern in stint.spec.get("metric_patterns") or ():
        try:
            check_pattern(pattern)
            found.append(pattern)
        except ValueError as error:
            stint.say("%s; it is not used" % error)
    return found
