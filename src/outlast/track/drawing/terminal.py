"""A figure as text: curves of braille dots with their axes, in as many columns as the terminal has.

Where no colour can tell several runs apart, each is drawn with its own letter; where braille cannot be written, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from outlast.track.drawing.colours import TERMINAL
from outlast.track.drawing.figure import Curve, Figure, Line, Panel
from outlast.track.drawing.scale import Scale, place_scale, short_number, value_scale
from outlast.track.spark import display_width, fit

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_BRAILLE = 0x2800
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LEAST_COLUMNS, _LEAST_ROWS = 8, 3
_LABEL_COLUMNS = 32


class Span(NamedTuple):
    """A piece of a line and how it looks: bold, dim, a colour, or nothing."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Pen:
    """How to draw: `letters` instead of dots, and `ascii` instead of the axes' braille."""

    letters: bool = False
    ascii: bool = False

    @property
    def axis(self) -> tuple[str, str, str]:
        return ("|", "+", "-") if self.ascii else ("⡇", "⠧", "⠤")

    @property
    def seam(self) -> str:
        return ":" if self.ascii else "⡂"

    def sign(self, curve: Curve) -> str:
        """What stands for a curve in the legend."""
        if self.letters or self.ascii:
            return _LETTERS[curve.index % len(_LETTERS)]
        return "⠶⠶"


def draw_text(figure: Figure, width: int, rows: int, pen: Pen | None = None) -> list[list[Span]]:
    """Every panel below the other, `rows` lines of curve each; no line is longer than `width` columns."""
    lines: list[list[Span]] = []
    for panel in figure.panels:
        lines += [[], *_draw_panel(panel, figure, width, max(rows, _LEAST_ROWS), pen or Pen())]
    return lines[1:]


def style_of(curve: Curve) -> str:
    return TERMINAL[curve.index % len(TERMINAL)]


