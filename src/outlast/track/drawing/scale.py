"""Axes: where a value lies between two ends, and the round numbers in between."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

#: Seconds of the units that a time axis may count in, and from how many seconds on each is used.
_TIME_UNITS = (("d", 86400.0, 3 * 86400.0), ("h", 3600.0, 3 * 3600.0), ("min", 60.0, 180.0), ("s", 1.0, 0.0))
_STEPS = (1.0, 2.0, 5.0, 10.0)
#: Beyond these a float cannot carry an axis: the distance of its ends would be infinite.
_FAR = 1e300


@dataclass(frozen=True)
class Scale:
    """One axis from `low` to `high`, with the ticks to label."""

    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False

    def share(self, value: float) -> float:
        """Where a value lies: 0 at the low end or below it, 1 at the high end or above it."""
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, at = math.log10(low), math.log10(high), math.log10(at)
        # Halved before subtracting: the distance of two finite numbers may be infinite.
        return (at / 2 - low / 2) / (high / 2 - low / 2)

    def labels(self) -> list[str]:
        """The ticks as text, all with the decimals that their distance asks for."""
        if self.log or len(self.ticks) < 2:
            return [short_number(tick) for tick in self.ticks]
        step = min(later - earlier for earlier, later in itertools.pairwise(self.ticks))
        return [tick_text(tick, step, max(map(abs, self.ticks))) for tick in self.ticks]


def value_scale(values: Iterable[float], count: int, *, log: bool = False) -> Scale:
    """The upright axis: round ticks, about `count` of them, and ends at or half-way between ticks."""
    low, high = _ends(values)
    if log and low > 0:
        return _log_scale(low, high, count)
    if high <= low:
        room = abs(low) * 0.1 or 1.0
        low, high = low - room, high + room
    step = _round_step((high - low) / max(count - 1, 1))
    first, last = math.floor(2 * low / step + 1e-9), math.ceil(2 * high / step - 1e-9)
    ticks = tuple(number * step for number in range(-(-first // 2), last // 2 + 1))
    return Scale(first * step / 2, last * step / 2, ticks)


def place_scale(values: Iterable[float], count: int) -> Scale:
    """The lying axis: it ends where the curves do; round ticks within, about `count` of them."""
    low, high = _ends(values)
    if high <= low:
        return Scale(low - 0.5, high + 0.5, (low,))
    step = _round_step((high - low) / max(count, 1))
    ticks = tuple(
        number * step for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    )  # fmt: skip
    return Scale(low, high, ticks)


def _ends(values: Iterable[float]) -> tuple[float, float]:
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return 0.0, 1.0
    return max(min(finite), -_FAR), min(max(finite), _FAR)


def _round_step(wanted: float) -> float:
    """The nearest of 1, 2, 5 × 10ⁿ."""
    power = 10.0 ** math.floor(math.log10(wanted))
    return power * min(_STEPS, key=lambda step: abs(math.log(step * power / wanted)))


def _log_scale(low: float, high: float, count: int) -> Scale:
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    if last - first >= 3:
        every = max(1, math.ceil((last - first) / max(count - 1, 1)))
        return Scale(10.0**first, 10.0**last, tuple(10.0**power for power in range(first, last + 1, every)), log=True)
    marks = [digit * 10.0**power for power in range(first, last + 1) for digit in (1, 2, 5)]
    below = max((mark for mark in marks if mark <= low * (1 + 1e-9)), default=marks[0])
    above = min((mark for mark in marks if mark >= high * (1 - 1e-9) and mark > below), default=10.0 * below)
    return Scale(below, above, tuple(mark for mark in marks if below <= mark <= above), log=True)


def time_unit(most_s: float) -> tuple[str, float]:
    """The unit that a span of so many seconds is read in, and its seconds: `("min", 60.0)`."""
    return next((name, seconds) for name, seconds, since_s in _TIME_UNITS if most_s >= since_s)


def tick_text(value: float, step: float, most: float) -> str:
    """A tick's number: `0.25`, `1200`, `20k`, `1.5M`, `2e-05`."""
    if value == 0:
        return "0" if most >= 1e4 or most < 1e-3 else _fixed(0.0, step)
    if most >= 1e12 or most < 1e-3:
        return f"{value:.3g}"
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if most >= size and (most >= 1e6 or (most >= 1e4 and step >= 500)):
            return f"{_fixed(value / size, step / size)}{sign}"
    return _fixed(value, step)


def _fixed(value: float, step: float) -> str:
    decimals = max(0, -math.floor(math.log10(step) + 1e-9)) if step > 0 else 0
    text = f"{value:.{min(decimals, 12)}f}"
    return text[1:] if text.strip("-0.") == "" and text.startswith("-") else text


def short_number(value: float) -> str:
    """A value beside a curve: four significant digits, no needless zeros."""
    return f"{value:.4g}"
