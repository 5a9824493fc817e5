"""Packed places: make one, take one apart, look into one."""

from __future__ import annotations

import concurrent.futures
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from outlast.datasets.reading import TreeDataset
from outlast.errors import UsageError
from outlast.inside.errors import NotFound
from outlast.inside.move.base import FILE, FOLDER, LINK, Report
from outlast.inside.move.landing import PARTIAL_NAME
from outlast.inside.move.names import is_below, join
from outlast.inside.move.packed import INDEX_NAME, SHARD_NAME, Member, Packed
from outlast.inside.move.packing import PackedOutcome, send_packed
from outlast.inside.move.unpacking import fetch_packed
from outlast.operations.places import Places, place_errors
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.inside.move.plan import Place

#: Smaller shards would be small files again.
SMALLEST_SHARD_BYTES = 1 << 20
_WRITERS = 8


@dataclass(frozen=True)
class Repacked:
    """What packing or unpacking came to."""

    place: str  # where it landed
    files: int
    size_bytes: int
    shards: int
    skipped: int  # shards (packing) or files (unpacking) that were there already
    complete: bool
    notices: list[str] = field(default_factory=list)


def pack(
    settings: Settings,
    source: str,
    target: str,
    *,
    shard_bytes: int | None = None,
    profile: str = "",
    report: Report | None = None,
) -> Repacked:
    """Pack a folder into shards. The target is the folder that holds them, with or without a slash at its end.

    `shard_bytes`: the size of all shards; None for the usual ones, which grow from 8 to 64 MiB.
    """
    if shard_bytes is not None and shard_bytes < SMALLEST_SHARD_BYTES:
        raise UsageError("a shard cannot be smaller than 1 MB", hint="for example: --shard-size 64MB")
    places = Places(settings, profile)
    origin, destination = places.open(source), places.open(target)
    with place_errors():
        _refuse_packing(origin, destination)
        path = destination.address.path
        if origin.is_local:
            done = send_packed(origin.address.path, destination.tree, path, report, shard_bytes=shard_bytes)
        else:
            with tempfile.TemporaryDirectory(prefix="outlast-pack-") as folder:
                _bring(origin, Path(folder))
                done = send_packed(folder, destination.tree, path, report, shard_bytes=shard_bytes)
    return _repacked(destination, done, places.notices)


def unpack(
    settings: Settings, source: str, target: str, *, profile: str = "", report: Report | None = None
) -> Repacked:
    """Unpack a packed place into a folder of this machine, or file by file into a store."""
    places = Places(settings, profile)
    origin, destination = places.open(source), places.open(target)
    with place_errors():
        if destination.is_local:
            done = fetch_packed(origin.tree, origin.address.path, destination.address.path, report)
            return _repacked(destination, done, places.notices)
        packed = Packed(origin.tree, origin.address.path)
        links = _write_out(packed, destination, report or Report())
    notices = [*places.notices, *([f"left out {links} links: a store has none"] if links else [])]
    header = packed.header
    done = PackedOutcome(header.files, header.size_bytes, len(header.shards), 0, complete=True)
    return _repacked(destination, done, notices)


def members(settings: Settings, source: str, *, profile: str = "") -> list[Member]:
    """Everything in a packed place, sorted by path."""
    place = Places(settings, profile).open(source)
    with place_errors():
        return list(Packed(place.tree, place.address.path).members())


def read_member(settings: Settings, source: str, path: str, *, profile: str = "") -> Iterator[bytes]:
    """The bytes of one file of a packed place, read by range out of its shard."""
    place = Places(settings, profile).open(source)
    with place_errors():
        packed = Packed(place.tree, place.address.path)
        yield from packed.read(packed.find(path))


def _refuse_packing(origin: Place, destination: Place) -> None:
    source, target = origin.real(origin.address.path), destination.real(destination.address.path)
    found = origin.tree.stat(source)
    if found is None:
        raise NotFound(str(origin.address))
    if found.kind != FOLDER:
        raise UsageError(f"{origin.address} is not a folder", hint="pack the folder that it lies in")
    if origin.address.root == destination.address.root and (source == target or is_below(target, source)):
        raise UsageError(
            f"{destination.address} lies in {origin.address}; the shards would be packed too",
            hint="choose a target outside of it",
        )
    ours = (INDEX_NAME, PARTIAL_NAME)
    for item in destination.tree.children(target):
        name = item.path.rpartition("/")[2]
        if name and name not in ours and not SHARD_NAME.match(name):
            raise UsageError(
                f"{destination.address} holds other things already, {name!r} for one", hint="choose an empty folder"
            )


def _bring(origin: Place, folder: Path) -> None:
    dataset = TreeDataset(origin.tree, origin.address, None)
    dataset.fetch([thing for thing in dataset.things() if thing.kind == FILE], folder)


def _write_out(packed: Packed, destination: Place, report: Report) -> int:
    """Write every file of a packed place into a store, a few at a time; returns how many links were left out."""
    links = 0

    def write(member: Member) -> None:
        target = join(destination.address.path, member.path)
        if member.kind == FOLDER:
            destination.tree.make_folder(target)
        else:
            destination.tree.write(target, packed.read(member), member.size_bytes)
            report.moved(member.size_bytes)

    with concurrent.futures.ThreadPoolExecutor(_WRITERS) as pool:
        under_way: set[concurrent.futures.Future[None]] = set()
        for member in packed.members():
            if member.kind == LINK:
                links += 1
                continue
            under_way.add(pool.submit(write, member))
            if len(under_way) >= 4 * _WRITERS:
                under_way = _settled(under_way)
        for future in under_way:
            future.result()
    return links


def _settled(futures: set[concurrent.futures.Future[None]]) -> set[concurrent.futures.Future[None]]:
    """Wait for the first of them; the others are returned."""
    done, left = concurrent.futures.wait(futures, return_when=concurrent.futures.FIRST_COMPLETED)
    for future in done:
        future.result()
    return left


def _repacked(destination: Place, done: PackedOutcome, notices: list[str]) -> Repacked:
    place = str(destination.address._replace(into=True))
    return Repacked(place, done.files, done.size_bytes, done.shards, done.skipped, done.complete, notices)
