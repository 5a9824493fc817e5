"""Comparing two places: what is missing, what is extra, what differs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from outlast.datasets.reading import FILE, FOLDER, Dataset, Thing, TreeDataset


@dataclass
class Comparison:
    """How the second place differs from the first. Paths are relative to both."""

    missing: list[str] = field(default_factory=list)  # only in the first
    extra: list[str] = field(default_factory=list)  # only in the second
    different: list[tuple[str, str]] = field(default_factory=list)  # path, why
    same: int = 0
    by_content: int = 0  # of the same ones, how many are known to have the same bytes

    @property
    def equal(self) -> bool:
        return not (self.missing or self.extra or self.different)


def compare(first: Dataset, second: Dataset, full: bool, tell: Callable[[int], None] = lambda _: None) -> Comparison:
    """Compare two places by path, kind, size, and checksum where both know it; with `full` by reading everything.

    Where one of them cannot hold links, those of the other count as what they lead to, as `cp` copies them.
    """
    found = Comparison()
    for seen, (ours, theirs) in enumerate(_pairs(_seen_from(second, first), _seen_from(first, second))):
        tell(seen)
        if theirs is None:
            found.missing.append(ours.path if ours else "")
        elif ours is None:
            found.extra.append(theirs.path)
        else:
            why, by_content = _difference(first, ours, second, theirs, full)
            if why:
                found.different.append((ours.path, why))
            else:
                found.same += 1
                found.by_content += by_content
    return found


def _seen_from(other: Dataset, dataset: Dataset) -> Iterator[Thing]:
    if isinstance(other, TreeDataset) and isinstance(dataset, TreeDataset) and not other.keeps_links:
        return dataset.things_behind_links()
    return dataset.things()


def _pairs(first: Iterator[Thing], second: Iterator[Thing]) -> Iterator[tuple[Thing | None, Thing | None]]:
    """Both sides in step; each comes sorted, so only what has no twin is held.

    And that until the end: SeaweedFS names the empty folder `a/` before the file `a.txt`.
    """
    ours, theirs = next(first, None), next(second, None)
    alone: tuple[dict[str, Thing], dict[str, Thing]] = ({}, {})
    while ours is not None or theirs is not None:
        if ours is not None and (theirs is None or _order(ours) < _order(theirs)):
            if twin := alone[1].pop(_order(ours), None):
                yield ours, twin
            else:
                alone[0][_order(ours)] = ours
            ours = next(first, None)
        elif theirs is not None and (ours is None or _order(theirs) < _order(ours)):
            if twin := alone[0].pop(_order(theirs), None):
                yield twin, theirs
            else:
                alone[1][_order(theirs)] = theirs
            theirs = next(second, None)
        else:
            yield ours, theirs
            ours, theirs = next(first, None), next(second, None)
    yield from ((each, None) for each in alone[0].values())
    yield from ((None, each) for each in alone[1].values())


def _order(thing: Thing) -> str:
    """What every place is sorted by; UTF-8, by which servers sort, keeps the order of the characters."""
    return thing.path + "/" if thing.kind == FOLDER else thing.path


def _difference(first: Dataset, ours: Thing, second: Dataset, theirs: Thing, full: bool) -> tuple[str, bool]:
    """(why they differ or nothing, whether the bytes are known to be the same)"""
    if ours.kind != theirs.kind:
        return f"a {ours.kind} here, a {theirs.kind} there", False
    if ours.kind != FILE:
        return ("" if ours.target == theirs.target else f"leads to {ours.target} here, to {theirs.target} there"), True
    if ours.size_bytes != theirs.size_bytes:
        return f"{ours.size_bytes} bytes here, {theirs.size_bytes} there", False
    mine, other = ours.digest, theirs.digest
    if full:
        mine, other = _read_digest(first, ours), _read_digest(second, theirs)
    elif mine.partition(":")[0] != other.partition(":")[0]:
        return "", False
    if not mine or not other:
        return "", False
    return ("" if mine == other else "the same size, but other bytes"), True


def _read_digest(dataset: Dataset, thing: Thing) -> str:
    digest = hashlib.sha256()
    for piece in dataset.pieces(thing):
        digest.update(piece)
    return digest.hexdigest()
