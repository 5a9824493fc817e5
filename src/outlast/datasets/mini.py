"""A small copy of a data set for debugging: every class, every split and every pair is still there, only fewer."""

from __future__ import annotations

import contextlib
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from outlast.datasets.archivepart import ArchivePart
from outlast.datasets.arraypart import WholePart, array_parts
from outlast.datasets.choosing import Keep, allot
from outlast.datasets.filespart import FilesPart
from outlast.datasets.parts import Notes, Part
from outlast.datasets.reading import Dataset, Thing
from outlast.datasets.recordpart import record_parts
from outlast.datasets.survey import take_apart

_PEEK_BYTES = 64 << 10


@dataclass(frozen=True)
class Share:
    """How much of one class, split or folder was kept."""

    name: str
    kept: int
    total: int


@dataclass(frozen=True)
class Mini:
    """What a small copy came to."""

    shares: tuple[Share, ...]
    notes: tuple[str, ...]
    files_before: int
    bytes_before: int
    files_after: int
    bytes_after: int

    @property
    def kept(self) -> int:
        return sum(share.kept for share in self.shares)

    @property
    def total(self) -> int:
        return sum(share.total for share in self.shares)


def make_mini(
    dataset: Dataset, target: Path, keep: Keep, seed: int = 0, tell: Callable[[str], None] = lambda _: None
) -> Mini:
    """Write a small copy of a place into a local folder. The same place, number and seed give the same copy.

    Only what is kept is fetched, and the index files; the place is never written to.
    """
    tell(f"looking through {dataset.url}")
    things = list(dataset.things())
    notes = Notes()
    target.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        parts = draft(dataset, things, stack)
        counts = {name: count for part in parts for name, count in part.counts.items()}
        quota = allot(counts, keep.of(sum(counts.values())))
        tell(f"copying {sum(quota.values())} samples")
        for part in parts:
            part.write(target, quota, seed, notes)
    links = sum(thing.kind == "link" for thing in things)
    if links:
        notes.add(f"left out {links} symbolic link{'s' * (links != 1)}")
    after = [file.stat().st_size for file in target.rglob("*") if file.is_file()]
    shares = tuple(Share(name, quota.get(name, 0), count) for name, count in counts.items())
    before = [thing.size_bytes for thing in things if thing.kind == "file"]
    return Mini(shares, tuple(notes.lines), len(before), sum(before), len(after), sum(after))


def draft(dataset: Dataset, things: Iterable[Thing], stack: contextlib.ExitStack) -> list[Part]:
    """The parts of a place; archives in it are taken apart in the same way, and stay open as long as the stack."""

    def peek(thing: Thing) -> str:
        data = b"".join(dataset.pieces(thing, 0, _PEEK_BYTES))
        if len(data) == _PEEK_BYTES:
            data = data[: data.rfind(b"\n") + 1]
        return data.decode("utf-8", "surrogateescape")

    survey = take_apart(things, peek)
    parts: list[Part] = [
        FilesPart(dataset, survey),
        *array_parts(dataset, survey.arrays),
        *record_parts(dataset, survey.records),
    ]
    for thing in survey.archives:
        try:
            parts.append(ArchivePart(dataset, thing, lambda inner: draft(inner, inner.things(), stack), stack))
        except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError):
            parts.append(WholePart(dataset, [thing]))
    return parts
