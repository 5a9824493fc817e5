"""Between the metrics of a run and the small charts of the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any


def values_of(point: Any) -> Mapping[str, float]:
    return {}


def curve_of(points: Iterable[Any], name: str, width: int, rows: int) -> list[str]:
    return []


def best_of(read_points: Callable[[str], Any], run: str) -> dict[str, tuple[float, float | None]]:
    return {}
