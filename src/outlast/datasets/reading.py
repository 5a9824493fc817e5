"""Places that a data set can be read from, all alike: a folder of any tree, or a packed place in one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from outlast.inside.errors import InsideError, NotFound, RequestError
from outlast.inside.move.address import Address
from outlast.inside.move.base import FILE, FOLDER, LINK, Item, Job, Report, Tree
from outlast.inside.move.links import Complaints, Links
from outlast.inside.move.local import LocalTree
from outlast.inside.move.names import relative_to
from outlast.inside.move.packed import Member, Packed, is_packed, unsafe_path


@dataclass(frozen=True)
class Thing:
    """One file, link or empty folder of a place. The path is relative to the place."""

    path: str
    size_bytes: int = 0
    modified_ns: int = 0
    kind: str = FILE
    digest: str = ""  # `md5:…` or `crc32:…` when the place knows it without reading the file
    target: str = ""
    tag: str = ""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]


class Dataset(Protocol):
    """What can be read from. `things` comes sorted by path."""

    @property
    def url(self) -> str: ...

    def things(self) -> Iterator[Thing]: ...

    def pieces(self, thing: Thing, start: int = 0, length: int | None = None) -> Iterator[bytes]: ...

    def fetch(self, things: Sequence[Thing], folder: Path) -> None:
        """Copy files to the same relative paths below a local folder."""


def open_dataset(tree: Tree, address: Address) -> Dataset:
    """The place at an address; `NotFound` when there is nothing."""
    if is_packed(tree, address.path):
        return PackedDataset(Packed(tree, address.path))
    found = tree.stat(address.path)
    if found is None and address.path not in ("", "/"):
        raise NotFound(str(address))
    return TreeDataset(tree, address, found)


class TreeDataset:
    """A folder, or one single file, of a tree."""

    def __init__(self, tree: Tree, address: Address, found: Item | None) -> None:
        self.tree = tree
        self.url = str(address)
        self._single = found if found is not None and found.kind == FILE else None
        self._path = address.path.rpartition("/")[0] if self._single else address.path

    @property
    def keeps_links(self) -> bool:
        return isinstance(self.tree, LocalTree)

    def things(self) -> Iterator[Thing]:
        return map(self._thing, self._items())

    def things_behind_links(self) -> Iterator[Thing]:
        """As a copy in a bucket or HDFS has them: each link is what it leads to; one that cannot be copied stays."""
        for item in self._items():
            complaints: Complaints = []
            behind = list(Links(self._path, complaints).follow(item, [])) if item.kind == LINK else [item]
            yield from map(self._thing, [item] if complaints else behind)

    def _items(self) -> Iterator[Item]:
        return iter([self._single]) if self._single else self.tree.walk(self._path)

    def _thing(self, item: Item) -> Thing:
        path = relative_to(item.path, self._path)
        return Thing(path, item.size_bytes, item.modified_ns, item.kind, item.digest, item.target, item.tag)

    def pieces(self, thing: Thing, start: int = 0, length: int | None = None) -> Iterator[bytes]:
        return self.tree.read(self._whole(thing), start, length)

    def fetch(self, things: Sequence[Thing], folder: Path) -> None:
        first = _FirstFailure()
        self.tree.fetch((self._job(thing, folder) for thing in things), first)
        if first.error is not None:
            raise first.error

    def _job(self, thing: Thing, folder: Path) -> Job:
        why = unsafe_path(thing.path)  # a key of a bucket may be anything
        if why:
            raise RequestError(f"refused {thing.path!r} of {self.url}: {why}")
        local = folder / thing.path
        local.parent.mkdir(parents=True, exist_ok=True)
        return Job(str(local), self._whole(thing), thing.size_bytes, thing.modified_ns, thing.digest, thing.tag)

    def _whole(self, thing: Thing) -> str:
        return f"{self._path.rstrip('/')}/{thing.path}" if self._path else thing.path


class PackedDataset:
    """A packed place: its members as if they lay there one by one."""

    def __init__(self, packed: Packed) -> None:
        self.url = packed.url
        self._packed = packed
        self._members: dict[str, Member] = {}

    def things(self) -> Iterator[Thing]:
        for member in self._packed.members():
            digest = f"crc32:{member.crc32}" if member.crc32 else ""
            yield Thing(member.path, member.size_bytes, member.modified_ns, member.kind, digest, member.target)

    def pieces(self, thing: Thing, start: int = 0, length: int | None = None) -> Iterator[bytes]:
        member = self._member(thing)
        if start == 0 and length is None:
            return self._packed.read(member)
        count = member.size_bytes - start if length is None else min(length, member.size_bytes - start)
        if count <= 0:
            return iter(())
        return self._packed.tree.read(self._packed.shard_path(member.shard), member.offset + start, count)

    def fetch(self, things: Sequence[Thing], folder: Path) -> None:
        from outlast.inside.move.writing import FolderWriter

        writer = FolderWriter(str(folder))
        try:
            for thing in things:
                member = self._member(thing)
                writer.add_pieces(member, self._packed.read(member))
        finally:
            writer.close()

    def _member(self, thing: Thing) -> Member:
        if not self._members:
            self._members = {member.path: member for member in self._packed.members()}
        return self._members[thing.path]


class _FirstFailure(Report):
    def __init__(self) -> None:
        self.error: InsideError | None = None

    def failed(self, job: Job, error: InsideError) -> None:
        self.error = self.error or error


__all__ = ["FILE", "FOLDER", "LINK", "Dataset", "PackedDataset", "Thing", "TreeDataset", "open_dataset"]
