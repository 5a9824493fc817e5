"""HDFS's own checksum of a file: the MD5 of the MD5s of its blocks, each over the CRCs of 512 bytes at a time."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator

CRC_BYTES = 512
_SMALLEST_BUFFER = 32


def file_checksum(
    pieces: Iterable[bytes], block_bytes: int, crc: Callable[[bytes], int] = zlib.crc32, name: str = "CRC32"
) -> dict[str, object]:
    """`FileChecksum` of the bytes of a file.

    Hadoop comes with CRC32C and can be set to CRC32. Only that one is in every Python, so it is what servers here say.
    """
    blocks = list(_block_digests(pieces, block_bytes, crc))
    joined = b"".join(blocks)
    # Hadoop digests its whole buffer, which doubles as it grows, and not only what it wrote there.
    size = _SMALLEST_BUFFER
    while size < len(joined):
        size *= 2
    crc_bytes = CRC_BYTES if blocks else 0
    crcs_per_block = block_bytes // CRC_BYTES if len(blocks) > 1 else 0
    head = crc_bytes.to_bytes(4, "big") + crcs_per_block.to_bytes(8, "big")
    body = head + hashlib.md5(joined.ljust(size, b"\0"), usedforsecurity=False).digest()
    algorithm = f"MD5-of-{crcs_per_block}MD5-of-{crc_bytes}{name if blocks else 'CRC32'}"
    return {"algorithm": algorithm, "bytes": body.ljust(32, b"\0").hex(), "length": len(body)}


def _block_digests(pieces: Iterable[bytes], block_bytes: int, crc: Callable[[bytes], int]) -> Iterator[bytes]:
    digest = hashlib.md5(usedforsecurity=False)
    left = block_bytes
    for chunk in _chunks(pieces, block_bytes):
        digest.update(crc(chunk).to_bytes(4, "big"))
        left -= len(chunk)
        if left == 0:
            yield digest.digest()
            digest = hashlib.md5(usedforsecurity=False)
            left = block_bytes
    if left < block_bytes:
        yield digest.digest()


def _chunks(pieces: Iterable[bytes], block_bytes: int) -> Iterator[bytes]:
    """The bytes, 512 at a time; a chunk never crosses the end of a block."""
    held = b""
    left = block_bytes
    for piece in pieces:
        held += piece
        start = 0
        while len(held) - start >= (size := min(CRC_BYTES, left)):
            yield held[start : start + size]
            start += size
            left = left - size or block_bytes
        held = held[start:]
    if held:
        yield held
