"""What a picture shows: panels of curves, each with its seams and the parts that were done again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Line(NamedTuple):
    """Points that are joined. A value that is not finite leaves a gap. `faint`: a rollback made it obsolete."""

    xs: Sequence[float]
    ys: Sequence[float]
    faint: bool = False

    def strokes(self) -> Iterator[list[tuple[float, float]]]:
        """The parts between the gaps."""
        part: list[tuple[float, float]] = []
        for x, y in zip(self.xs, self.ys, strict=True):
            if math.isfinite(x) and math.isfinite(y):
                part.append((x, y))
            elif part:
                yield part
                part = []
        if part:
            yield part


class Mark(NamedTuple):
    """Where a stint begins."""

    x: float
    y: float
    stint: int


@dataclass(frozen=True)
class Curve:
    """One metric of one run; `index` says which colour is its own."""

    index: int
    label: str
    lines: tuple[Line, ...]
    seams: tuple[Mark, ...] = ()
    last: float | None = None
    best: float | None = None
    left_out: int = 0  # values that no axis can show


@dataclass(frozen=True)
class Panel:
    """One metric of every run that has it."""

    metric: str
    curves: tuple[Curve, ...]

    @property
    def xs(self) -> list[float]:
        return [x for curve in self.curves for line in curve.lines for x in line.xs]

    @property
    def ys(self) -> list[float]:
        return [y for curve in self.curves for line in curve.lines for y in line.ys]


@dataclass(frozen=True)
class Figure:
    """Everything that is drawn. The panels share the meaning of x, not its range."""

    panels: tuple[Panel, ...]
    x_title: str
    log: bool = False
    runs: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def is_overlay(self) -> bool:
        """Several runs: labels name them, and seams are dots on their curves instead of lines."""
        return len(self.runs) > 1
