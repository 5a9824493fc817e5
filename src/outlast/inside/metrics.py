"""What the output says: losses, epochs, steps, read from the script's bytes as they pass.

The runner passes hundreds of thousands of lines a second, so most bytes must never be looked at twice. A few
substring searches over the whole chunk find the lines that may hold a metric; of those the ones like earlier lines are
read by their shape, the rest by `logformats`. When even those are too many, a time budget turns reading into sampling
that always has the newest line.
"""

from __future__ import annotations

import time
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from .budget import BURST_S, Budget
from .logformats import Context, Reading, read_alone, read_line
from .logformats.finding import WORDS, Finder, bounds
from .logformats.shapes import Shape, Shapes, Told
from .patterns import Patterns

LINE_CAP_BYTES = 64 * 1024
#: Updates by carriage return give at most one point in this time; the last state is never lost.
UPDATE_INTERVAL_S = 0.5
#: A log has some dozens of metrics. Thousands of names are something else: ids, paths, rows of a table.
NAMES_CAP = 1000
#: Lines between two looks at the budget; a look is a system call.
_LOOK_EVERY = 16


_new = tuple.__new__  # half the time of calling the class


class Point(NamedTuple):
    """Metrics of one moment. `at_s` is the caller's clock; `epoch` is the printed one or the last one known."""

    at_s: float
    epoch: Optional[float]
    step: Optional[int]
    values: Dict[str, float]


