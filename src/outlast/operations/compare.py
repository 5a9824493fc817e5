"""Do two trainings agree: the values they printed, the order of their samples, the files they left."""

from __future__ import annotations

import filecmp
import fnmatch
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from outlast.operations.contents import Array, Contents, Entry, open_contents

#: The key under which `outlast.track(samples=…)` records which samples were used, as a digest.
SAMPLES = "samples"

#: Files that never repeat: logs and event files carry times and host names.
ALWAYS_IGNORED = ("*.log", "events.out.tfevents.*", "*/events.out.tfevents.*")

_TIMING = re.compile(
    r"(?:^|[^a-z])(?:times?|timestamp|date|seconds?|secs?|ms|elapsed|duration|eta|wall|speed|throughput|fps|ips)"
    r"(?:$|[^a-z])|/s(?:ec)?$|_s$|per_s"
)
_CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class Place:
    """Somewhere in a training."""

    epoch: float | None = None
    step: int | None = None

    @property
    def order(self) -> tuple[float, float]:
        return (
            -math.inf if self.epoch is None else self.epoch,
            -math.inf if self.step is None else float(self.step),
        )

    def __str__(self) -> str:
        parts = [f"epoch {self.epoch:g}"] if self.epoch is not None else []
        parts += [f"step {self.step}"] if self.step is not None else []
        return ", ".join(parts) or "the start"


@dataclass(frozen=True)
class Point:
    """Values that a training recorded at one place, as a metrics line holds them."""

    place: Place
    values: Mapping[str, float | str]


@dataclass(frozen=True)
class Training:
    """What is left of one training. `series` is in the order of recording, over all its stints."""

    series: Sequence[Point] = ()
    outputs: Mapping[str, Path] = field(default_factory=dict)  # path as the script wrote it -> a local copy
    checkpoint: Mapping[str, Path] = field(default_factory=dict)  # of the last checkpoint
    cuts: Sequence[Place] = ()  # where stints after the first one started
    duration_s: float = 0.0  # of the script
    checkpoints_at_s: Sequence[float] = ()  # when each checkpoint was taken, counted like `duration_s`


@dataclass(frozen=True)
class Difference:
    """One thing in which an interrupted training differs from a straight one."""

    kind: str  # samples, metric, missing, extra, checkpoint, output
    what: str
    straight: str
    interrupted: str
    place: Place | None = None
    cut: Place | None = None  # the last cut before it

    def __str__(self) -> str:
        where = f" at {self.place}" if self.place is not None else ""
        after = f" (after the cut at {self.cut})" if self.cut is not None else ""
        return f"{self.what}{where}: {self.straight} straight, {self.interrupted} interrupted{after}"


def compare_trainings(
    straight: Training, interrupted: Training, *, tolerance: float = 0.0, ignore: Sequence[str] = ()
) -> list[Difference]:
    """Everything that differs, what came first in the training first, files last.

    Numbers must be equal bit for bit unless `tolerance` (relative) is given; two NaN are equal. Values and columns
    that measure time are not compared. `ignore` holds names of values and patterns of paths to leave out.
    """
    found = _compare_series(straight, interrupted, tolerance, ignore)
    for kind, ours, theirs in (
        ("checkpoint", straight.checkpoint, interrupted.checkpoint),
        ("output", straight.outputs, interrupted.outputs),
    ):
        found += _compare_files(kind, ours, theirs, tolerance, (*ALWAYS_IGNORED, *ignore))
    return found


def is_timing(name: str) -> bool:
    """Whether a value measures time or speed, which no two trainings share."""
    return _TIMING.search(name.lower()) is not None


def _compare_series(
    straight: Training, interrupted: Training, tolerance: float, ignore: Sequence[str]
) -> list[Difference]:
    ours, theirs = _by_place(straight.series, ignore), _by_place(interrupted.series, ignore)
    found: list[Difference] = []
    for key in sorted(ours.keys() | theirs.keys(), key=lambda key: (key[0].order, key[1] != SAMPLES, key[1])):
        place, name = key
        a, b = ours.get(key), theirs.get(key)
        if a is not None and b is not None and _equal(a, b, tolerance):
            continue
        kind = "extra" if a is None else "missing" if b is None else "samples" if name == SAMPLES else "metric"
        what = "order of samples" if name == SAMPLES else name
        found.append(Difference(kind, what, _show(a), _show(b), place, _cut_before(interrupted.cuts, place)))
    return found


def _by_place(series: Iterable[Point], ignore: Sequence[str]) -> dict[tuple[Place, str], float | str]:
    """The value that counts at each place: what was repeated after a cut replaces what it repeats."""
    found: dict[tuple[Place, str], float | str] = {}
    for point in series:
        if point.place == Place():
            continue  # nothing to hold against each other
        for name, value in point.values.items():
            if not is_timing(name) and not _matches(name, ignore):
                found[point.place, name] = value
    return found


