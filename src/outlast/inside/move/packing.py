"""Packing a local folder straight into a folder of any tree: tens of thousands of files move as a few shards.

Shards are cut by sorted paths and sizes alone, so the same files always give the same shards. That is what lets a
second try skip the shards that are there already.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from typing import IO, Iterator, List, NamedTuple, Optional

from .aside import PART, make_folders
from .base import FILE, USUAL, Moving, Report, Tree
from .landing import Landing, Stopped
from .packed import Header, Shard, file_line, other_line, shard_name
from .scanning import Found, scan
from .shardfile import BUFFER_BYTES, ShardWriter
from .tarshard import END, member_head, padding

SHARD_BYTES = 64 << 20


class PackedOutcome(NamedTuple):
    """What a transfer of a packed place came to."""

    files: int
    size_bytes: int  # of the data of those files
    shards: int
    skipped: int  # shards (packing) or files (unpacking) that were there already
    complete: bool  # False: it was asked to stop; doing it again goes on


def send_packed(
    source_dir: str,
    tree: Tree,
    path: str,
    report: Optional[Report] = None,
    how: Moving = USUAL,
    shard_bytes: int = SHARD_BYTES,
) -> PackedOutcome:
    """Pack a local folder into a folder of a tree; a shard is on its way while the next one is built.

    The index comes last: until then there is no packed place, and a place that was there before and has to change
    is none any more. Nothing but the shards and the index in that folder is touched.
    """
    local = path if tree.url == "file://" else ""
    with _temporary_folder(local) as folder, tempfile.TemporaryFile() as lines:
        landing = Landing(tree, path, report or Report(), how, rename=bool(local))
        packer = _Packer(landing, folder, lines, shard_bytes)
        try:
            with contextlib.closing(landing):
                packer.pack(source_dir)
                landing.wait()
            landing.commit(packer.header(), lines)
        except Stopped:
            return packer.outcome(complete=False)
        return packer.outcome(complete=True)


class _Packer:
    """Cuts what is found into shards and notes where everything went."""

    def __init__(self, landing: Landing, folder: str, lines: IO[bytes], shard_bytes: int) -> None:
        self._landing = landing
        self._folder = folder
        self._lines = lines
        self._limit = shard_bytes - len(END)
        self._buffer = bytearray(BUFFER_BYTES)
        self._noted: List[str] = []
        self._shards: List[Shard] = []
        self._files = self._members = self._size_bytes = 0

    def pack(self, source_dir: str) -> None:
        writer: Optional[ShardWriter] = None
        try:
            for found in scan(source_dir):
                head = member_head(
                    found.path, found.kind, found.size_bytes, found.modified_ns // 10**9, found.mode, found.target
                )
                need_bytes = len(head) + found.size_bytes + padding(found.size_bytes)
                if writer is not None and writer.size_bytes + need_bytes > self._limit:
                    self._finish(writer)
                    writer = None
                if need_bytes > self._limit and found.kind == FILE:
                    self._send_large(found, head)
                    continue
                writer = writer or self._start()
                offset, crc = writer.add(found, head)
                self._note(found, offset, crc)
            if writer is not None or not self._shards:
                self._finish(writer or self._start())
                writer = None
        finally:
            if writer is not None:
                writer.discard()

    def header(self) -> Header:
        return Header(self._files, self._members, self._size_bytes, tuple(self._shards))

    def outcome(self, complete: bool) -> PackedOutcome:
        return PackedOutcome(self._files, self._size_bytes, len(self._shards), self._landing.skipped, complete)

    def _start(self) -> ShardWriter:
        self._landing.check()
        return ShardWriter(os.path.join(self._folder, PART + shard_name(len(self._shards))), self._buffer)

    def _finish(self, writer: ShardWriter) -> None:
        shard = writer.finish()
        self._landing.send(len(self._shards), shard, writer.path)
        self._shards.append(shard)
        self._write_noted()

    def _send_large(self, found: Found, head: bytes) -> None:
        """A shard of its own for one file, streamed: no copy of it is made on this machine."""
        shard, crc = self._landing.send_stream(len(self._shards), found, head)
        self._note(found, len(head), crc)
        self._shards.append(shard)
        self._write_noted()

    def _note(self, found: Found, offset: int, crc: int) -> None:
        number = len(self._shards)
        self._members += 1
        if found.kind == FILE:
            self._files += 1
            self._size_bytes += found.size_bytes
            line = file_line(found.path, number, offset, found.size_bytes, found.modified_ns, found.mode, crc)
        else:
            line = other_line(found.path, number, found.modified_ns, found.mode, found.kind, found.target)
        self._noted.append(line)

    def _write_noted(self) -> None:
        self._lines.write("".join(self._noted).encode("ascii"))
        self._noted = []


@contextlib.contextmanager
def _temporary_folder(target: str) -> Iterator[str]:
    """Where shards are built: in the target itself when it is a local folder, so that they only need a new name."""
    if target:
        make_folders(target)
        yield target
        return
    folder = tempfile.mkdtemp(prefix="outlast-pack-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
