"""Objects into files: small ones in one request, large ones in ranges, each whole before it has its name."""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import os
import threading
import zlib
from typing import Dict, Iterable, List, Optional, Set, Tuple

from ..errors import Changed, Damaged, InsideError, PlaceError, StoreFull
from ..move.base import Job, Moving, Report
from ..net.connection import CHUNK_BYTES, Connection, Head, Steps, Unreachable
from ..net.retry import Again, Patience
from ..net.splicing import Pipe, can_splice, splice
from ..signing.v4 import EMPTY_SHA256
from . import wire
from .client import byte_range
from .jobs import Jobs
from .server import Server
from .upload import part_size

#: Objects up to this size come in one request.
SINGLE_BYTES = 64 << 20
_NAME_LIMIT_BYTES = 255


def part_name(local: str) -> str:
    """Where a file is written before it is whole: beside its final place, hidden, the same for every try."""
    folder, _, name = local.rpartition("/")
    aside = ".%s.outlast-part" % name
    # Four bytes are the most that a character takes; counting them is worth it only for long names.
    if len(aside) > _NAME_LIMIT_BYTES // 4 and len(os.fsencode(aside)) > _NAME_LIMIT_BYTES:
        aside = ".%s.outlast-part" % hashlib.sha256(os.fsencode(name)).hexdigest()
    return "%s/%s" % (folder, aside)


