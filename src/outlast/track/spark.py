"""Small charts in text: a line of blocks, and a curve of braille dots with its axes."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"
#: Bits of the braille dots of a cell, by column and row. Braille is never drawn wide, unlike lines and boxes, which
#: terminals set to Chinese or Japanese draw two columns wide.
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_BLANK = 0x2800
_AXIS = "⡇"
_CORNER = "⠧"
_FLOOR = "⠤"
_SEAM = "⡇"

Point = tuple[float, float]


def display_width(text: str) -> int:
    """Columns that a text takes on a terminal: two for a Chinese character, none for a combining mark."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def fit(text: str, width: int, *, right: bool = False) -> str:
    """The text in exactly that many columns, cut with … or filled with spaces."""
    if display_width(text) > width:
        while text and display_width(text) > width - 1:
            text = text[:-1]
        text = text + "…" if width > 0 else ""
    space = " " * (width - display_width(text))
    return space + text if right else text + space


def format_value(value: float) -> str:
    """A number in at most eight columns: `0.312`, `1.2e-05`, `65536`."""
    if math.isfinite(value) and value == int(value) and abs(value) < 1e6:
        return str(int(value))
    if value != 0 and (abs(value) < 1e-3 or abs(value) >= 1e6):
        return f"{value:.1e}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def sparkline(values: Sequence[float], width: int) -> str:
    """The values as blocks, at most `width` of them; each block is the mean of its share. A gap is a space."""
    if width <= 0 or not values:
        return ""
    count = min(width, len(values))
    means = [_mean(values[index * len(values) // count : (index + 1) * len(values) // count]) for index in range(count)]
    finite = [mean for mean in means if mean is not None]
    if not finite:
        return " " * count
    low, high = min(finite), max(finite)
    return "".join(" " if mean is None else _BLOCKS[_level(mean, low, high, len(_BLOCKS))] for mean in means)


def curve(
    points: Sequence[Point], width: int, height: int, *, seams: Iterable[float] = (), title: str = ""
) -> list[str]:
    """A curve of (x, y) as `height` lines of exactly `width` columns.

    The highest and lowest value stand at the left, the first and last x below; each seam (an x) is a mark on the
    axis. Values that are not finite leave a gap. Empty when there is nothing to draw or no room for it.
    """
    drawn = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
    if not drawn or height < 2:
        return []
    low, high = min(y for _, y in drawn), max(y for _, y in drawn)
    first, last = min(x for x, _ in drawn), max(x for x, _ in drawn)
    labels = [format_value(high), format_value(low)]
    margin = max(display_width(label) for label in labels)
    columns, rows = width - margin - 2, height - 1 - bool(title)
    if columns < 4 or rows < 1:
        return []
    canvas = _draw(points, columns, rows, (first, last), (low, high))
    lines = [fit(title, width)] if title else []
    for row in range(rows):
        label = labels[0] if row == 0 else labels[1] if row == rows - 1 else ""
        lines.append(fit(label, margin, right=True) + " " + _AXIS + canvas[row])
    marks = {_column(x, first, last, 2 * columns) // 2 for x in seams if first <= x <= last}
    return [*lines, _floor(margin, columns, marks, format_value(first), format_value(last))]


def _floor(margin: int, columns: int, marks: set[int], first: str, last: str) -> str:
    """The axis below: the first x at the left, the last one at the right, seams between them."""
    cells = [_SEAM if column in marks else _FLOOR for column in range(columns)]
    if len(first) + len(last) + 2 <= columns:
        cells[columns - len(last) :] = last
        cells[: len(first)] = first
    return " " * (margin + 1) + _CORNER + "".join(cells)


def _draw(
    points: Sequence[Point], columns: int, rows: int, xs: tuple[float, float], ys: tuple[float, float]
) -> list[str]:
    """Dots joined by vertical strokes, so that a steep curve stays one line."""
    cells = [[0] * columns for _ in range(rows)]
    before: tuple[int, int] | None = None
    for x, y in points:
        if not (math.isfinite(x) and math.isfinite(y)):
            before = None
            continue
        at = _column(x, *xs, 2 * columns), 4 * rows - 1 - _level(y, *ys, 4 * rows)
        for column, row in _stroke(before, at):
            cells[row // 4][column // 2] |= _DOTS[column % 2][row % 4]
        before = at
    return ["".join(chr(_BLANK + cell) for cell in line) for line in cells]


def _stroke(before: tuple[int, int] | None, at: tuple[int, int]) -> Iterable[tuple[int, int]]:
    if before is None:
        return [at]
    steps = max(abs(at[0] - before[0]), abs(at[1] - before[1]), 1)
    return [
        (round(before[0] + (at[0] - before[0]) * step / steps), round(before[1] + (at[1] - before[1]) * step / steps))
        for step in range(1, steps + 1)
    ]


def _column(x: float, first: float, last: float, count: int) -> int:
    return _level(x, first, last, count)


def _level(value: float, low: float, high: float, count: int) -> int:
    """Which of `count` equal steps between low and high a value lies in; the middle when there is no between."""
    if high <= low:
        return (count - 1) // 2
    # Halved before subtracting: the distance of two finite numbers may be infinite.
    share = (value / 2 - low / 2) / (high / 2 - low / 2)
    return min(count - 1, max(0, int(share * count)))


def _mean(values: Sequence[float]) -> float | None:
    finite = [value for value in values if math.isfinite(value)]
    return sum(value / len(finite) for value in finite) if finite else None
