"""What the output says: losses, epochs, steps, read from the script's bytes as they pass.

The runner passes hundreds of thousands of lines a second, so most bytes must never be looked at twice. A few
substring searches over the whole chunk find the lines that may hold a metric; only those are decoded and read by
`logformats`. When even those are too many, a time budget turns reading into sampling that always has the newest line.
"""

from __future__ import annotations

import re
import time
from typing import Callable, Dict, List, NamedTuple, Optional, Pattern, Sequence, Tuple

from .logformats import Context, Reading, read_line
from .logformats.text import clean

LINE_CAP_BYTES = 64 * 1024
#: Updates by carriage return give at most one point in this time; the last state is never lost.
UPDATE_INTERVAL_S = 0.5
#: Unused budget that may be saved up, so that a burst (a whole log at once) is read completely.
BURST_S = 0.5

_ENDS = re.compile(rb"[\n\r\b]")
_PIECE = re.compile(rb"[^\n\r\b]+")
#: A line with one of these is always worth reading.
_WORDS = (b"loss", b"acc", b"epoch", b"step", b"eval ", "轮".encode("utf-8"))
#: Some other name before a number. The separator comes first because it is rare: a pattern that starts with a
#: letter is tried at almost every byte. A digit, a colon and a digit are a time of day, not a pair; \x9a ends the
#: full-width colon.
_PAIR = re.compile(
    rb"[:=\x9a](?!(?<=[0-9]:)[0-9])\s{0,8}['\"\[(]{0,2}[-+]?"
    rb"(?:[0-9.]|[nN][aA][nN]|[iI][nN][fF]|[tT]ensor|torch\.|np\.)"
)
#: Words that make such a line worth reading when they stand just before the separator; `logformats.names` decides
#: exactly. Chinese names are recognised by the first byte of a character, boosting rounds by their bracket.
_TOKEN = re.compile(rb"(?<![a-z])[flr][12]|[a-z]+|\]\t|[\xe4-\xe9]")
_NAMES = frozenset(
    b"lr rate rmse mse mae auc err error map ndcg ppl perplexity psnr ssim f1 bleu rouge rougel iou miou dice "
    b"precision recall score reward rewards fid top wer cer norm nll elbo iter iteration l1 l2 kl r2 mcc kappa ]\t "
    b"\xe4 \xe5 \xe6 \xe7 \xe8 \xe9".split(b" ")
)
_NAME_BYTES = 24
#: Below this header stand rows of bare numbers, with a bar or the word `all`.
_TABLE_HEADER = b"gpu_mem"
_TABLE_WORDS = (b"%", b" all ")


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
    name.
    Memory stays below a few hundred KiB. Not for use from several threads at once.
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
        self.skipped_lines = 0  # candidate lines that the budget did not allow to read (a lower bound)
        self._patterns = [_compile(pattern) for pattern in patterns]
        self._context = Context()
        self._rest = bytearray()
        self._update: Optional[Tuple[Reading, float]] = None  # the last state drawn by carriage return, not yet a point
        self._updated_at_s = float("-inf")
        self._last_update: Optional[Tuple[Optional[float], Optional[int], Dict[str, float]]] = None
        self._sampled: List[Tuple[bytes, bool, float]] = []  # newest lines of a flood: line, is update, at_s
        self._budget = _Budget(budget, clock, cpu_clock)

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
        done = 0
        spans = self._candidates(region)
        for index, (start, end) in enumerate(spans):
            if index % 16 == 15 and not self._budget.is_left():
                self._sample(region, at_s)
                self.skipped_lines += len(spans) - index
                return
            if self._update is not None and region.find(b"\n", done, start) >= 0:
                self._flush_update(points)
            done = end
            self._read_piece(
                region[start : min(end, start + LINE_CAP_BYTES)], region[end : end + 1] != b"\n", at_s, points
            )
        if self._update is not None and region.find(b"\n", done) >= 0:
            self._flush_update(points)

    def _candidates(self, region: bytes) -> List[Tuple[int, int]]:
        """Start and end of every line that may hold a metric, in order."""
        if self._patterns:
            return [match.span() for match in _PIECE.finditer(region)]
        only_newlines = b"\r" not in region and b"\b" not in region
        lower = region.lower()
        found: Dict[int, int] = {}
        for word in _WORDS:
            _find_lines(word, region, lower, 0, only_newlines, found)
        table = 0 if self._context.columns else lower.find(_TABLE_HEADER) if found else -1
        if table >= 0:
            for word in _TABLE_WORDS:
                _find_lines(word, region, lower, table, only_newlines, found)
        last = 0
        match = _PAIR.search(region)
        while match is not None:
            at = match.start()
            if _NAMES.isdisjoint(_TOKEN.findall(lower, max(last, at - _NAME_BYTES), at)):
                match = _PAIR.search(region, at + 1)
                continue
            start, last = _bounds(region, at, last, only_newlines)
            found[start] = last
            match = _PAIR.search(region, last)
        return sorted(found.items())

    def _sample(self, region: bytes, at_s: float) -> None:
        """Remember, in their order, the newest line of each kind that is always worth reading."""
        lower = region.lower()
        spans: Dict[int, int] = {}
        for word in _WORDS + ((b"\n",) if self._patterns else ()):
            at = lower.rfind(word, 0, len(region) - 1)
            if at >= 0:
                start, end = _bounds(region, at + (word == b"\n"), 0, False)
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
        reading = self._read_patterns(piece) if self._patterns else None
        if reading is None:
            reading = read_line(piece, self._context)
        if reading is None:
            return
        if not is_update:
            self._update = None  # a finished line replaces the state that was drawn in its place
            self._emit(reading, at_s, points)
            return
        self._update = (reading, at_s)
        if at_s - self._updated_at_s >= UPDATE_INTERVAL_S:
            self._flush_update(points)

    def _flush_update(self, points: List[Point]) -> None:
        if self._update is None:
            return
        reading, at_s = self._update
        self._update = None
        self._updated_at_s = at_s
        self._emit(reading, at_s, points)
        self._last_update = (self.epoch, reading.step, reading.values)

    def _emit(self, reading: Reading, at_s: float, points: List[Point]) -> None:
        if reading.epoch is not None:
            self.epoch = reading.epoch
        if reading.epochs is not None:
            self.epochs = reading.epochs
        if reading.step is not None:
            self.step, self.steps = reading.step, reading.steps
        same = self._last_update == (self.epoch, reading.step, reading.values)  # a bar is redrawn when it is closed
        self._last_update = None
        if reading.values and not same:
            points.append(Point(at_s, self.epoch, reading.step, reading.values))

    def _read_patterns(self, piece: bytes) -> Optional[Reading]:
        text = clean(piece)
        for pattern in self._patterns:
            match = pattern.search(text)
            if match is not None:
                return _reading_of(match.groupdict())
        return None