class MetricReader:
    """Reads metrics from chunks of output, however the chunks are cut.

    `epoch`, `epochs`, `step` and `steps` hold what is known about progress so far. `budget` is the share of wall time
    that reading may spend on the processor (None: no limit). `patterns` are regular expressions with named groups:
    `epoch`, `epochs`, `step` and `steps` are progress, `name` with `value` a metric, any other group a metric of that
    name. `problems` collects sentences for the user; whoever shows them empties it.
    Memory stays below a megabyte. Not for use from several threads at once. `finish` ends it.
    """

    def __init__(
        self,
        *,
        budget: Optional[float] = 0.3,
        patterns: Sequence[str] = (),
        clock: Callable[[], float] = time.perf_counter,
        cpu_clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self.epoch: Optional[float] = None
        self.epochs: Optional[float] = None
        self.step: Optional[int] = None
        self.steps: Optional[int] = None
        self.skipped_lines = 0  # lines that the budget did not allow to read (a lower bound)
        self.problems: List[str] = []
        self._patterns = Patterns(patterns)
        self._context = Context()
        self._shapes = Shapes(read_alone)
        self._last: Optional[Shape] = None  # of the last line that had one
        self._names: Set[str] = set()
        self._rest = bytearray()
        self._update: Optional[Tuple[Told, float]] = None  # the last state drawn by carriage return, not yet a point
        self._updated_at_s = float("-inf")
        self._last_update: Optional[Tuple[Optional[float], Optional[int], Dict[str, float]]] = None
        self._sampled: List[Tuple[bytes, bool, float]] = []  # newest lines of a flood: line, is update, at_s
        self._budget = Budget(budget, clock, cpu_clock)

    def feed(self, chunk: bytes, at_s: float) -> List[Point]:
        """Points found in this chunk. Call it with `b""` now and then while the output is quiet."""
        points: List[Point] = []
        self._budget.start()
        if self._sampled and self._budget.is_left():
            self._read_sampled(points)
        cut = 1 + max(chunk.rfind(b"\n"), chunk.rfind(b"\r"), chunk.rfind(b"\b"))
        if cut == 0:
            self._keep(chunk)
        else:
            region = bytes(self._rest) + chunk[:cut] if self._rest else chunk[:cut]
            self._rest.clear()
            self._keep(chunk[cut:])
            self._read_region(region, at_s, points)
        if self._update is not None and at_s - self._updated_at_s >= UPDATE_INTERVAL_S:
            self._flush_update(points)
        self._budget.stop()
        return points

    def finish(self, at_s: float) -> List[Point]:
        """Points of what has not been read yet: a last line without an end, a state held back."""
        points: List[Point] = []
        self._read_sampled(points)
        if self._rest:
            last = bytes(self._rest)
            self._rest.clear()
            self._read_piece(last, False, at_s, points)
        self._flush_update(points)
        self._patterns.close()
        return points

    def _keep(self, tail: bytes) -> None:
        room = LINE_CAP_BYTES - len(self._rest)
        if room > 0:
            self._rest += tail[:room]

    def _read_region(self, region: bytes, at_s: float, points: List[Point]) -> None:
        """Read complete lines (all end in a terminator), or when over budget remember the newest of them."""
        if not self._budget.is_left():
            self._sample(region, at_s)
            return
        finder = Finder(region, self._context)
        low = 0
        for start, end, reading in self._claimed(region):
            if not self._read_lines(finder, low, start, at_s, points):
                return
            take = self._emit if region[end : end + 1] == b"\n" else self._redraw
            take(reading.told, at_s, points)
            low = end + 1
        self._read_lines(finder, low, len(region), at_s, points)

    def _read_lines(self, finder: Finder, low: int, high: int, at_s: float, points: List[Point]) -> bool:
        """Read every line between two positions that may hold a metric. False when the budget ended it."""
        text, at, count = finder.text, low, 0
        last = self._last if self._context.is_neutral else None
        while at < high:
            match = None
            if last is not None:  # a log goes on as it did: what followed such a line before, or another like it
                shape = last.then
                match = shape.match(text, at)
                if match is None and shape is not last:
                    shape, match = last, last.match(text, at)
            if match is not None:
                start, end = at, match.end() - 1
                told: Optional[Told] = shape.read(*match.groups())
                self._last = last = shape
            else:
                span = finder.line(at, high)
                if span is None:
                    break
                start, end = span
                told = self._read_new(finder, start, end)
                last = self._last if self._context.is_neutral else None
            count += 1
            if not count % _LOOK_EVERY and not self._budget.is_left():
                self.skipped_lines += finder.region.count(b"\n", start, high)
                self._sample(finder.region, at_s)
                return False
            if self._update is not None:
                self._see_newline(finder.region, max(low, at - 1), start, points)
            if told is not None:
                if text[end] == "\n":
                    self._emit(told, at_s, points)
                else:
                    self._redraw(told, at_s, points)
            at = end + 1
        self._see_newline(finder.region, max(low, at - 1), high, points)
        return True

    def _read_new(self, finder: Finder, start: int, end: int) -> Optional[Told]:
        """Read a line that is not what was expected here, by its own shape or in the general way."""
        line = finder.region[start : min(end, start + LINE_CAP_BYTES)]
        shape = self._shapes.find(line) if self._context.is_neutral else None
        match = None if shape is None else shape.match(finder.text, start)
        if shape is None or match is None:
            reading = read_line(line, self._context)
            return None if reading is None else reading.told
        if self._last is not None:
            self._last.then = shape
        self._last = shape
        return shape.read(*match.groups())

    def _claimed(self, region: bytes) -> Sequence[Tuple[int, int, Reading]]:
        """The lines that the user's own patterns match."""
        if not self._patterns:
            return ()
        found = self._patterns.search(region)
        self._budget.charge(self._patterns.spent_s)
        if self._patterns.problems:
            self.problems += self._patterns.problems
            self._patterns.problems = []
        return found

    def _sample(self, region: bytes, at_s: float) -> None:
        """Remember, in their order, the newest line of each kind that is always worth reading."""
        lower = region.lower()
        spans: Dict[int, int] = {}
        for word in WORDS + ((b"\n",) if self._patterns else ()):
            at = lower.rfind(word, 0, len(region) - 1)
            if at >= 0:
                start, end = bounds(region, at + (word == b"\n"), 0, False)
                spans[start] = end
        if spans:
            self._sampled = [
                (region[start : min(end, start + LINE_CAP_BYTES)], region[end : end + 1] != b"\n", at_s)
                for start, end in sorted(spans.items())
            ]

    def _read_sampled(self, points: List[Point]) -> None:
        for line, is_update, at_s in self._sampled:
            self._read_piece(line, is_update, at_s, points)
        self._sampled = []

    def _read_piece(self, piece: bytes, is_update: bool, at_s: float, points: List[Point]) -> None:
        claimed = self._claimed(piece + b"\n")
        reading = claimed[0][2] if claimed else read_line(piece, self._context)
        if reading is not None:
            (self._redraw if is_update else self._emit)(reading.told, at_s, points)

    def _redraw(self, told: Told, at_s: float, points: List[Point]) -> None:
        self._update = (told, at_s)
        if at_s - self._updated_at_s >= UPDATE_INTERVAL_S:
            self._flush_update(points)

    def _see_newline(self, region: bytes, low: int, high: int, points: List[Point]) -> None:
        """A line that ended leaves the last state drawn on it standing."""
        if self._update is not None and region.find(b"\n", low, high) >= 0:
            self._flush_update(points)

    def _flush_update(self, points: List[Point]) -> None:
        if self._update is None:
            return
        told, at_s = self._update
        self._update = None
        self._updated_at_s = at_s
        self._emit(told, at_s, points)
        self._last_update = (self.epoch, told[2], told[4])

    def _emit(self, told: Told, at_s: float, points: List[Point]) -> None:
        epoch, epochs, step, steps, values = told
        if self._update is not None:
            self._update = None  # a finished line replaces the state that was drawn in its place
        if epoch is not None:
            self.epoch = epoch
        if epochs is not None:
            self.epochs = epochs
        if step is not None:
            self.step, self.steps = step, steps
        if self._last_update is not None:  # a bar is redrawn when it is closed
            is_same, self._last_update = self._last_update == (self.epoch, step, values), None
            if is_same:
                return
        if not self._names.issuperset(values):
            values = self._known_names(values)
        if values:
            points.append(_new(Point, (at_s, self.epoch, step, values)))

    def _known_names(self, values: Dict[str, float]) -> Dict[str, float]:
        """Values without those whose names are too many to be metrics."""
        for name in values:
            if len(self._names) < NAMES_CAP:
                self._names.add(name)
        kept = {name: value for name, value in values.items() if name in self._names}
        if len(kept) < len(values) and len(self._names) == NAMES_CAP:
            self.problems.append("the output names more than %d metrics; others are not recorded" % NAMES_CAP)
            self._names.add("")  # said once
        return kept


__all__ = ["BURST_S", "LINE_CAP_BYTES", "MetricReader", "Point"]
