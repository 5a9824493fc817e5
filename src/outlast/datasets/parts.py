"""What the small copy of a data set is made of: parts that can say how many samples they have and write fewer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from outlast.datasets.reading import Dataset, Thing
from outlast.inside.errors import RequestError

#: Files that belong to no sample are kept whole up to this size.
SMALL_BYTES = 1 << 20
#: An index file has to fit into memory several times over.
LARGEST_LIST_BYTES = 1 << 30


@dataclass
class Notes:
    """What a user should know about the small copy."""

    lines: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        self.lines.append(line)


class Part(Protocol):
    """Some samples of a data set."""

    counts: Mapping[str, int]  # stratum -> how many samples it has

    def write(self, target: Path, quota: Mapping[str, int], seed: int, notes: Notes) -> None:
        """Write so many samples of each stratum below a local folder, at their own paths."""


def read_bytes(dataset: Dataset, thing: Thing) -> bytes:
    return b"".join(dataset.pieces(thing))


def read_text(dataset: Dataset, thing: Thing) -> str | None:
    """The text of a file, None when it is none; bytes that are no UTF-8 survive being written back."""
    data = read_bytes(dataset, thing)
    return None if b"\0" in data[:4096] else data.decode("utf-8", "surrogateescape")


def write_text(target: Path, path: str, text: str) -> None:
    file = inside(target, path)
    with file.open("w", encoding="utf-8", errors="surrogateescape", newline="") as out:
        out.write(text)


def inside(target: Path, path: str) -> Path:
    """Where a relative path lies below a folder, its own folder made; one that leaves it is refused."""
    file = target / path
    if ".." in Path(path).parts or Path(path).is_absolute():
        raise RequestError(f"refused {path!r}: a path that does not stay in its folder")
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def keep_whole(dataset: Dataset, things: list[Thing], target: Path, notes: Notes) -> None:
    """Copy files that cannot be cut when they are small, and name those that are not."""
    dataset.fetch([thing for thing in things if thing.size_bytes <= SMALL_BYTES], target)
    for thing in things:
        if thing.size_bytes > SMALL_BYTES:
            notes.add(f"left out {thing.path}: it cannot be cut and is larger than 1 MB")


def copy_to(dataset: Dataset, thing: Thing, target: Path) -> Path:
    """Bring one file to a local folder, whatever it is."""
    file = inside(target, thing.name)
    with file.open("wb") as out:
        for piece in dataset.pieces(thing):
            out.write(piece)
    return file
