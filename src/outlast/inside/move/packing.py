"""Packing a local folder straight into a folder of any tree: tens of thousands of files move as a few shards.

Shards are cut by sorted paths and sizes alone, so the same files always give the same shards. That is what lets a
second try skip the shards that are there already.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import tempfile
import threading
from typing import IO, Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ..beside import Hands, Work
from .aside import PART, make_folders
from .base import FILE, USUAL, Moving, Report, Tree
from .landing import Landing, Stopped
from .packed import Header, Shard, file_line, other_line, shard_name
from .packhand import MODULE, Built, Cut, build, cut, growing, head_of
from .scanning import scan
from .shardfile import BUFFER_BYTES

#: The usual size of a shard; the first ones are smaller.
SHARD_BYTES = 64 << 20
#: Members in the first so many shards that make them worth a process beside this one.
_MUCH, _FIRST = 2000, 4


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
    shard_bytes: Optional[int] = None,
) -> PackedOutcome:
    """Pack a local folder into a folder of a tree; a shard is on its way while the next one is built.

    `shard_bytes`: cut all shards at this size; none for the usual sizes, which begin small and grow.
    The index comes last: until then there is no packed place, and a place that was there before and has to change
    is none any more. Nothing but the shards and the index in that folder is touched.
    """
    local = path if tree.url == "file://" else ""
    with _temporary_folder(local) as folder, tempfile.TemporaryFile() as lines:
        landing = Landing(tree, path, report or Report(), how, rename=bool(local))
        packer = _Packer(landing, folder, lines)
        try:
            with contextlib.closing(landing):
                packer.pack(source_dir, shard_bytes)
                landing.wait()
            landing.commit(packer.header(), lines)
        except Stopped:
            return packer.outcome(complete=False)
        return packer.outcome(complete=True)


class _Packer(Work[Cut]):
    """Has shards built and brought to their place, several at a time, and notes where everything went."""

    def __init__(self, landing: Landing, folder: str, lines: IO[bytes]) -> None:
        self._landing = landing
        self._folder = folder
        self._lines = lines
        self._buffer = bytearray(BUFFER_BYTES)
        self._lock = threading.Lock()  # the landing and the notes are for one thread at a time
        self._ahead: Dict[int, Tuple[Cut, Built]] = {}  # built before the ones in front of them
        self._shards: List[Shard] = []
        self._files = self._members = self._size_bytes = 0

    def pack(self, source_dir: str, shard_bytes: Optional[int]) -> None:
        most_bytes = shard_bytes or SHARD_BYTES
        sizes = growing(most_bytes) if shard_bytes is None else lambda number: most_bytes
        cuts = self._checked(cut(scan(source_dir), most_bytes, sizes))
        first = list(itertools.islice(cuts, _FIRST))
        with Hands(MODULE, os.path.abspath(self._folder)) as hands:
            if len(first) > 1 and sum(len(each.members) for each in first) >= _MUCH:
                hands.begin()
            hands.share(itertools.chain(first, cuts), self)

    def header(self) -> Header:
        return Header(self._files, self._members, self._size_bytes, tuple(self._shards))

    def outcome(self, complete: bool) -> PackedOutcome:
        return PackedOutcome(self._files, self._size_bytes, len(self._shards), self._landing.skipped, complete)

    def to_json(self, piece: Cut) -> Optional[object]:
        return None if piece.is_large else [_part_name(piece), piece.members]

    def do(self, piece: Cut) -> Built:
        if not piece.is_large:
            return build(os.path.join(self._folder, _part_name(piece)), piece.members, self._buffer)
        # Streamed: no copy of a large file is made on this machine.
        found, head = piece.members[0], head_of(piece.members[0])
        with self._lock:
            shard, crc = self._landing.send_stream(piece.number, found, head)
        return Built(shard, [(len(head), crc)])

    def done(self, piece: Cut, answer: Any) -> None:
        (size_bytes, crc32), places = answer
        built = Built(Shard(size_bytes, crc32), places)
        with self._lock:
            if not piece.is_large:
                self._landing.send(piece.number, built.shard, os.path.join(self._folder, _part_name(piece)))
            self._ahead[piece.number] = piece, built
            while len(self._shards) in self._ahead:
                self._note(*self._ahead.pop(len(self._shards)))

    def _checked(self, cuts: Iterator[Cut]) -> Iterator[Cut]:
        for each in cuts:
            self._landing.check()
            yield each

    def _note(self, piece: Cut, built: Built) -> None:
        noted = []
        for found, (offset, crc) in zip(piece.members, built.places):
            if found.kind == FILE:
                self._files += 1
                self._size_bytes += found.size_bytes
                size, at, mode = found.size_bytes, found.modified_ns, found.mode
                noted.append(file_line(found.path, piece.number, offset, size, at, mode, crc))
            else:
                noted.append(
                    other_line(found.path, piece.number, found.modified_ns, found.mode, found.kind, found.target)
                )
        self._members += len(piece.members)
        self._shards.append(built.shard)
        self._lines.write("".join(noted).encode("ascii"))


def _part_name(piece: Cut) -> str:
    return PART + shard_name(piece.number)


@contextlib.contextmanager
def _temporary_folder(target: str) -> Iterator[str]:
    """Where shards are built: in the target itself when it is a local folder, so that they only need a new name."""
    if target:
        make_folders(target)
        try:
            yield target
        finally:
            for name in os.listdir(target):
                if name.startswith(PART + "shard-"):
                    os.unlink(os.path.join(target, name))
        return
    folder = tempfile.mkdtemp(prefix="outlast-pack-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
