"""Compare two data sets; make a small copy of one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from outlast.datasets.choosing import Keep
from outlast.datasets.comparing import Comparison, compare
from outlast.datasets.mini import Mini, make_mini
from outlast.datasets.reading import Dataset, open_dataset
from outlast.errors import UsageError
from outlast.inside.errors import InsideError
from outlast.inside.move.base import Job, Report
from outlast.inside.move.names import is_below, join
from outlast.operations.places import Places, place_errors
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.inside.move.plan import Place

Tell = Callable[[str], None]


@dataclass(frozen=True)
class MadeMini:
    """A small copy, and where it is."""

    place: str
    mini: Mini


def check(
    settings: Settings, first: str, second: str, *, full: bool = False, profile: str = "", tell: Tell | None = None
) -> Comparison:
    """Compare two places, packed or not; with `full` by reading every byte of both."""
    places = Places(settings, profile)
    opened = places.open(first), places.open(second)
    note = tell or _silent

    def count(seen: int) -> None:
        if seen % 1000 == 0:
            note(f"comparing: {seen} files so far")

    with place_errors():
        return compare(_dataset(opened[0]), _dataset(opened[1]), full, count)


def mini(
    settings: Settings,
    source: str,
    target: str,
    *,
    keep: str = "40",
    seed: int = 0,
    force: bool = False,
    profile: str = "",
    tell: Tell | None = None,
) -> MadeMini:
    """Make a small copy of a data set. The source is only read; the target appears when the copy is whole."""
    share = Keep.parse(keep)
    places = Places(settings, profile)
    origin, destination = places.open(source), places.open(target)
    with place_errors():
        _refuse_mini(origin, destination, force)
        dataset = _dataset(origin)
        near = _near(destination) if destination.is_local else None
        with tempfile.TemporaryDirectory(prefix=".outlast-part-" if near else "outlast-mini-", dir=near) as folder:
            made = make_mini(dataset, Path(folder) / "mini", share, seed, tell or _silent)
            _send(Path(folder) / "mini", destination)
    return MadeMini(str(destination.address._replace(into=True)), made)


def _dataset(place: Place) -> Dataset:
    return open_dataset(place.tree, place.address)


def _refuse_mini(origin: Place, destination: Place, force: bool) -> None:
    source, target = origin.real(origin.address.path), destination.real(destination.address.path)
    if origin.address.root == destination.address.root and (source == target or is_below(target, source)):
        raise UsageError(
            f"{destination.address} lies in {origin.address}, which is never written to",
            hint="choose a target outside of it",
        )
    found = destination.tree.stat(target) if target else None
    if found is not None and found.kind == "file":
        raise UsageError(f"{destination.address} is a file", hint="choose a folder that is not there yet")
    if not force and next(iter(destination.tree.children(target)), None) is not None:
        raise UsageError(f"{destination.address} is not empty", hint="choose another folder, or write into it: --force")


def _near(destination: Place) -> Path:
    """A folder on the same disk, so that moving the finished copy costs nothing."""
    folder = Path(destination.address.path).parent
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _send(folder: Path, destination: Place) -> None:
    path = destination.address.path
    if destination.is_local:
        target = Path(path)
        if not target.exists() or (target.is_dir() and not target.is_symlink() and not any(target.iterdir())):
            folder.replace(target)
            return
    failures = _Failures()
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    jobs = []
    for file in files:
        found = file.stat()
        relative = file.relative_to(folder).as_posix()
        if destination.is_local:
            (Path(path) / relative).parent.mkdir(parents=True, exist_ok=True)
        jobs.append(Job(str(file), join(path, relative), found.st_size, found.st_mtime_ns))
    destination.tree.send(jobs, failures)
    if failures.first is not None:
        raise failures.first


class _Failures(Report):
    def __init__(self) -> None:
        self.first: InsideError | None = None

    def failed(self, job: Job, error: InsideError) -> None:
        self.first = self.first or error


def _silent(words: str) -> None:
    """Nobody listens."""
