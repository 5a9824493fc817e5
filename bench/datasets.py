"""What the mover's benchmark moves: sets of files cut from one random block, so that a server needs not keep them."""

from __future__ import annotations

import base64
import hashlib
import math
import mmap
import os
import random
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

BLOCK_BYTES = 64 << 20
#: Larger objects have an entity tag that is no MD5, as whatever was sent in parts has.
MD5_UP_TO_BYTES = BLOCK_BYTES
#: Sources are this old and stored copies a day younger, so that every tool agrees that nothing changed.
SOURCE_AT, STORED_AT = 1_750_000_000, 1_750_086_400


class Block:
    """Random bytes in memory that `sendfile` can read, and as a view."""

    def __init__(self, seed: int = 1) -> None:
        self.fd = os.memfd_create("block")
        os.write(self.fd, random.Random(seed).randbytes(BLOCK_BYTES))
        self.view = memoryview(mmap.mmap(self.fd, BLOCK_BYTES, prot=mmap.PROT_READ))

    def pieces(self, offset: int, size_bytes: int) -> Iterator[memoryview]:
        """The bytes from `offset` on; the block repeats itself for ever."""
        while size_bytes:
            start = offset % BLOCK_BYTES
            piece = self.view[start : min(BLOCK_BYTES, start + size_bytes)]
            yield piece
            offset, size_bytes = offset + len(piece), size_bytes - len(piece)


class Entry(NamedTuple):
    """One file, as a server shows it."""

    key: str
    size_bytes: int
    offset: int  # in the block
    etag: str
    crc32: str = ""  # base64, as S3 writes it
    fd: int = -1  # a real file that holds the bytes; -1: the block does


class Dataset(NamedTuple):
    """A named set of files."""

    name: str
    words: str
    entries: list[Entry]

    @property
    def size_bytes(self) -> int:
        return sum(entry.size_bytes for entry in self.entries)

    def write(self, folder: Path, block: Block) -> None:
        """Make the files in a folder."""
        for parent in {(folder / entry.key).parent for entry in self.entries}:
            parent.mkdir(parents=True, exist_ok=True)
        for entry in self.entries:
            target = folder / entry.key
            with target.open("wb", buffering=0) as file:
                for piece in block.pieces(entry.offset, entry.size_bytes):
                    file.write(piece)
            os.utime(target, (SOURCE_AT, SOURCE_AT))

    def differences(self, folder: Path, block: Block, every: int = 1) -> list[str]:
        """Files below the folder that are missing, too many, or of another size; every n-th is read and compared."""
        there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        wrong = sorted(there.keys() ^ {entry.key for entry in self.entries})
        for number, entry in enumerate(self.entries):
            path = there.get(entry.key)
            if path is None:
                continue
            size_bytes = path.stat().st_size
            if size_bytes != entry.size_bytes or (number % every == 0 and _differs(path, entry, block)):
                wrong.append(entry.key)
        return wrong


def _differs(path: Path, entry: Entry, block: Block) -> bool:
    with path.open("rb", buffering=0) as file:
        return any(file.read(len(piece)) != piece for piece in block.pieces(entry.offset, entry.size_bytes))


def _entry(block: Block, key: str, size_bytes: int, offset: int) -> Entry:
    if size_bytes > MD5_UP_TO_BYTES:
        return Entry(key, size_bytes, offset, f"{hashlib.md5(key.encode()).hexdigest()}-{size_bytes >> 23}")
    digest, crc = hashlib.md5(), 0
    for piece in block.pieces(offset, size_bytes):
        digest.update(piece)
        crc = zlib.crc32(piece, crc)
    return Entry(key, size_bytes, offset, digest.hexdigest(), base64.b64encode(crc.to_bytes(4, "big")).decode())


def large(block: Block, count: int = 8, size_bytes: int = 512 << 20) -> Dataset:
    words = f"{count} x {size_bytes >> 20} MiB" if count > 1 else f"one file of {size_bytes >> 20} MiB"
    entries = [_entry(block, f"part-{number:02}.bin", size_bytes, number * 4099) for number in range(count)]
    return Dataset("large" if count > 1 else "huge", words, entries)


def small(block: Block, count: int = 20_000, size_bytes: int = 10 << 10) -> Dataset:
    """A hundred class folders of equal files; each file has bytes of its own."""
    entries = [
        _entry(block, f"class-{number % 100:02}/image-{number:05}.jpg", size_bytes, number * 3001 % (BLOCK_BYTES >> 1))
        for number in range(count)
    ]
    return Dataset("small", f"{count:,} x {size_bytes >> 10} KiB", sorted(entries))


def mixed(block: Block, count: int = 4_000, large_count: int = 4) -> Dataset:
    """Images of many sizes around 100 KiB, and a few archives beside them."""
    chance = random.Random(7)
    entries = []
    for number in range(count):
        size_bytes = min(4 << 20, max(2_000, round(chance.lognormvariate(math.log(100_000), 0.7))))
        entries.append(_entry(block, f"train/{number % 20:02}/{number:05}.jpg", size_bytes, number * 3001))
    for number in range(large_count):
        entries.append(_entry(block, f"extra/archive-{number}.zip", 48 << 20, number * 7919))
    words = f"{count:,} images around 100 KiB and {large_count} archives of 48 MiB"
    return Dataset("mixed", words, sorted(entries))


DATASETS: dict[str, Callable[[Block], Dataset]] = {
    "large": large,
    "huge": lambda block: large(block, 1, 4 << 30),
    "small": small,
    "mixed": mixed,
}


def stored(name: str, words: str, folder: Path) -> Dataset:
    """The real files below a folder as a dataset to be served."""
    entries = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        crc32 = base64.b64encode(zlib.crc32(data).to_bytes(4, "big")).decode()
        key, fd = path.relative_to(folder).as_posix(), os.open(path, os.O_RDONLY)
        entries.append(Entry(key, len(data), 0, hashlib.md5(data).hexdigest(), crc32, fd))
    return Dataset(name, words, entries)
