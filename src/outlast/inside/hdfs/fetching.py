"""One file from HDFS onto this machine: written beside its place, continued after an interruption, verified."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import zlib
from typing import Dict

from ..errors import Changed, Damaged, NotFound, PlaceError
from ..faults import explain
from ..move.base import Job
from ..move.copying import Tally
from ..stores.base import CHUNK_BYTES
from .client import HdfsClient

#: Smaller files are simply fetched again.
RESUME_FROM_BYTES = 8 << 20
_NAME_LIMIT_BYTES = 255


class Fetching:
    """One try of one job. What arrived of a large file stays when it fails, with a note of what it is a part of."""

    def __init__(self, client: HdfsClient, job: Job, tally: Tally) -> None:
        self._client = client
        self._job = job
        self._tally = tally
        self._path = part_name(job.local)
        self._note_path = self._path + ".json"
        self._resumable = job.size_bytes >= RESUME_FROM_BYTES

    def run(self, full_check: bool) -> None:
        """Fetch the file to `job.local`, which is as it was until all of it is there."""
        try:
            fd = self._open()
            try:
                self._run(fd, full_check)
            finally:
                os.close(fd)
        except OSError as error:
            raise explain(error, self._job.local) from None

    def _run(self, fd: int, full_check: bool) -> None:
        job = self._job
        try:
            tag = job.tag or self._tag()
            self._receive(fd, tag)
            if full_check and self._crc_there(tag) != _crc_of(fd):
                raise Damaged("%s arrived with another checksum" % job.path)
            if job.modified_ns:
                os.utime(fd, ns=(job.modified_ns, job.modified_ns))
            os.replace(self._path, job.local)
            _remove(self._note_path)
        except BaseException as error:
            self._tally.take_back()
            if not self._resumable or isinstance(error, (Changed, Damaged, NotFound)):
                _remove(self._note_path)
                _remove(self._path)
            raise

    def _receive(self, fd: int, tag: str) -> None:
        job = self._job
        start = self._continue_from(fd, tag)
        os.ftruncate(fd, start)
        os.lseek(fd, start, os.SEEK_SET)
        if start:
            self._tally.add(start)
        for piece in self._client.read(job.path, start, None, tag):
            view = memoryview(piece)
            while view:
                view = view[os.write(fd, view) :]
            self._tally.add(len(piece))
        size = os.fstat(fd).st_size
        if size != job.size_bytes:
            raise Changed("%s has %d bytes now instead of %d; copy it again" % (job.path, size, job.size_bytes))

    def _tag(self) -> str:
        found = self._client.status(self._job.path)
        if found is None or not found.is_file:
            raise NotFound(self._job.path)
        return found.tag

    def _continue_from(self, fd: int, tag: str) -> int:
        """How much of the very same file an earlier try brought; notes what this one is about."""
        if not self._resumable:
            return 0
        facts: Dict[str, str] = {"path": self._client.url + self._job.path, "tag": tag}
        with contextlib.suppress(OSError, ValueError):
            with open(self._note_path, encoding="utf-8") as file:
                if json.load(file) == facts:
                    return min(os.fstat(fd).st_size, self._job.size_bytes)
        os.ftruncate(fd, 0)  # before the note: bytes of another file must never be taken for this one's
        with open(self._note_path, "w", encoding="utf-8") as file:
            json.dump(facts, file)
        return 0

    def _open(self) -> int:
        """The part, locked: two writers would spoil each other's bytes."""
        while True:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(fd)
                raise PlaceError("%s is being fetched by another process" % self._job.local) from None
            except OSError:
                return fd  # a file system without locks
            # Whoever held the lock may have finished: then this is the file itself now, and no part.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(fd), os.stat(self._path)):
                    return fd
            os.close(fd)

    def _crc_there(self, tag: str) -> int:
        value = 0
        for piece in self._client.read(self._job.path, 0, None, tag):
            value = zlib.crc32(piece, value)
        return value


def part_name(local: str) -> str:
    """Where a file is written before it is whole: hidden beside its place, and the same for every try."""
    folder, name = os.path.split(local)
    aside = ".%s.outlast-part" % name
    if len(os.fsencode(aside + ".json")) > _NAME_LIMIT_BYTES:
        aside = ".%s.outlast-part" % hashlib.sha256(os.fsencode(name)).hexdigest()
    return os.path.join(folder, aside)


def _crc_of(fd: int) -> int:
    value = position = 0
    while True:
        piece = os.pread(fd, CHUNK_BYTES, position)
        if not piece:
            return value
        value = zlib.crc32(piece, value)
        position += len(piece)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