class Downloads(Jobs):
    """The work of fetching objects."""

    #: What arrives does not pass through this program's cache, and a thread with one connection waits for the server.
    parts_nearby = 8

    def __init__(self, server: Server, jobs: Iterable[Optional[Job]], report: Report, how: Moving) -> None:
        super().__init__(jobs, report)
        self._server = server
        self._how = how
        # Filled and written out between two waits, so that all steps of one thread can share it.
        self._buffers = threading.local()

    def begin(self, job: Job) -> Optional[Steps[None]]:
        if job.size_bytes <= (self._how.part_bytes or SINGLE_BYTES):
            return self.guarded(job, self._single(job))
        try:
            self._begin(job)
        except OSError as error:
            self.end(job, _in_our_words(job, error))
        return None

    def _single(self, job: Job) -> Steps[None]:
        for last in (False, False, True):
            try:
                yield from self._whole(job)
                return
            except Damaged:
                # A damaged way is rarely damaged twice; a damaged object is, and then it is named.
                self.report.moved(-job.size_bytes)
                if last:
                    raise

    def _whole(self, job: Job) -> Steps[None]:
        aside = part_name(job.local)
        descriptor = os.open(aside, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        try:
            crc, stated = yield from self._range(descriptor, job, 0, job.size_bytes, whole=True)
            if stated and base64.b64encode(crc.to_bytes(4, "big")).decode("ascii") != stated:
                raise Damaged("%s arrived damaged: its checksum differs" % job.path)
            self._check_fully(job, descriptor)
            if job.modified_ns:
                os.utime(descriptor, ns=(job.modified_ns, job.modified_ns))
        except OSError as error:
            os.unlink(aside)
            raise _in_our_words(job, error) from None
        except BaseException:
            os.unlink(aside)
            raise
        finally:
            os.close(descriptor)
        os.replace(aside, job.local)

    def _range(
        self, descriptor: int, job: Job, start: int, length: int, whole: bool = False
    ) -> Steps[Tuple[int, Optional[str]]]:
        """Fetch bytes to where they belong, going on where a broken try ended. The CRC of a whole object, too."""
        got, crc, stated = 0, 0, None
        patience: Optional[Patience] = None
        while True:
            again: Optional[Again] = None
            try:
                headers = self._headers(job, start + got, length - got, whole and got == 0)
                connection, head = yield from self._server.exchange("GET", job.path, (), headers, b"", EMPTY_SHA256)
                if head.status not in (200, 206):
                    body = yield from connection.receive_body(head, "GET")
                    self._server.http.give_back(connection)
                    raise self._trouble(job, head, body)
                if whole and got == 0:
                    stated = wire.crc_of(head.headers)
                _check_length(connection, job, head, length - got)
                summed = stated is not None
                while got < length:
                    if not summed and length - got > CHUNK_BYTES and can_splice(connection):
                        count = yield from splice(connection, self._pipe, descriptor, start + got, length - got)
                    else:
                        count = yield from self._piece(connection, descriptor, start + got, length - got)
                    if not count:
                        connection.cut_short(got, length)
                    if summed:
                        crc = zlib.crc32(self._view[:count], crc)
                    got += count
                    self.report.moved(count)
                if head.keep:
                    self._server.http.give_back(connection)
                else:
                    connection.close()
                return crc, stated
            except Unreachable as error:
                again = Again(error)
            except Again as error:
                again = error
            patience = patience or Patience(self._server.policy)
            try:
                pause = patience.pause_s(again)
            except InsideError:
                self.report.moved(-got)
                raise
            yield pause

    @property
    def _view(self) -> memoryview:
        view: Optional[memoryview] = getattr(self._buffers, "view", None)
        if view is None:
            view = self._buffers.view = memoryview(bytearray(CHUNK_BYTES))
        return view

    @property
    def _pipe(self) -> Pipe:
        pipe: Optional[Pipe] = getattr(self._buffers, "pipe", None)
        if pipe is None or not pipe.is_open:
            pipe = self._buffers.pipe = Pipe()
        return pipe

    def _piece(self, connection: Connection, descriptor: int, offset: int, left: int) -> Steps[int]:
        view = self._view
        count = yield from connection.receive_into(view[:left] if left < CHUNK_BYTES else view)
        written = 0
        while written < count:
            written += os.pwrite(descriptor, view[written:count], offset + written)
        return count

    def _headers(self, job: Job, start: int, length: int, whole: bool) -> List[Tuple[str, str]]:
        headers = [] if whole else [("range", byte_range(start, length))]
        if job.tag:
            # Never one half of the old object and one of the new.
            headers.append(("if-match", '"%s"' % job.tag))
        if whole and self._server.checks_crc is not False:
            headers.append(("x-amz-checksum-mode", "ENABLED"))
        return headers

    def _trouble(self, job: Job, head: Head, body: bytes) -> Exception:
        if head.status == 412:
            return Changed("%s changed while it was copied; copy it again" % job.path)
        return self._server.trouble("GET", job.path, head, body)

    def _check_fully(self, job: Job, descriptor: int) -> None:
        """Compare with the digest that the listing gave, when that was asked for."""
        kind, _, expected = job.digest.partition(":")
        if not self._how.full_check or kind != "md5":
            return
        digest = hashlib.md5()
        offset = 0
        while True:
            block = os.pread(descriptor, CHUNK_BYTES, offset)
            if not block:
                break
            digest.update(block)
            offset += len(block)
        if digest.hexdigest() != expected:
            raise Damaged("%s arrived damaged: its MD5 is %s, not %s" % (job.path, digest.hexdigest(), expected))

    def _begin(self, job: Job) -> None:
        """Open the partial file, an earlier try's if it is of the same object, and queue the missing ranges."""
        size = part_size(job.size_bytes, self._how.part_bytes)
        large = _Large(job, size)
        missing = [
            self._part(large, number, offset, min(size, job.size_bytes - offset))
            for number, offset in enumerate(range(0, job.size_bytes, size))
            if number not in large.have
        ]
        large.missing = len(missing)
        self.report.moved(sum(min(size, job.size_bytes - number * size) for number in large.have))
        if missing:
            self.queue(missing)
        else:
            self._complete(large)

    def _part(self, large: _Large, number: int, offset: int, length: int) -> Steps[None]:
        if large.ended:
            return
        try:
            yield from self._range(large.descriptor, large.job, offset, length)
            large.note(number)
        except (InsideError, OSError) as error:
            self._give_up(large, error)
            return
        with self.lock:
            large.missing -= 1
            last = large.missing == 0 and not large.ended
        if last:
            self._complete(large)

    def _complete(self, large: _Large) -> None:
        try:
            self._check_fully(large.job, large.descriptor)
            large.finish()
        except (InsideError, OSError) as error:
            if isinstance(error, Damaged):
                large.forget()
            self._give_up(large, error)
            return
        self.end(large.job)

    def _give_up(self, large: _Large, error: Exception) -> None:
        with self.lock:
            first, large.ended = not large.ended, True
        if first:
            if isinstance(error, Changed):
                large.forget()
            self.end(large.job, error if isinstance(error, InsideError) else _in_our_words(large.job, error))


class _Large:
    """A file that comes in ranges. What has arrived is noted beside it, so that a later try goes on."""

    def __init__(self, job: Job, part_bytes: int) -> None:
        self.job = job
        self.path = part_name(job.local)
        self._notes_path = self.path + ".json"
        self.descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        self.missing = 0
        self.ended = False
        facts = {"path": job.path, "size": job.size_bytes, "tag": job.tag, "time": job.modified_ns, "part": part_bytes}
        self.have = self._read(facts) if job.tag or job.modified_ns else set()
        if not self.have:
            with open(self._notes_path, "w", encoding="utf-8") as file:
                file.write(json.dumps(facts) + "\n")
        os.ftruncate(self.descriptor, job.size_bytes)

    def _read(self, facts: Dict[str, object]) -> Set[int]:
        try:
            with open(self._notes_path, encoding="utf-8") as file:
                if json.loads(file.readline()) != facts or os.fstat(self.descriptor).st_size != self.job.size_bytes:
                    return set()
                # The last line may be torn: a number without its line break does not count.
                return {int(line) for line in file if line.endswith("\n")}
        except (OSError, ValueError):
            return set()

    def note(self, number: int) -> None:
        with open(self._notes_path, "a", encoding="utf-8") as file:
            file.write("%d\n" % number)

    def finish(self) -> None:
        if self.job.modified_ns:
            os.utime(self.descriptor, ns=(self.job.modified_ns, self.job.modified_ns))
        self.close()
        os.replace(self.path, self.job.local)
        os.unlink(self._notes_path)

    def forget(self) -> None:
        """What is here is of no use to a later try."""
        for path in (self._notes_path, self.path):
            try:
                os.unlink(path)
            except OSError:
                pass

    def close(self) -> None:
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    __del__ = close


def _in_our_words(job: Job, error: Exception) -> InsideError:
    code = error.errno if isinstance(error, OSError) else None
    kind = StoreFull if code in (errno.ENOSPC, errno.EDQUOT) else PlaceError
    return kind("cannot write %s: %s" % (job.local, os.strerror(code) if code else error))


def _check_length(connection: Connection, job: Job, head: Head, length: int) -> None:
    said = connection.body_length(head, "GET")
    if said != length:
        connection.close()
        raise Changed("%s has another size than listed (%s, not %d bytes)" % (job.path, said, length))
