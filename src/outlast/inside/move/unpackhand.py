"""Unpacking a shard in slices, so that processes beside this one can take some of them."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterator, List, NamedTuple

from ..beside import Work, serve_hand
from ..faults import explain
from .packed import Member
from .writing import FolderWriter

MODULE = __name__
#: Members of a slice: some thirty milliseconds of work, so that all end at about the same time.
_SLICE = 500


class Slice(NamedTuple):
    """Some of the members of a shard that lies on this machine."""

    shard: str
    members: List[Member]


def slices(shard: str, members: List[Member]) -> Iterator[Slice]:
    for at in range(0, len(members), _SLICE):
        yield Slice(os.path.abspath(shard), members[at : at + _SLICE])


class Unpacking(Work[Slice]):
    """Puts the members of slices where they belong."""

    def __init__(self, writer: FolderWriter) -> None:
        self._writer = writer
        self._shard = ""
        self._fd = -1

    def is_much(self, piece: Slice) -> bool:
        return len(piece.members) == _SLICE

    def to_json(self, piece: Slice) -> object:
        return piece

    def do(self, piece: Slice) -> None:
        if piece.shard != self._shard:
            self.close()
            self._open(piece.shard)
        for member in piece.members:
            self._writer.add(member, self._fd)

    def close(self) -> None:
        fd, self._fd, self._shard = self._fd, -1, ""
        if fd >= 0:
            os.close(fd)

    def _open(self, shard: str) -> None:
        try:
            self._fd = os.open(shard, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise explain(error, shard) from None
        self._shard = shard


def _make(folder: str) -> Callable[[Any], None]:
    unpacking = Unpacking(FolderWriter(folder))

    def do(body: Any) -> None:
        shard, members = body
        unpacking.do(Slice(shard, [Member(*fields) for fields in members]))

    return do


def main() -> None:
    serve_hand(_make)
