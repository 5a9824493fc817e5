"""An object from pieces that come one after the other."""

from __future__ import annotations

from typing import Iterable, Iterator, List, Optional

from ..errors import Changed, InsideError
from ..net.connection import Steps
from ..net.drive import finish
from . import wire
from .client import md5_base64, put_whole
from .server import Server
from .upload import complete, part_size
from .wire import Part

#: Held in memory at once; with the part under way the largest share of a stream's memory.
_PART_BYTES = 16 << 20
#: Between two aborts of one upload: a part that is under way takes seconds where the server has much to do.
_ABORT_PAUSES_S = (0.2, 1.0, 3.0, 5.0)


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
    begun = finish(server.call("POST", key, [("uploads", "")]))
    upload = wire.upload_id_of(begun.body)
    parts: List[Part] = []
    try:
        for number, block in enumerate(_chained(first, second, blocks), 1):
            query = [("partNumber", str(number)), ("uploadId", upload)]
            answer = finish(server.call("PUT", key, query, [("content-md5", md5_base64(block))], block))
            parts.append(Part(number, answer.head.header("etag").strip('"'), len(block)))
        written = finish(complete(server, key, upload, parts, if_absent))
    except BaseException:
        abandon(server, key, upload)
        raise
    if not written:
        abandon(server, key, upload)
    return written


def abandon(server: Server, key: str, upload: str) -> None:
    """Let go of a multipart upload that will not be completed."""
    try:
        finish(_abandoned(server, key, upload))
    except InsideError:
        pass  # what is left behind is invisible; the first error is the one to tell


def _abandoned(server: Server, key: str, upload: str) -> Steps[None]:
    """Abort until the server has nothing more of it.

    A part whose try was broken off may still be under way and land after the abort, so S3 asks to repeat it until no
    part is listed. And "no such upload" is only believed the second time: a server whose own look-up failed may say
    the same.
    """
    query = [("uploadId", upload)]
    was_unknown = False
    for pause_s in _ABORT_PAUSES_S:
        aborted = yield from server.call("DELETE", key, query, ok=(200, 204, 404))
        listed = yield from server.call("GET", key, [*query, ("max-parts", "1")], ok=(200, 404))
        is_empty = listed.status == 404 or not wire.parts_of(listed.body)[0]
        if is_empty and (aborted.status != 404 or was_unknown):
            return
        was_unknown = aborted.status == 404
        yield pause_s


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
