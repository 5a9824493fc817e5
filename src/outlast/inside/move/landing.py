"""Bringing shards to their place in a tree while the next ones are built, and committing the place at the end."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import json
import os
import threading
import zlib
from typing import IO, Deque, Dict, Iterator, List, Optional, Tuple

from ..errors import Damaged, InsideError, NotFound
from ..faults import explain
from .base import FILE, Job, Moving, Report, Tree
from .names import join
from .packed import INDEX_NAME, SHARD_NAME, Header, Shard, first_line, header_line, parse_header, shard_name
from .scanning import Found
from .shardfile import read_pieces
from .tarshard import END, padding

#: Says which shards an unfinished place holds; gone when the index is there.
PARTIAL_NAME = "index.partial"
# Shards finished and not yet there. One more is being built; each is a temporary file.
_AHEAD = 2


class Stopped(Exception):
    """The user wants no more; raised and caught within the mover."""


class Landing:
    """Brings finished shards to their tree, a few at a time, and commits the place at the end."""

    def __init__(self, tree: Tree, path: str, report: Report, how: Moving, rename: bool) -> None:
        self.skipped = 0
        self._tree = tree
        self._path = path
        self._report = report
        self._how = how
        self._rename = rename
        self._pool = concurrent.futures.ThreadPoolExecutor(_AHEAD)
        self._under_way: Deque[concurrent.futures.Future[None]] = collections.deque()
        there = {item.path.rsplit("/", 1)[-1]: item.size_bytes for item in tree.children(path) if item.kind == FILE}
        self._sizes = {name: size for name, size in there.items() if SHARD_NAME.match(name)}
        self._has_index = INDEX_NAME in there
        self._has_partial = PARTIAL_NAME in there
        self._known = self._read_known()
        self._confirmed: Dict[int, Shard] = {}
        self._changing = False
        self._lock = threading.Lock()
        self._ending = threading.Event()

    def check(self) -> None:
        if self._report.stopping():
            raise Stopped

    def send(self, number: int, shard: Shard, local: str) -> None:
        """Have a finished shard moved, unless it is there already. Waits while too many are on their way."""
        if self._is_there(number, shard):
            os.unlink(local)
            return
        self._begin_changes()
        while len(self._under_way) >= _AHEAD:
            self._under_way.popleft().result()
        self._under_way.append(self._pool.submit(self._move, number, shard, local))

    def send_stream(self, number: int, found: Found, head: bytes) -> Tuple[Shard, int]:
        """Move a shard that holds one large file; returns it and the file's crc32."""
        self.check()
        size = len(head) + found.size_bytes + padding(found.size_bytes) + len(END)
        crcs = [0, 0]
        known = self._known.get(number)
        if known is not None and known.size_bytes == size:
            for _ in _shard_pieces(found, head, crcs):
                self.check()
            if self._is_there(number, Shard(size, "%08x" % crcs[0])):
                return Shard(size, "%08x" % crcs[0]), crcs[1]
            crcs = [0, 0]
        self._begin_changes()
        self.wait()
        self._tree.write(join(self._path, shard_name(number)), self._reported(_shard_pieces(found, head, crcs)), size)
        shard = Shard(size, "%08x" % crcs[0])
        self._confirm(number, shard)
        return shard, crcs[1]

    def wait(self) -> None:
        """Until everything sent has arrived."""
        while self._under_way:
            self._under_way.popleft().result()

    def commit(self, header: Header, lines: IO[bytes]) -> None:
        """Write the index, then clear away what an earlier try or a larger place left."""
        self.check()
        first = header_line(header)
        size = len(first) + lines.seek(0, os.SEEK_END)
        lines.seek(0)
        self._tree.write(join(self._path, INDEX_NAME), _index_pieces(first, lines), size)
        ours = {shard_name(number) for number in range(len(header.shards))}
        surplus = sorted(name for name in self._sizes if name not in ours)
        if self._has_partial:
            surplus.append(PARTIAL_NAME)
        if surplus:
            self._tree.remove([join(self._path, name) for name in surplus])

    def close(self) -> None:
        """End the transfers that are still under way: somebody gave up, or there are none."""
        self._ending.set()
        self._pool.shutdown(wait=True)

    def _is_there(self, number: int, shard: Shard) -> bool:
        name = shard_name(number)
        same = self._known.get(number) == shard and self._sizes.get(name) == shard.size_bytes
        if same and self._how.full_check:
            same = self._crc_there(name) == shard.crc32
        if same:
            self.skipped += 1
            with self._lock:
                self._confirmed[number] = shard
        return same

    def _crc_there(self, name: str) -> str:
        crc = 0
        for piece in self._tree.read(join(self._path, name)):
            crc = zlib.crc32(piece, crc)
        return "%08x" % crc

    def _begin_changes(self) -> None:
        """From here on the place is unfinished, and says so before its first shard is replaced."""
        if self._changing:
            return
        self._changing = True
        if self._has_partial or self._has_index:
            with self._lock:
                self._write_partial()
        if self._has_index:
            self._tree.remove([join(self._path, INDEX_NAME)])

    def _move(self, number: int, shard: Shard, local: str) -> None:
        try:
            target = join(self._path, shard_name(number))
            if self._rename:
                _place(local, target)
                self._report.moved(shard.size_bytes)
            else:
                outcome = OneShard(self._report, self._ending)
                job = Job(local, target, shard.size_bytes, digest="crc32:" + shard.crc32)
                self._tree.send([job], outcome, self._how)
                outcome.settle()
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(local)
        self._confirm(number, shard)

    def _confirm(self, number: int, shard: Shard) -> None:
        with self._lock:
            self._confirmed[number] = shard
            self._write_partial()

    def _write_partial(self) -> None:
        body = {"%d" % number: list(shard) for number, shard in self._confirmed.items()}
        data = json.dumps(body).encode("ascii")
        self._tree.write(join(self._path, PARTIAL_NAME), [data], len(data))
        self._has_partial = True

    def _read_known(self) -> Dict[int, Shard]:
        try:
            if self._has_index:
                shards = parse_header(first_line(self._tree, join(self._path, INDEX_NAME)), self._path).shards
                return dict(enumerate(shards))
            if self._has_partial:
                body = json.loads(b"".join(self._tree.read(join(self._path, PARTIAL_NAME))).decode("ascii"))
                return {int(number): Shard(int(size), str(crc)) for number, (size, crc) in body.items()}
        except (Damaged, NotFound, ValueError, TypeError, AttributeError):
            pass  # then every shard is sent again
        return {}

    def _reported(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self.check()
            yield piece
            self._report.moved(len(piece))


class OneShard(Report):
    """Listens to the transfer of one shard."""

    def __init__(self, report: Report, ending: threading.Event) -> None:
        self._report = report
        self._ending = ending
        self._done = False
        self._error: Optional[InsideError] = None

    def moved(self, count: int) -> None:
        self._report.moved(count)

    def stopping(self) -> bool:
        return self._ending.is_set() or self._report.stopping()

    def done(self, job: Job) -> None:
        self._done = True
        self._report.done(job)

    def failed(self, job: Job, error: InsideError) -> None:
        self._error = error

    def settle(self) -> None:
        if self._error is not None:
            raise self._error
        if not self._done:
            raise Stopped


def _shard_pieces(found: Found, head: bytes, crcs: List[int]) -> Iterator[bytes]:
    """A whole shard of one file; leaves the crc32 of the shard and of the file in `crcs`."""
    crcs[0] = zlib.crc32(head)
    yield head
    for piece in read_pieces(found):
        crcs[0], crcs[1] = zlib.crc32(piece, crcs[0]), zlib.crc32(piece, crcs[1])
        yield piece
    tail = bytes(padding(found.size_bytes)) + END
    crcs[0] = zlib.crc32(tail, crcs[0])
    yield tail


def _index_pieces(first: bytes, lines: IO[bytes]) -> Iterator[bytes]:
    yield first
    while True:
        piece = lines.read(1 << 20)
        if not piece:
            return
        yield piece


def _place(local: str, target: str) -> None:
    try:
        fd = os.open(local, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(local, target)
    except OSError as error:
        raise explain(error, target) from None