def _draw_panel(panel: Panel, figure: Figure, width: int, rows: int, pen: Pen) -> Iterator[list[Span]]:
    upright = value_scale(panel.ys, max(2, min(5, rows // 2)), log=figure.log)
    labels = upright.labels()
    margin = max(display_width(label) for label in labels)
    columns = max(width - margin - 2, _LEAST_COLUMNS)
    across = place_scale(panel.xs, max(2, columns // 12))
    canvas = _Canvas(columns, rows, across, upright, pen)
    for faint in (True, False):
        for curve in panel.curves:
            for line in curve.lines:
                if line.faint is faint:
                    canvas.draw(line, curve)
    yield from _heading(panel, figure, width, pen)
    if not figure.is_overlay and panel.curves[0].seams:
        marks = canvas.mark_seams(panel.curves[0])
        yield [Span(" " * (margin + 2)), Span(_at_columns(columns, marks), "dim")]
    beside = {canvas.row_of(tick): label for tick, label in zip(upright.ticks, labels, strict=True)}
    wall, corner, floor = pen.axis
    for row in range(rows):
        yield [Span(fit(beside.get(row, ""), margin, right=True) + " " + wall, "dim"), *canvas.spans(row)]
    yield [Span(" " * (margin + 1) + corner + floor * columns, "dim")]
    below = [(canvas.column_of(tick) // 2, text) for tick, text in zip(across.ticks, across.labels(), strict=True)]
    title = figure.x_title
    yield [Span(" " * (margin + 2) + _at_columns(columns, below, title), "dim")]


def _heading(panel: Panel, figure: Figure, width: int, pen: Pen) -> Iterator[list[Span]]:
    left_out = sum(curve.left_out for curve in panel.curves)
    rest = f"{left_out} values not shown" if left_out else ""
    if not figure.is_overlay:
        facts = [*_facts(panel.curves[0]), *([rest] if rest else [])]
        text = "  " + (", " if pen.ascii else " · ").join(facts) if facts else ""
        name = _short(panel.metric, max(width - display_width(text), 8))
        yield [Span(name, "bold"), Span(fit(text, max(width - display_width(name), 0)).rstrip(), "dim")]
        return
    yield [Span(_short(panel.metric, width), "bold"), Span(f"  {rest}" if rest else "", "dim")]
    line: list[Span] = []
    used = 0
    for curve in panel.curves:
        label = _short(curve.label, min(_LABEL_COLUMNS, max(width - 16, 6)))
        value = "" if curve.last is None else f" {short_number(curve.last)}"
        needed = display_width(pen.sign(curve)) + 1 + display_width(label + value) + 3
        if line and used + needed > width:
            yield line
            line, used = [], 0
        used += needed
        line += [Span(f"{pen.sign(curve)} ", style_of(curve)), Span(label), Span(f"{value}   ", "dim")]
    yield line


def _short(text: str, columns: int) -> str:
    # Cut first: fitting goes back character by character, and a name may have thousands.
    return fit(text[: 4 * columns], columns).rstrip()


def _facts(curve: Curve) -> list[str]:
    facts = [("last", curve.last), ("best", curve.best)]
    return [f"{word} {short_number(value)}" for word, value in facts if value is not None]


def _at_columns(columns: int, texts: Sequence[tuple[int, str]], end: str = "") -> str:
    """Texts centred at their columns, those left out that would touch another; `end` closes the line."""
    cells = [" "] * columns
    room = columns
    if end and display_width(end) + 2 <= columns:
        room = columns - display_width(end) - 2
        cells[room + 2 :] = [end]
    free = 0
    for column, text in texts:
        start = max(0, min(column - len(text) // 2, columns - len(text)))
        if start >= free and start + len(text) <= room:
            cells[start : start + len(text)] = text
            free = start + len(text) + 1
    return "".join(cells).rstrip()


@dataclass
class _Canvas:
    """The cells of one panel: their dots, whose they are, and whether they count."""

    columns: int
    rows: int
    across: Scale
    upright: Scale
    pen: Pen
    bits: dict[tuple[int, int], int] = field(default_factory=dict)
    owners: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict)  # cell → letter, style

    def column_of(self, x: float) -> int:
        return min(max(round(self.across.share(x) * (2 * self.columns - 1)), 0), 2 * self.columns - 1)

    def dot_row_of(self, y: float) -> int:
        return min(max(round((1 - self.upright.share(y)) * (4 * self.rows - 1)), 0), 4 * self.rows - 1)

    def row_of(self, y: float) -> int:
        return self.dot_row_of(y) // 4

    def draw(self, line: Line, curve: Curve) -> None:
        sign = _LETTERS[curve.index % len(_LETTERS)]
        owner = (".", "dim") if line.faint else (sign, style_of(curve))
        for stroke in line.strokes():
            before: tuple[int, int] | None = None
            for x, y in stroke:
                at = self.column_of(x), self.dot_row_of(y)
                for column, row in _join(before, at):
                    cell = row // 4, column // 2
                    if not line.faint and self.owners.get(cell, owner)[1] == "dim":
                        self.bits[cell] = 0  # what counts is not mixed with what does not
                    self.bits[cell] = self.bits.get(cell, 0) | _DOTS[column % 2][row % 4]
                    self.owners[cell] = owner
                before = at

    def mark_seams(self, curve: Curve) -> list[tuple[int, str]]:
        """Dotted columns where the stints begin, and the labels for them."""
        labels = []
        for mark in curve.seams:
            column = self.column_of(mark.x) // 2
            labels.append((column, f"stint {mark.stint}"))
            for row in range(self.rows):
                if (row, column) not in self.owners:
                    self.owners[row, column] = (self.pen.seam, "dim")
        return labels

    def spans(self, row: int) -> Iterator[Span]:
        """The cells of a row, neighbours of one style together."""
        text, style = "", ""
        for column in range(self.columns):
            letter, its_style = self.owners.get((row, column), (" ", ""))
            dots = self.bits.get((row, column))
            use_letter = dots is None or self.pen.letters or self.pen.ascii
            if its_style != style and text:
                yield Span(text, style)
                text = ""
            style = its_style
            text += letter if use_letter else chr(_BRAILLE + (dots or 0))
        yield Span(text.rstrip() if style == "" else text, style)


def _join(before: tuple[int, int] | None, at: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The dots from one point (itself left out) to the next."""
    if before is None:
        yield at
        return
    steps = max(abs(at[0] - before[0]), abs(at[1] - before[1]), 1)
    for step in range(1, steps + 1):
        share = step / steps
        yield (
            math.floor(before[0] + (at[0] - before[0]) * share + 0.5),
            math.floor(before[1] + (at[1] - before[1]) * share + 0.5),
        )
