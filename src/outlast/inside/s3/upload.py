"""Files into a bucket: small ones in one request, large ones in parts, many at once, each checked on the way."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from ..errors import Changed, InsideError, NotFound, PlaceError, RequestError
from ..move.base import Job, Moving, Report
from ..net.connection import FilePart, Steps
from . import wire
from .jobs import Jobs
from .multipart import Begun, begin, end_doubles
from .server import Server
from .wire import Part

#: Files up to this size go in one request.
SINGLE_BYTES = 32 << 20
_SMALLEST_PART_BYTES = 32 << 20
_MOST_PARTS = 10_000
#: Read whole and sent with the headers in one system call.
_IN_MEMORY_BYTES = 256 << 10
_BLOCK_BYTES = 512 << 10
_CRC = "x-amz-checksum-crc32"


def part_size(size_bytes: int, wanted: int = 0) -> int:
    """A part size that keeps a file within the ten thousand parts a store takes."""
    least = max(wanted or _SMALLEST_PART_BYTES, -(-size_bytes // _MOST_PARTS))
    return -(-least // (1 << 20)) << 20


class Uploads(Jobs):
    """The work of sending files."""

    def __init__(self, server: Server, jobs: Iterable[Optional[Job]], report: Report, how: Moving) -> None:
        super().__init__(jobs, report)
        self._server = server
        self._how = how

    def begin(self, job: Job) -> Steps[None]:
        if job.size_bytes <= (self._how.part_bytes or SINGLE_BYTES):
            return self.guarded(job, self._single(job))
        return self.guarded(job, self._begin(job), last=False)

    def _single(self, job: Job) -> Steps[None]:
        descriptor = os.open(job.local, os.O_RDONLY | os.O_CLOEXEC)
        try:
            check_same(job, descriptor)
            yield from self._put(descriptor, job, 0, job.size_bytes, ())
            check_same(job, descriptor)
        finally:
            os.close(descriptor)

    def _put(
        self, descriptor: int, job: Job, offset: int, length: int, query: Sequence[Tuple[str, str]]
    ) -> Steps[Part]:
        """Send bytes of a file as an object or as a part of one, with a checksum the server compares."""
        server = self._server
        small = length <= _IN_MEMORY_BYTES
        body: Any = os.pread(descriptor, length, offset) if small else FilePart(descriptor, offset, length)
        if small and len(body) != length:
            raise Changed("%s became shorter while it was read" % job.local)
        while True:
            sum_name, text = checksum(server, body)
            answer = yield from server.call("PUT", job.path, query, [(sum_name, text)], body, ok=(200, 201, 204))
            if sum_name == _CRC:
                server.checks_crc = _CRC in answer.head.headers
                if not server.checks_crc:
                    # This server ignored the CRC: the first files go again, with the older checksum.
                    continue
            self.report.moved(length)
            tag = answer.head.header("etag").strip('"')
            return Part(0, tag, length, text if sum_name == _CRC else "")

    def _begin(self, job: Job) -> Steps[None]:
        """Open a multipart upload, or go on with the one that an earlier try left, and queue the missing parts."""
        size = part_size(job.size_bytes, self._how.part_bytes)
        journal = Journal(self._how.journal, self._server.url, job, size)
        upload, have = yield from self._resume(job, journal)
        begun = Begun(upload)
        if not upload:
            begun = yield from self._create(job.path)
            journal.write(begun.upload)
        descriptor = os.open(job.local, os.O_RDONLY | os.O_CLOEXEC)
        large = _Large(job, begun, descriptor, journal)
        try:
            check_same(job, descriptor)
        except BaseException:
            large.close()
            raise
        offsets = range(0, job.size_bytes, size)
        missing: List[Steps[None]] = []
        for number, offset in enumerate(offsets, 1):
            length = min(size, job.size_bytes - offset)
            part = have.get(number)
            if part is not None and part.size_bytes == length:
                large.parts.append(part)
                self.report.moved(length)
            else:
                missing.append(self._part(large, number, offset, length))
        large.missing = len(missing)
        self.queue(missing or [self._complete(large)])

    def _create(self, key: str) -> Steps[Begun]:
        headers = [("x-amz-checksum-algorithm", "CRC32")] if self._server.checks_crc is not False else []
        return begin(self._server, key, headers)

    def _resume(self, job: Job, journal: Journal) -> Steps[Tuple[str, Dict[int, Part]]]:
        """The upload that the journal knows, and those of its parts that the server still has."""
        upload, noted = journal.read()
        if not upload:
            return "", {}
        have: Dict[int, Part] = {}
        after = 0
        try:
            while True:
                query = [("uploadId", upload), ("max-parts", "1000"), ("part-number-marker", str(after))]
                answer = yield from self._server.call("GET", job.path, query)
                parts, after = wire.parts_of(answer.body)
                # Servers do not repeat the checksum that completing asks for; the journal has it.
                have.update((part.number, noted[part.number]) for part in parts if part.same_as(noted.get(part.number)))
                if not after:
                    return upload, have
        except (NotFound, RequestError):
            journal.forget()
            return "", {}

    def _part(self, large: _Large, number: int, offset: int, length: int) -> Steps[None]:
        if large.ended:
            return
        try:
            query = [("partNumber", str(number)), ("uploadId", large.begun.upload)]
            part = yield from self._put(large.descriptor, large.job, offset, length, query)
            part = part._replace(number=number)
            large.journal.note(part)
            with self.lock:
                large.parts.append(part)
                large.missing -= 1
                last = large.missing == 0 and not large.ended
            if last:
                self.queue([self._complete(large)])
        except (InsideError, OSError) as error:
            self._give_up(large, error)

    def _complete(self, large: _Large) -> Steps[None]:
        job = large.job
        try:
            check_same(job, large.descriptor)
            yield from complete(self._server, job.path, large.begun.upload, large.parts)
            yield from end_doubles(self._server, job.path, large.begun)
        except (InsideError, OSError) as error:
            self._give_up(large, error)
            return
        large.journal.forget()
        large.close()
        self.end(job)

    def _give_up(self, large: _Large, error: Exception) -> None:
        with self.lock:
            first, large.ended = not large.ended, True
        if first:
            self.end(large.job, error if isinstance(error, InsideError) else unreadable(large.job, error))


class _Large:
    """A file that goes in parts. Its descriptor lives until the last part is in, or the object is dropped."""

    def __init__(self, job: Job, begun: Begun, descriptor: int, journal: Journal) -> None:
        self.job = job
        self.begun = begun
        self.descriptor = descriptor
        self.journal = journal
        self.parts: List[Part] = []
        self.missing = 0
        self.ended = False

    def close(self) -> None:
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    __del__ = close


class Journal:
    """Remembers the multipart upload of one file, so that a later try sends only what is missing.

    Good for exactly this file, size, time, target and part size: anything else begins anew.
    """

    def __init__(self, folder: str, url: str, job: Job, part_bytes: int) -> None:
        facts = [url, job.path, job.local, job.size_bytes, job.modified_ns, part_bytes]
        name = hashlib.sha256(json.dumps(facts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._path = os.path.join(folder, name + ".upload") if folder else ""

    def read(self) -> Tuple[str, Dict[int, Part]]:
        """The upload's id and the parts that went in, or nothing."""
        if not self._path:
            return "", {}
        try:
            with open(self._path, encoding="utf-8") as file:
                upload = file.readline().strip()
                # The last line may be torn.
                parts = [Part(*json.loads(line)) for line in file if line.endswith("\n")]
        except (OSError, ValueError, TypeError):
            return "", {}
        return upload, {part.number: part for part in parts}

    def write(self, upload: str) -> None:
        """A journal that cannot be written only makes a later try slower."""
        if self._path:
            try:
                os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
                with open(self._path, "w", encoding="utf-8") as file:
                    file.write(upload + "\n")
            except OSError:
                self._path = ""

    def note(self, part: Part) -> None:
        if self._path:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(json.dumps(part) + "\n")

    def forget(self) -> None:
        if self._path:
            try:
                os.unlink(self._path)
            except OSError:
                pass