def _cut_before(cuts: Sequence[Place], place: Place) -> Place | None:
    before = [cut for cut in cuts if cut.order <= place.order]
    return max(before, key=lambda cut: cut.order) if before else None


def _equal(a: Entry, b: Entry, tolerance: float) -> bool:
    if isinstance(a, str) or isinstance(b, str) or a is None or b is None:
        # Records spell what JSON cannot hold: "nan", "inf".
        return a == b
    if isinstance(a, Array) or isinstance(b, Array):
        return a == b
    if a == b or (math.isnan(a) and math.isnan(b)):
        return True
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=0.0) if tolerance else False


def _show(value: Entry) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, Array):
        shape = " x ".join(str(size) for size in value.shape) or "one value"
        return f"{value.kind} {shape}"
    return str(value)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _compare_files(
    kind: str, ours: Mapping[str, Path], theirs: Mapping[str, Path], tolerance: float, ignore: Sequence[str]
) -> list[Difference]:
    found = []
    for name in sorted(ours.keys() | theirs.keys()):
        if _matches(name, ignore):
            continue
        if name not in ours or name not in theirs:
            there, absent = "there", "missing"
            a, b = (there, absent) if name in ours else (absent, there)
            found.append(Difference(kind, name, a, b))
            continue
        difference = first_difference(ours[name], theirs[name], tolerance=tolerance)
        if difference is not None:
            inner, a, b = difference
            found.append(Difference(kind, f"{name}: {inner}" if inner else name, a, b))
    return found


def first_difference(a: Path, b: Path, *, tolerance: float = 0.0) -> tuple[str, str, str] | None:
    """(name, value in `a`, value in `b`) of the first entry that differs, or None when the files say the same.

    Files may hold the same with other bytes: an archive carries times, JSON may be laid out differently.
    """
    if filecmp.cmp(a, b, shallow=False):
        return None
    left, right = open_contents(a), open_contents(b)
    try:
        if left is None or right is None:
            return _first_byte(a, b)
        return _first_entry(left, right, tolerance)
    finally:
        for contents in (left, right):
            if contents is not None:
                contents.close()


def _first_entry(left: Contents, right: Contents, tolerance: float) -> tuple[str, str, str] | None:
    others = set(right.names)
    for name in left.names:
        if name not in others:
            return name, "there", "missing"
        a, b = left.read(name), right.read(name)
        if isinstance(a, Array) and isinstance(b, Array):
            difference = _first_element(name, a, b, tolerance)
            if difference is not None:
                return difference
        # Only single values measure time; an array called time_embed is part of a model.
        elif not _equal(a, b, tolerance) and not is_timing(name):
            return name, _show(a), _show(b)
    known = set(left.names)
    extra = next((name for name in right.names if name not in known), None)
    return None if extra is None else (extra, "missing", "there")


def _first_element(name: str, a: Array, b: Array, tolerance: float) -> tuple[str, str, str] | None:
    if (a.kind, a.shape, a.big_endian) != (b.kind, b.shape, b.big_endian):
        return name, _show(a), _show(b)
    start = 0
    while start < max(len(a.data), len(b.data)):
        ours, theirs = a.data[start : start + _CHUNK_BYTES], b.data[start : start + _CHUNK_BYTES]
        if ours != theirs:
            difference = _in_chunk(name, a, b, start, tolerance)
            if difference is not None:
                return difference
        start += _CHUNK_BYTES
    return None


def _in_chunk(name: str, a: Array, b: Array, start: int, tolerance: float) -> tuple[str, str, str] | None:
    if not a.width or len(a.data) != len(b.data):
        return name, f"{len(a.data)} bytes", f"{len(b.data)} other bytes"
    # 64 KiB is a multiple of every element's width, so no element lies across two chunks.
    end = min(start + _CHUNK_BYTES, len(a.data))
    for index in range(start // a.width, end // a.width):
        x, y = a.value(index), b.value(index)
        if not _equal(x, y, tolerance):
            return f"{name}{_subscript(index, a.shape)}", _show(x), _show(y)
    return None


def _subscript(index: int, shape: tuple[int, ...]) -> str:
    """`[3, 17]`: where an element lies, for data in row order."""
    places = []
    for size in reversed(shape):
        index, rest = divmod(index, max(1, size))
        places.append(str(rest))
    return f"[{', '.join(reversed(places))}]" if places else ""


def _first_byte(a: Path, b: Path) -> tuple[str, str, str]:
    sizes = a.stat().st_size, b.stat().st_size
    if sizes[0] != sizes[1]:
        return "", f"{sizes[0]} bytes", f"{sizes[1]} bytes"
    offset = 0
    with a.open("rb") as left, b.open("rb") as right:
        while True:
            x, y = left.read(_CHUNK_BYTES), right.read(_CHUNK_BYTES)
            if x != y:
                first = next(index for index, (p, q) in enumerate(zip(x, y, strict=False)) if p != q)
                return f"byte {offset + first}", f"{x[first]:#04x}", f"{y[first]:#04x}"
            offset += len(x)
