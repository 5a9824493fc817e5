"""HDFS as a tree of files: what people keep there, and moving many of them at once."""

from __future__ import annotations

import os
import posixpath
import zlib
from typing import Iterable, Iterator, List, Optional, Sequence

from ..errors import Changed, Damaged, InsideError, NotFound, PlaceError
from ..faults import explain
from ..move import base
from ..move.aside import is_part
from ..move.base import Item, Job, Moving, Report, Tree
from ..move.copying import Tally
from ..net.retry import Policy
from ..stores.access import Access
from ..stores.base import CHUNK_BYTES
from . import wire
from .client import PATIENT, HdfsClient, Part
from .fetching import Fetching
from .wire import NotEmpty, Status

_KINDS = {wire.FILE: base.FILE, wire.FOLDER: base.FOLDER, wire.LINK: base.LINK}


class HdfsTree(Tree):
    """Files under one name node. A file that is written appears whole, by one rename, or not at all."""

    def __init__(self, access: Access, authority: str, policy: Policy = PATIENT) -> None:
        self.client = HdfsClient(access, authority, policy)
        self.url = self.client.url

    def stat(self, path: str) -> Optional[Item]:
        found = self.client.status(path)
        return None if found is None else _item(path, found)

    def walk(self, path: str) -> Iterator[Item]:
        ahead = [iter(self._entries(path))]
        while ahead:
            item = next(ahead[-1], None)
            if item is None:
                ahead.pop()
                continue
            below = self._entries(item.path) if item.kind == base.FOLDER else []
            if below:
                ahead.append(iter(below))
            else:
                yield item

    def children(self, path: str) -> Iterator[Item]:
        return iter(self._entries(path))

    def read(self, path: str, start: int = 0, length: Optional[int] = None) -> Iterator[bytes]:
        return self.client.read(path, start, length)

    def write(self, path: str, pieces: Iterable[bytes], size_bytes: int) -> None:
        part = self.client.put_aside(posixpath.dirname(path), lambda: iter(pieces), tries=1)
        if part.size_bytes != size_bytes:
            self.client.discard(part.path)
            raise Damaged("%s: %d bytes came instead of %d" % (path, part.size_bytes, size_bytes))
        self.client.settle(part, path, overwrite=True)

    def remove(self, paths: Sequence[str]) -> None:
        for path in paths:
            try:
                self.client.delete(path)
            except NotEmpty:
                # What killed writers left is not shown, so it must not keep a folder that looks empty.
                if self._entries(path):
                    raise
                self.client.delete(path, recursive=True)

    def make_folder(self, path: str) -> None:
        self.client.make_folders(path)

    def send_one(self, job: Job, report: Report, how: Moving) -> None:
        sending = _Sending(job, Tally(report))
        try:
            part = self.client.put_aside(posixpath.dirname(job.path), sending.pieces)
            try:
                sending.check_still()
                if how.full_check:
                    self._check_fully(part, sending.crc)
            except InsideError:
                self.client.discard(part.path)
                raise
            self.client.settle(part, job.path, overwrite=True)
        except InsideError:
            sending.tally.take_back()
            raise
        finally:
            sending.close()

    def fetch_one(self, job: Job, report: Report, how: Moving) -> None:
        Fetching(self.client, job, Tally(report)).run(how.full_check)

    def _check_fully(self, part: Part, crc: int) -> None:
        arrived = 0
        for piece in self.client.read(part.path):
            arrived = zlib.crc32(piece, arrived)
        if arrived != crc:
            raise Damaged("%s%s: what arrived has another checksum than what was sent" % (self.url, part.path))

    def _entries(self, folder: str) -> List[Item]:
        """What is in a folder, sorted as whole paths are; nothing when it is none, or gone."""
        try:
            found = [each for each in self.client.list(folder) if each.name and not is_part(each.name)]
        except NotFound:
            return []
        found.sort(key=lambda each: each.name + "/" if each.is_folder else each.name)
        return [_item(posixpath.join(folder, each.name), each) for each in found]


class _Sending:
    """A local file on its way: read afresh for every try, and watched for changes."""

    def __init__(self, job: Job, tally: Tally) -> None:
        self.tally = tally
        self.crc = 0
        self._path = job.local
        try:
            self._fd = os.open(job.local, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise NotFound(job.local) from None
        except OSError as error:
            raise explain(error, job.local) from None
        self._before = os.fstat(self._fd)

    def pieces(self) -> Iterator[bytes]:
        self.tally.take_back()
        self.crc = position = 0
        while True:
            try:
                piece = os.pread(self._fd, CHUNK_BYTES, position)
            except OSError as error:
                raise explain(error, self._path) from None
            if not piece:
                return
            position += len(piece)
            self.crc = zlib.crc32(piece, self.crc)
            self.tally.add(len(piece))
            yield piece

    def check_still(self) -> None:
        """`Changed` when the file is not what it was when it was opened."""
        try:
            after = os.stat(self._path)
        except OSError:
            raise Changed("%s vanished while it was read" % self._path) from None
        before = self._before
        if (after.st_ino, after.st_size, after.st_mtime_ns) != (before.st_ino, before.st_size, before.st_mtime_ns):
            raise Changed("%s changed while it was read; copy it again when nothing writes to it" % self._path)

    def close(self) -> None:
        os.close(self._fd)


def _item(path: str, found: Status) -> Item:
    kind = _KINDS.get(found.kind)
    if kind is None:
        raise PlaceError("%s is a %s, which is no kind of file known here" % (path, found.kind))
    is_file = kind == base.FILE
    return Item(
        path, found.size_bytes if is_file else 0, found.modified_ms * 1_000_000, kind, "", found.tag if is_file else "",
        found.target,
    )  # fmt: skip