def complete(server: Server, key: str, upload: str, parts: List[Part], if_absent: bool = False) -> Steps[bool]:
    """Put the parts together. False when `if_absent` and the key is there already.

    When the answer to a first try got lost, the upload is gone and the object is there: that is success.
    """
    headers = [("content-type", "application/xml")]
    if if_absent:
        headers.append(("if-none-match", "*"))
    body = wire.completion(parts)
    query = [("uploadId", upload)]
    answer = yield from server.call("POST", key, query, headers, body, ok=(200, 404, 409, 412))
    if answer.status == 200:
        return True
    if answer.status in (409, 412):
        return False
    size = sum(part.size_bytes for part in parts)
    head = yield from server.call("HEAD", key, ok=(200, 404))
    if head.status == 200 and int(head.head.header("content-length", "-1")) == size:
        return True
    raise PlaceError("the upload of %s/%s was ended by somebody else; copy it again" % (server.url, key))


def checksum(server: Server, body: Any) -> Tuple[str, str]:
    """The header by which the server checks these bytes: a CRC where it knows that, MD5 elsewhere."""
    if server.checks_crc is False:
        return "content-md5", base64.b64encode(_folded(body, hashlib.md5()).digest()).decode("ascii")
    value = zlib.crc32(body) if isinstance(body, bytes) else _crc_of(body)
    return _CRC, base64.b64encode(value.to_bytes(4, "big")).decode("ascii")


def _blocks(part: FilePart) -> Iterator[memoryview]:
    """The bytes of a part of a file, through one small buffer that stays in the processor's cache."""
    view = memoryview(bytearray(min(_BLOCK_BYTES, part.length)))
    offset, end = part.offset, part.offset + part.length
    while offset < end:
        count = os.preadv(part.descriptor, [view[: end - offset]], offset)
        if not count:
            raise Changed("the file became shorter while it was read")
        offset += count
        yield view[:count]


def _crc_of(part: FilePart) -> int:
    value = 0
    for block in _blocks(part):
        value = zlib.crc32(block, value)
    return value


def _folded(body: Any, digest: Any) -> Any:
    for block in [body] if isinstance(body, bytes) else _blocks(body):
        digest.update(block)
    return digest


def check_same(job: Job, descriptor: int) -> None:
    """`Changed` when the open file is not the one that was listed."""
    status = os.fstat(descriptor)
    if status.st_size != job.size_bytes or (job.modified_ns and status.st_mtime_ns != job.modified_ns):
        raise Changed("%s changed while it was copied; copy it again" % job.local)


def unreadable(job: Job, error: Exception) -> InsideError:
    words = error.strerror if isinstance(error, OSError) else str(error)
    return RequestError("cannot read %s: %s" % (job.local, words))
