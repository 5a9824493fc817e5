"""Rows of points and the columns they become; what `series.build_series` says point by point, at once for all.

Only imported where numpy is installed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outlast.inside.points import NO_STEP, RECORD_BYTES, Block, items
from outlast.inside.precedence import Precedence
from outlast.track.columns import SOURCES, Column
from outlast.track.history import Kept
from outlast.track.series import parse_line

RECORD = np.dtype([("at", "<f8"), ("epoch", "<f8"), ("step", "<i8"), ("value", "<f8"), ("mark", "<u8")])
#: One value as it was recorded; `name` is a number of the run's own list of names.
ROW = np.dtype(
    [("at_s", "<f8"), ("epoch", "<f8"), ("step", "<i8"), ("value", "<f8"), ("name", "<u4"), ("source", "u1")]
)
#: The arrays of a table in the order they are kept, each over all metrics.
FIELDS = (
    ("at_s", "<f8"), ("epoch", "<f8"), ("step", "<i8"), ("value", "<f8"), ("stint", "<i4"), ("source", "u1"),
    ("replayed", "?"),
)  # fmt: skip
_LAST_STEP = np.iinfo(np.int64).max

Rows = NDArray[np.void]


@dataclass(frozen=True)
class Table:
    """The points of one run, sorted by metric, stint and time, and where each metric lies."""

    arrays: Mapping[str, NDArray[np.generic]]
    places: Mapping[str, tuple[int, int]]  # name -> first row, number of rows

    def names(self) -> list[str]:
        return sorted(self.places)

    def column(self, name: str) -> Column:
        start, count = self.places[name]
        return Column(name, **{field: self.arrays[field][start : start + count] for field, _ in FIELDS})  # type: ignore[arg-type]


def parse_segment(data: bytes, names: dict[str, int]) -> Rows:
    """Every value of a segment; names that are new get the next numbers in `names`."""
    parts: list[Rows] = []
    lines: list[tuple[float, float, int, float, int, int]] = []
    for item in items(data):
        if isinstance(item, Block):
            parts += [np.array(lines, ROW), _rows_of(item, names)]
            lines = []
        elif (point := parse_line(0, item)) is not None:
            epoch = math.nan if point.epoch is None else point.epoch
            step = NO_STEP if point.step is None or abs(point.step) > _LAST_STEP else point.step
            source = _source(point.source)
            lines += [
                (point.at_s, epoch, step, value, names.setdefault(name, len(names)), source)
                for name, value in point.values.items()
            ]
    return np.concatenate([*parts, np.array(lines, ROW)])


def _rows_of(block: Block, names: dict[str, int]) -> Rows:
    planes = np.frombuffer(block.planes, np.uint8).reshape(RECORD_BYTES, block.points)
    records = np.ascontiguousarray(planes.T).view(RECORD)[:, 0]
    numbers = np.full(max(block.names, default=0) + 1, -1, np.int64)
    for mark, name in block.names.items():
        numbers[mark] = names.setdefault(name, len(names))
    marks = np.minimum(records["mark"], len(numbers) - 1).astype(np.int64)
    number = np.where(records["mark"] < len(numbers), numbers[marks], -1)
    rows = np.zeros(block.points, ROW)
    rows["at_s"] = records["at"] + block.base_s
    for field in ("epoch", "step", "value"):
        rows[field] = records[field]
    rows["name"] = np.maximum(number, 0)
    rows["source"] = _source(block.source)
    return rows[number >= 0]


def _source(word: str) -> int:
    return SOURCES.index(word) if word in SOURCES else 0


def build_table(rows_of: Mapping[int, Rows], names: list[str], kept: Mapping[int, Kept]) -> Table:
    """The table of all stints' rows; what a later stint did again is marked replayed, as `build_series` does it."""
    parts = [(stint, _preferred(rows_of[stint], names)) for stint in sorted(rows_of)]
    rows = np.concatenate([part for _, part in parts] or [np.zeros(0, ROW)])
    stints = np.repeat(np.array([stint for stint, _ in parts], "<i4"), [len(part) for _, part in parts])
    order = np.lexsort((rows["at_s"], stints, rows["name"]))
    rows, stints = rows[order], stints[order]
    arrays: dict[str, NDArray[np.generic]] = {
        field: np.ascontiguousarray(rows[field]) for field in ("at_s", "epoch", "step", "value", "source")
    }
    arrays |= {"stint": stints, "replayed": _replayed(rows, stints, kept)}
    for array in arrays.values():
        array.setflags(write=False)
    numbers, first, count = np.unique(rows["name"], return_index=True, return_counts=True)
    places = {
        names[number]: (int(start), int(length)) for number, start, length in zip(numbers, first, count, strict=True)
    }
    return Table(arrays, places)


def _preferred(rows: Rows, names: list[str]) -> Rows:
    """The rows without those that a better source gives as well; see `inside/precedence.py`."""
    if not len(rows) or (rows["source"] == rows["source"][0]).all():
        return rows
    pairs, which = np.unique(rows["name"].astype(np.int64) * len(SOURCES) + rows["source"], return_inverse=True)
    said = [(SOURCES[pair % len(SOURCES)], names[pair // len(SOURCES)]) for pair in pairs.tolist()]
    known = Precedence()
    for source, name in said:
        known.add(source, [name])
    preferred: Rows = rows[np.array([known.is_needed(source, name) for source, name in said])[which]]
    return preferred


def _replayed(rows: Rows, stints: NDArray[np.int32], kept: Mapping[int, Kept]) -> NDArray[np.bool_]:
    replayed = np.zeros(len(rows), bool)
    if not len(rows):
        return replayed
    epoch = np.where(np.isnan(rows["epoch"]), -np.inf, rows["epoch"])
    # The line at an epoch's end comes after its steps.
    step = np.where(rows["step"] == NO_STEP, _LAST_STEP, rows["step"])
    placed = ~np.isnan(rows["epoch"]) | (rows["step"] != NO_STEP)
    edges = np.flatnonzero((np.diff(rows["name"]) != 0) | (np.diff(stints) != 0)) + 1
    starts = [0, *edges.tolist()]
    parts = {(int(rows["name"][start]), int(stints[start])): start for start in starts}
    for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        part = kept.get(int(stints[start]), Kept(math.inf, math.inf))
        follower = parts.get((int(rows["name"][start]), part.successor or 0))
        here = slice(start, end)
        if (
            follower is None
            or not placed[follower]
            or not placed[here].all()
            or not _grows(epoch[here], step[here])
            or (epoch[follower], step[follower]) <= (epoch[start], step[start])
        ):
            replayed[here] = rows["at_s"][here] > part.until_s
        else:
            after = epoch[here] > epoch[follower]
            replayed[here] = after | ((epoch[here] == epoch[follower]) & (step[here] >= step[follower]))
    return replayed


def _grows(epoch: NDArray[np.float64], step: NDArray[np.int64]) -> bool:
    later = epoch[1:] > epoch[:-1]
    return bool((later | ((epoch[1:] == epoch[:-1]) & (step[1:] >= step[:-1]))).all())
