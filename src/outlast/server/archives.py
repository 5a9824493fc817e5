"""Many files as one tar, made while it is sent; its size is known before."""

from __future__ import annotations

import tarfile
from collections.abc import AsyncIterator, Iterable
from typing import NamedTuple

from outlast.inside import layout
from outlast.server.ranges import by_pieces, verified
from outlast.store.base import Store

_BLOCK = tarfile.BLOCKSIZE


class Stored(NamedTuple):
    """A file of a checkpoint or of outputs."""

    path: str
    sha256: str
    size_bytes: int
    mode: int

    @property
    def _header(self) -> bytes:
        info = tarfile.TarInfo(self.path)
        info.size, info.mode = self.size_bytes, self.mode & 0o777
        return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")

    @property
    def _padding(self) -> int:
        return -self.size_bytes % _BLOCK


def archive_bytes(files: Iterable[Stored]) -> int:
    """How long the archive will be."""
    return sum(len(file._header) + file.size_bytes + file._padding for file in files) + 2 * _BLOCK


async def archive(store: Store, files: Iterable[Stored]) -> AsyncIterator[bytes]:
    """The archive in pieces; a file that is not what its digest says breaks it off."""
    for file in files:
        yield file._header
        async for piece in read_blob(store, file):
            yield piece
        if file._padding:
            yield bytes(file._padding)
    yield bytes(2 * _BLOCK)


def read_blob(store: Store, file: Stored) -> AsyncIterator[bytes]:
    """A whole file, verified."""
    key = layout.blob_key(file.sha256)
    pieces = by_pieces(lambda start, length: store.get_range(key, start, length))
    return verified(pieces(0, file.size_bytes), file.sha256)
