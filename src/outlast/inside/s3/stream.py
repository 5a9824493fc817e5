"""An object from pieces that come one after the other."""

from __future__ import annotations

from typing import Iterable, Iterator, List, Optional

from ..errors import Changed
from ..net.drive import finish
from .client import md5_base64, put_whole
from .multipart import abandon, begin, end_doubles
from .server import Server
from .upload import complete, part_size
from .wire import Part

#: Held in memory at once; with the part under way the largest share of a stream's memory.
_PART_BYTES = 16 << 20


def put_stream(
    server: Server, key: str, pieces: Iterable[bytes], size_bytes: Optional[int] = None, if_absent: bool = False
) -> bool:
    """Write an object from pieces; nothing is there until all have arrived.

    `size_bytes` is checked when it is known; without it the parts grow with the stream. False when `if_absent` and
    the key is there already.
    """
    blocks = _blocks(pieces, size_bytes)
    first = next(blocks, b"")
    second = next(blocks, None)
    if second is None:
        return finish(put_whole(server, key, first, if_absent)).status < 300
    begun = finish(begin(server, key))
    parts: List[Part] = []
    try:
        for number, block in enumerate(_chained(first, second, blocks), 1):
            query = [("partNumber", str(number)), ("uploadId", begun.upload)]
            answer = finish(server.call("PUT", key, query, [("content-md5", md5_base64(block))], block))
            parts.append(Part(number, answer.head.header("etag").strip('"'), len(block)))
        written = finish(complete(server, key, begun.upload, parts, if_absent))
    except BaseException:
        abandon(server, key, begun)
        raise
    if written:
        finish(end_doubles(server, key, begun))
    else:
        abandon(server, key, begun)
    return written


def _chained(first: bytes, second: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield second
    yield from rest


def _blocks(pieces: Iterable[bytes], size_bytes: Optional[int]) -> Iterator[bytes]:
    """The pieces cut into parts: all of one size when the total is known, growing when it is not."""
    limit = max(_PART_BYTES, part_size(size_bytes, _PART_BYTES)) if size_bytes is not None else _PART_BYTES
    held, total, number = bytearray(), 0, 0
    for piece in pieces:
        total += len(piece)
        held += piece
        while len(held) >= limit:
            yield bytes(held[:limit])
            del held[:limit]
            number += 1
            if size_bytes is None and number % 1000 == 0:
                limit *= 2
    if size_bytes is not None and total != size_bytes:
        raise Changed("a stream of %d bytes gave %d" % (size_bytes, total))
    if held or total == 0:
        yield bytes(held)
