"""A file from one tree to another, through this machine but not onto its disk."""

from __future__ import annotations

from typing import Iterator

from ..errors import Damaged, InsideError, PlaceError, StoreFull
from .base import Item, Moving, Report, Tree
from .copying import Tally
from .unchanged import comparable, digest_of

_TRIES = 3


def stream(item: Item, source: Tree, path: str, target: Tree, report: Report, how: Moving) -> None:
    """Copy one file and verify what arrived. Within one tree the bytes stay there when it can do that."""
    tally = Tally(report)
    for attempt in range(1, _TRIES + 1):
        try:
            if source is target and target.copy_within(item.path, path, item.size_bytes):
                tally.add(item.size_bytes)
            else:
                target.write(path, _counted(source.read(item.path), tally), item.size_bytes)
            return _verify(item, source, path, target, how)
        except InsideError as error:
            tally.take_back()
            can_mend = isinstance(error, (PlaceError, Damaged)) and not isinstance(error, StoreFull)
            if attempt == _TRIES or not can_mend or report.stopping():
                raise


def _counted(pieces: Iterator[bytes], tally: Tally) -> Iterator[bytes]:
    for piece in pieces:
        tally.add(len(piece))
        yield piece


def _verify(item: Item, source: Tree, path: str, target: Tree, how: Moving) -> None:
    arrived = target.stat(path)
    if arrived is None or arrived.size_bytes != item.size_bytes:
        size = "nothing" if arrived is None else "%d bytes" % arrived.size_bytes
        raise Damaged("%s arrived as %s instead of %d bytes" % (path, size, item.size_bytes))
    if comparable(item.digest, arrived.digest):
        if item.digest != arrived.digest:
            raise Damaged("%s arrived with another checksum" % path)
    elif how.full_check and digest_of(source, item.path, "crc32") != digest_of(target, path, "crc32"):
        raise Damaged("%s arrived with another checksum" % path)
