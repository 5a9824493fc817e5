"""Objects of a bucket from bytes that come one after the other, with a few megabytes of them in memory at any time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

from outlast.inside.errors import Changed
from outlast.inside.move.base import Item
from outlast.inside.net.drive import finish
from outlast.inside.s3.client import S3Client, byte_range, md5_base64
from outlast.inside.s3.multipart import abandon, begin, end_doubles
from outlast.inside.s3.upload import complete
from outlast.inside.s3.wire import Part, parse
from outlast.inside.signing.v4 import quote_path
from outlast.server.gateways.webhdfs.stores.claims import Claims

#: Every part of an object but its last has at least 5 MiB; a copied one has at most 5 GiB.
LEAST_PART_BYTES = 5 << 20
_PART_BYTES = 8 << 20
_COPIED_BYTES = 1 << 30
#: So often the parts double: an object has ten thousand at most, which reaches far beyond the 5 TiB that it may have.
_PARTS_OF_A_SIZE = 1000


def put_object(client: S3Client, key: str, pieces: Iterable[bytes], if_absent: Claims | None = None) -> bool:
    """Write an object that appears whole or not at all. With claims, False when one is there by then."""
    blocks = _blocks(pieces)
    first = next(blocks)
    if len(first) >= _PART_BYTES:
        return _Parts(client, key).finish(chain((first,), blocks), if_absent)
    with _chance(client, key, if_absent) as is_given:
        return is_given and client.put(key, first, if_absent is not None)


def grow_object(client: S3Client, found: Item, pieces: Iterable[bytes]) -> None:
    """Add bytes to an object. It is replaced by a longer one, whose beginning the store copies by itself."""
    blocks = _blocks(pieces)
    first = next(blocks)
    if not first:
        return
    if found.size_bytes < LEAST_PART_BYTES:
        put_object(client, found.path, chain((client.get(found.path), first), blocks))
    else:
        _Parts(client, found.path).finish(chain((first,), blocks), begin_with=found)


@contextlib.contextmanager
def _chance(client: S3Client, key: str, if_absent: Claims | None) -> Iterator[bool]:
    """Whether a key may be written within this block; with claims, nobody else has this chance meanwhile."""
    if if_absent is None:
        yield True
        return
    with if_absent.held(f"{client.url}/{key}"):
        yield client.head(key) is None


class _Parts:
    """An upload in parts; one that does not come to its end leaves nothing."""

    def __init__(self, client: S3Client, key: str) -> None:
        self._client, self._server, self._key = client, client.server, key
        self._begun = finish(begin(self._server, key))
        self._parts: list[Part] = []

    def finish(self, blocks: Iterable[bytes], if_absent: Claims | None = None, begin_with: Item | None = None) -> bool:
        is_done = False
        try:
            if begin_with is not None:
                self._copy(begin_with)
            for block in blocks:
                if block:
                    self._add(block)
            with _chance(self._client, self._key, if_absent) as is_given:
                is_done = is_given and self._complete(if_absent is not None)
        finally:
            if is_done:
                finish(end_doubles(self._server, self._key, self._begun))
            else:
                abandon(self._server, self._key, self._begun)
        return is_done

    def _add(self, block: bytes) -> None:
        answer = finish(
            self._server.call("PUT", self._key, self._query(), [("content-md5", md5_base64(block))], block)
        )  # fmt: skip
        self._keep(answer.head.header("etag"), len(block))

    def _copy(self, found: Item) -> None:
        """An object in parts of one size: a small rest of it would be too small for a part."""
        count = -(-found.size_bytes // _COPIED_BYTES)
        borders = [found.size_bytes * number // count for number in range(count + 1)]
        prefix, source = self._server.prefix, f"/{self._client.bucket}/{quote_path(found.path)}"
        for start, end in pairwise(borders):
            headers = [
                (f"{prefix}copy-source", source),
                (f"{prefix}copy-source-range", byte_range(start, end - start)),
                (f"{prefix}copy-source-if-match", f'"{found.tag}"'),
            ]
            answer = finish(self._server.call("PUT", self._key, self._query(), headers, ok=(200, 412)))
            if answer.status == 412:
                raise Changed(f"{self._client.url}/{found.path} was changed meanwhile; try again")
            self._keep(parse(answer.body).findtext("ETag") or "", end - start)

    def _complete(self, if_absent: bool) -> bool:
        return finish(complete(self._server, self._key, self._begun.upload, self._parts, if_absent))

    def _query(self) -> list[tuple[str, str]]:
        return [("partNumber", str(len(self._parts) + 1)), ("uploadId", self._begun.upload)]

    def _keep(self, tag: str, size_bytes: int) -> None:
        self._parts.append(Part(len(self._parts) + 1, tag.strip('"'), size_bytes))


def _blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces, gathered into parts; the last is smaller than a part, and may be empty."""
    limit, number = _PART_BYTES, 0
    held = bytearray()  # a piece is good only until the next one
    for piece in pieces:
        held += piece
        if len(held) >= limit:
            block, held, number = bytes(held), bytearray(), number + 1
            yield block
            del block
            if number % _PARTS_OF_A_SIZE == 0:
                limit *= 2
    yield bytes(held)
