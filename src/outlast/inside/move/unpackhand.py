"""Unpacking in slices of shards, so that processes beside this one can take some of them."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterator, List, NamedTuple

from ..beside import serve_hand
from ..faults import explain
from .packed import Member
from .writing import FolderWriter

MODULE = __name__
#: Members of a slice: some twenty milliseconds of work, so that all end at about the same time.
_SLICE = 500


class Slice(NamedTuple):
    """Some of the members of a shard that lies on this machine."""

    shard: str  # where it lies; empty for members that need no bytes of it
    members: List[Member]


def slices(shard: str, members: List[Member]) -> Iterator[Slice]:
    for at in range(0, len(members), _SLICE):
        yield Slice(shard, members[at : at + _SLICE])


class SliceWriter:
    """Puts the members of slices where they belong, for one thread."""

    def __init__(self, folder: str) -> None:
        self._writer = FolderWriter(folder)
        self._shard = ""
        self._fd = -1

    def write(self, piece: Slice) -> None:
        if piece.shard != self._shard:
            self._open(piece.shard)
        for member in piece.members:
            self._writer.add(member, self._fd)

    def close(self) -> None:
        self._writer.close()
        self._open("")

    def _open(self, shard: str) -> None:
        fd, self._fd, self._shard = self._fd, -1, ""
        if fd >= 0:
            os.close(fd)
        if not shard:
            return
        try:
            self._fd = os.open(shard, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise explain(error, shard) from None
        self._shard = shard


def _make(folder: str) -> Callable[[Any], None]:
    writer = SliceWriter(folder)

    def do(body: Any) -> None:
        shard, members = body
        writer.write(Slice(shard, [Member(*fields) for fields in members]))

    return do


def main() -> None:
    serve_hand(_make)
