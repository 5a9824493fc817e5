"""Unpacking a packed place of any tree into a local folder: shards arrive while the ones before are unpacked."""

from __future__ import annotations

import collections
import concurrent.futures
import itertools
import os
import shutil
import tempfile
import threading
from typing import Deque, Iterator, List, Optional, Tuple

from ..beside import Hands
from .base import FILE, USUAL, Job, Moving, Report, Tree
from .landing import OneShard, Stopped
from .packed import Member, Packed
from .packing import PackedOutcome
from .unpackhand import MODULE, Unpacking, slices
from .writing import FolderReader, FolderWriter

# Shards on their way or waiting while one is unpacked; each is a temporary file.
_AHEAD = 2


def fetch_packed(
    tree: Tree, path: str, local_dir: str, report: Optional[Report] = None, how: Moving = USUAL
) -> PackedOutcome:
    """Unpack a place into a local folder.

    A file appears under its name only when it is whole and its crc32 is right. What is there with the same size and
    time is left alone; a shard of which nothing is missing is not fetched. Members that would be written outside
    the folder are refused by name.
    """
    return _Fetcher(Packed(tree, path), local_dir, report or Report(), how).run()


class _Fetcher:
    def __init__(self, place: Packed, local_dir: str, report: Report, how: Moving) -> None:
        self._place = place
        self._report = report
        self._how = how
        self._reader = FolderReader(local_dir)
        self._writer = FolderWriter(local_dir)
        self._unpacking = Unpacking(self._writer)
        self._hands = Hands(MODULE, os.path.abspath(local_dir))
        self._ending = threading.Event()
        self._is_local = place.tree.url == "file://"
        self._files = self._size_bytes = self._skipped = self._shards = 0

    def run(self) -> PackedOutcome:
        folder = tempfile.mkdtemp(prefix="outlast-unpack-")
        pool = concurrent.futures.ThreadPoolExecutor(_AHEAD)
        complete = True
        try:
            with self._hands:
                self._unpack_all(pool, folder)
        except Stopped:
            complete = False
        finally:
            self._ending.set()
            pool.shutdown(wait=True)
            self._unpacking.close()
            self._writer.close()
            shutil.rmtree(folder, ignore_errors=True)
        return PackedOutcome(self._files, self._size_bytes, self._shards, self._skipped, complete)

    def _unpack_all(self, pool: concurrent.futures.ThreadPoolExecutor, folder: str) -> None:
        under_way: Deque[Tuple[List[Member], concurrent.futures.Future[str]]] = collections.deque()
        for number, members in itertools.groupby(self._place.members(), lambda member: member.shard):
            wanted = self._wanted(members)
            if not any(member.size_bytes for member in wanted):
                self._unpack(wanted, "")
            elif len(wanted) == 1:
                self._stream(wanted[0])
            else:
                under_way.append((wanted, pool.submit(self._fetch, number, folder)))
                if len(under_way) > _AHEAD:
                    self._unpack_first(under_way)
        while under_way:
            self._unpack_first(under_way)

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
        return wanted

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

    def _unpack_first(self, under_way: Deque[Tuple[List[Member], concurrent.futures.Future[str]]]) -> None:
        members, future = under_way.popleft()
        shard = future.result()
        self._unpack(members, shard)
        if self._is_local:
            self._report.moved(sum(member.size_bytes for member in members))
        else:
            os.unlink(shard)

    def _unpack(self, members: List[Member], shard: str) -> None:
        if not shard:
            for member in members:
                self._writer.add(member, -1)
            return
        self._shards += 1
        self._hands.share(slices(shard, members), self._unpacking)

    def _stream(self, member: Member) -> None:
        """One file alone is read by range, straight to where it belongs."""
        self._shards += 1
        self._writer.add_pieces(member, self._reported(self._place.read(member)))

    def _reported(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            if self._report.stopping():
                raise Stopped
            yield piece
            self._report.moved(len(piece))
