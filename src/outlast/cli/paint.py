"""Colour and tables for plain text: small enough that `ps` feels instant, and calm in a pipe.

Colour appears only on a terminal that wants it: not with NO_COLOR, not with TERM=dumb, not in a pipe.
"""

from __future__ import annotations

import datetime
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TextIO

from outlast.cli.words import display_width, pad
from outlast.model.quantities import format_duration

_CODES = {
    "bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "magenta": "35", "cyan": "36",
}  # fmt: skip
_STATE_COLOURS = {
    "queued": "dim", "running": "cyan", "succeeded": "green", "failed": "red", "stopped": "yellow",
    "finished": "green", "hand-over": "cyan", "time-limit": "yellow", "preempted": "yellow", "lost": "yellow",
    "script-error": "red", "setup-error": "red", "refused": "yellow",
}  # fmt: skip
#: Wider lines are hard to follow with the eye.
_WIDEST = 160
_UNCUT = 1_000_000


class Ink:
    """Paints text for one stream, or leaves it as it is."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream if stream is not None else sys.stdout
        wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.on = wanted and self.stream.isatty()
        #: whether the cursor can be moved; NO_COLOR forbids colour, not movement
        self.can_move = self.stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")

    def __call__(self, colour: str, text: str) -> str:
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if self.on and text.strip() else text

    def state(self, word: str, shown: str = "") -> str:
        """A state or an end reason in its colour, padding kept; `shown` replaces the word itself."""
        colour = _STATE_COLOURS.get(word.strip())
        return self(colour, shown or word) if colour else shown or word


def terminal_width() -> int:
    """Columns to write in; `COLUMNS` wins, a pipe counts as 100."""
    return max(min(shutil.get_terminal_size((100, 24)).columns, _WIDEST), 20)


def table_width(ink: Ink) -> int:
    """Columns that a table may fill. In a pipe nothing is cut: who searches it looks for whole words."""
    in_a_pipe = not ink.stream.isatty() and not os.environ.get("COLUMNS")
    return _UNCUT if in_a_pipe else terminal_width()


@dataclass(frozen=True)
class Column:
    """How one column looks. A flexible column is cut short when the line would not fit."""

    title: str
    right: bool = False
    flexible: bool = False
    paint: Callable[[str], str] | None = None


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], ink: Ink, indent: int = 0) -> list[str]:
    """Lines of a table without rules; empty columns are left out, flexible ones give way, the last of them first."""
    used = [at for at in range(len(columns)) if any(cells[at] for cells in rows)]
    columns, rows = [columns[at] for at in used], [[cells[at] for at in used] for cells in rows]
    titles = [column.title for column in columns]
    widths = [max(display_width(cells[at]) for cells in [titles, *rows]) for at in range(len(columns))]
    _shrink(widths, columns, table_width(ink) - indent)
    lines = [ink("dim", _line(columns, titles, widths, indent, painted=False))] if any(titles) else []
    return lines + [_line(columns, cells, widths, indent, painted=True) for cells in rows]


def _shrink(widths: list[int], columns: Sequence[Column], room: int) -> None:
    too_much = sum(widths) + 2 * (len(widths) - 1) - room
    for at, column in reversed(list(enumerate(columns))):
        if column.flexible and too_much > 0:
            cut = min(too_much, max(widths[at] - 8, 0))
            widths[at] -= cut
            too_much -= cut


def _line(columns: Sequence[Column], cells: Sequence[str], widths: list[int], indent: int, *, painted: bool) -> str:
    parts = []
    for column, cell, width in zip(columns, cells, widths, strict=True):
        text = clip(cell, width)
        text = " " * (width - display_width(text)) + text if column.right else pad(text, width)
        parts.append(column.paint(text) if painted and column.paint else text)
    return (" " * indent + "  ".join(parts)).rstrip()


def clip(text: str, columns: int) -> str:
    """`text` cut to `columns` with an ellipsis; control characters become spaces."""
    flat = "".join(char if char.isprintable() else " " for char in text)
    if display_width(flat) <= columns:
        return flat
    while flat and display_width(flat) > columns - 1:
        flat = flat[:-1]
    return flat + "…"


def wrap(text: str, indent: int) -> list[str]:
    """`text` in lines that fit beside `indent` columns; the lines of the text itself are kept."""
    import textwrap

    room = max(terminal_width() - indent, 20)
    return [piece for line in text.splitlines() for piece in (textwrap.wrap(line, room) or [""])]


def ago(moment: str) -> str:
    """`3 min ago` for an ISO time; the text itself when it is not one."""
    try:
        then = datetime.datetime.fromisoformat(moment)
        seconds = (datetime.datetime.now(datetime.UTC) - then).total_seconds()
    except (ValueError, TypeError):
        return moment
    if seconds < 5:
        return "now"
    # One unit is enough for "how long ago".
    return " ".join(format_duration(seconds).split()[:2]) + " ago"


def number(value: object) -> str:
    """A metric as people read it: four significant digits, no needless zeros; what JSON cannot hold comes as text."""
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)
