"""Unpacking a packed place of any tree into a local folder: shards arrive while the ones before are unpacked."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import itertools
import os
import shutil
import tempfile
import threading
from typing import Any, Counter, Deque, Iterator, List, NamedTuple, Optional

from ..beside import Hands, Work
from .base import FILE, USUAL, Job, Moving, Report, Tree
from .landing import OneShard, Stopped
from .packed import Member, Packed
from .packing import PackedOutcome
from .unpackhand import MODULE, Slice, SliceWriter, slices
from .writing import FolderReader, FolderWriter

# Shards on their way or waiting while one is unpacked; each is a temporary file.
_AHEAD = 2
#: Members that are missing here and pay for processes that help.
_MUCH = 2000


def fetch_packed(
    tree: Tree, path: str, local_dir: str, report: Optional[Report] = None, how: Moving = USUAL
) -> PackedOutcome:
    """Unpack a place into a local folder.

    A file appears under its name only when it is whole and its crc32 is right. What is there with the same size and
    time is left alone; a shard of which nothing is missing is not fetched. Members that would be written outside
    the folder are refused by name.
    """
    return _Fetcher(Packed(tree, path), local_dir, report or Report(), how).run()


class _Wanted(NamedTuple):
    """The members of one shard that are not here yet, and the shard, which is under way; None when it is not needed."""

    members: List[Member]
    shard: Optional[concurrent.futures.Future[str]]


class _Fetcher(Work[Slice]):
    def __init__(self, place: Packed, local_dir: str, report: Report, how: Moving) -> None:
        self._place = place
        self._report = report
        self._how = how
        self._local_dir = local_dir
        self._reader = FolderReader(local_dir)
        self._writer = SliceWriter(local_dir)
        self._hands = Hands(MODULE, os.path.abspath(local_dir))
        self._ending = threading.Event()
        self._is_local = place.tree.url == "file://"
        self._lock = threading.Lock()
        self._undone: Counter[str] = collections.Counter()  # slices by the shard that they still need
        self._files = self._size_bytes = self._skipped = self._shards = self._missing = 0

    def run(self) -> PackedOutcome:
        folder = tempfile.mkdtemp(prefix="outlast-unpack-")
        pool = concurrent.futures.ThreadPoolExecutor(_AHEAD)
        complete = True
        try:
            with self._hands:
                self._hands.share(self._slices(pool, folder), self)
        except Stopped:
            complete = False
        finally:
            self._ending.set()
            pool.shutdown(wait=True)
            self._writer.close()
            shutil.rmtree(folder, ignore_errors=True)
        return PackedOutcome(self._files, self._size_bytes, self._shards, self._skipped, complete)

    def to_json(self, piece: Slice) -> Optional[object]:
        return None if _is_alone(piece) else piece

    def do(self, piece: Slice) -> None:
        if _is_alone(piece):
            self._stream(piece.members[0])
        else:
            self._writer.write(piece)

    def done(self, piece: Slice, answer: Any) -> None:
        if self._is_local and not _is_alone(piece):
            self._report.moved(sum(member.size_bytes for member in piece.members))
        self._let_go(piece.shard)

    def _slices(self, pool: concurrent.futures.ThreadPoolExecutor, folder: str) -> Iterator[Slice]:
        """What is to be unpacked, each slice when its shard is here; the next shards are under way by then."""
        under_way: Deque[_Wanted] = collections.deque()
        for each in self._wanted_shards(pool, folder):
            under_way.append(each)
            if len(under_way) > _AHEAD:
                yield from self._slices_of(under_way.popleft())
        while under_way:
            yield from self._slices_of(under_way.popleft())

    def _wanted_shards(self, pool: concurrent.futures.ThreadPoolExecutor, folder: str) -> Iterator[_Wanted]:
        for number, members in itertools.groupby(self._place.members(), lambda member: member.shard):
            wanted = self._wanted(members)
            if len(wanted) > 1 and any(member.size_bytes for member in wanted):
                yield _Wanted(wanted, pool.submit(self._fetch, number, folder))
            elif wanted:
                yield _Wanted(wanted, None)

    def _wanted(self, members: Iterator[Member]) -> List[Member]:
        """The members of one shard that are not there yet."""
        if self._report.stopping():
            raise Stopped
        wanted = []
        for member in members:
            if member.kind == FILE:
                self._files += 1
                self._size_bytes += member.size_bytes
            if self._reader.has(member):
                self._skipped += 1
            else:
                wanted.append(member)
        self._missing += len(wanted)
        if self._missing >= _MUCH:
            self._hands.begin()  # before the shard is here, so that they are ready for it
        return wanted

    def _slices_of(self, wanted: _Wanted) -> Iterator[Slice]:
        shard = os.path.abspath(wanted.shard.result()) if wanted.shard else ""
        self._shards += any(member.size_bytes for member in wanted.members)
        self._hold(shard)
        for each in slices(shard, wanted.members):
            self._hold(shard)
            yield each
        self._let_go(shard)

    def _hold(self, shard: str) -> None:
        with self._lock:
            self._undone[shard] += 1

    def _let_go(self, shard: str) -> None:
        """The last slice of a shard that came from elsewhere takes it away."""
        with self._lock:
            self._undone[shard] -= 1
            is_last = not self._undone[shard]
        if is_last and shard and not self._is_local:
            os.unlink(shard)

    def _fetch(self, number: int, folder: str) -> str:
        """Bring one shard to this machine and say where it is."""
        source = self._place.shard_path(number)
        if self._is_local:
            return source
        outcome = OneShard(self._report, self._ending)
        shard = self._place.header.shards[number]
        local = os.path.join(folder, "%06d" % number)
        self._place.tree.fetch([Job(local, source, shard.size_bytes)], outcome, self._how)
        outcome.settle()
        return local

    def _stream(self, member: Member) -> None:
        """One file alone is read by range, straight to where it belongs."""
        # A writer of its own: a slice may be written at the same time.
        with contextlib.closing(FolderWriter(self._local_dir)) as writer:
            writer.add_pieces(member, self._reported(self._place.read(member)))

    def _reported(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            if self._report.stopping():
                raise Stopped
            yield piece
            self._report.moved(len(piece))


def _is_alone(piece: Slice) -> bool:
    """True for the one file that is wanted of a shard: the shard is not fetched for it."""
    return not piece.shard and len(piece.members) == 1 and piece.members[0].size_bytes > 0