class _Budget:
    """A share of wall time that may be spent on the processor, with some of it saved up for bursts.

    Processor time, because on a machine that is busy with the training itself waiting for a turn is no spending.
    """

    def __init__(self, share: Optional[float], clock: Callable[[], float], cpu_clock: Callable[[], float]) -> None:
        self._share = share
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

    def is_left(self) -> bool:
        return self._share is None or self._saved_s > self._cpu_clock() - self._cpu_since


def _find_lines(word: bytes, region: bytes, lower: bytes, low: int, only_newlines: bool, found: Dict[int, int]) -> None:
    """Add every line with this word, from the line at `low` on."""
    last = 1 + max(region.rfind(end, 0, low) for end in (b"\n", b"\r", b"\b")) if low else 0
    at = lower.find(word, low)
    while at >= 0:
        start, last = _bounds(region, at, last, only_newlines)
        found[start] = last
        at = lower.find(word, last)


def _bounds(region: bytes, at: int, low: int, only_newlines: bool) -> Tuple[int, int]:
    """The line around a position; no line end lies between `low` and the line's start that would not be found."""
    start = region.rfind(b"\n", low, at)
    if only_newlines:
        return (start + 1 if start >= 0 else low), region.find(b"\n", at)
    start = max(start, region.rfind(b"\r", low, at), region.rfind(b"\b", low, at))
    end = _ENDS.search(region, at)
    return (start + 1 if start >= 0 else low), (len(region) if end is None else end.start())


def _compile(pattern: str) -> Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError("metric pattern %r is not a regular expression: %s" % (pattern, error)) from None
    if not compiled.groupindex:
        raise ValueError("metric pattern %r has no named group; write it like 'my loss (?P<loss>[0-9.]+)'" % pattern)
    return compiled


def _reading_of(groups: Dict[str, Optional[str]]) -> Reading:
    numbers: Dict[str, float] = {}
    for name, text in groups.items():
        try:
            numbers[name] = float((text or "").rstrip("%").replace(",", "")) / (
                100 if (text or "").endswith("%") else 1
            )
        except ValueError:
            continue
    reading = Reading(epoch=numbers.pop("epoch", None), epochs=numbers.pop("epochs", None))
    step, steps = numbers.pop("step", None), numbers.pop("steps", None)
    reading.step = None if step is None else int(step)
    reading.steps = None if steps is None else int(steps)
    if groups.get("name") and "value" in numbers:
        numbers[str(groups["name"])] = numbers.pop("value")
        numbers.pop("name", None)
    reading.values = numbers
    return reading
