"""What people keep in a bucket, as the mover sees it."""

from __future__ import annotations

import time
from typing import Iterable, Iterator, List, Optional, Sequence

from ..errors import RequestError
from ..move.base import FOLDER, USUAL, Item, Job, Moving, Report, Tree
from ..net.connection import Unreachable
from ..net.drive import finish
from ..net.retry import Again, Patience, Policy
from ..signing.v4 import quote_path
from ..stores.access import Access
from . import jobs as lanes
from .client import S3Client, byte_range
from .hands import FETCH, MOVES, SEND, Hands, Task, hands_for
from .multipart import abandon, begin, end_doubles
from .stream import put_stream
from .upload import complete
from .wire import Part, parse

#: What a server copies in one request.
LARGEST_COPY_BYTES = 5 << 30
_COPY_PART_BYTES = 1 << 30


class S3Tree(Tree):
    """One bucket. Folders are what keys share before a slash; an empty one is an object whose name ends with one."""

    def __init__(self, access: Access, bucket: str, policy: Optional[Policy] = None) -> None:
        self.client = S3Client(access, bucket, policy)
        self.url = self.client.url

    def stat(self, path: str) -> Optional[Item]:
        if not path:
            return Item("", 0, 0, FOLDER) if self.client.head_bucket() else None
        found = self.client.head(path)
        if found is not None:
            return found
        below = next(self.client.list(path + "/"), None)
        return None if below is None else Item(path, 0, 0, FOLDER)

    def walk(self, path: str) -> Iterator[Item]:
        prefix = path + "/" if path else ""
        waiting: Optional[Item] = None  # a folder marker, shown only when nothing below it follows
        for item in self.client.list(prefix):
            if waiting is not None and not item.path.startswith(waiting.path + "/"):
                yield waiting
            waiting = None
            if item.kind != FOLDER:
                yield item
            elif item.path != path:
                waiting = item
        if waiting is not None:
            yield waiting

    def children(self, path: str) -> Iterator[Item]:
        prefix = path + "/" if path else ""
        return (item for item in self.client.list(prefix, delimiter="/") if item.path != path)

    def read(self, path: str, start: int = 0, length: Optional[int] = None) -> Iterator[bytes]:
        """The stream goes on where it broke; when the object changed meanwhile the reader is told."""
        if length == 0:
            return
        patience = Patience(self.client.server.policy)
        got, tag = 0, ""
        while True:
            try:
                left = None if length is None else length - got
                with self.client.open(path, start + got, left) as response:
                    if response.status == 416:
                        return
                    if tag and response.header("etag") != tag:
                        raise RequestError("%s/%s changed while it was read" % (self.url, path))
                    tag = response.header("etag")
                    for piece in response.pieces():
                        got += len(piece)
                        yield piece
                return
            except Unreachable as error:
                again = Again(error)
            except Again as error:
                again = error
            time.sleep(patience.pause_s(again))

    def write(self, path: str, pieces: Iterable[bytes], size_bytes: int) -> None:
        put_stream(self.client.server, path, pieces, size_bytes)

    def remove(self, paths: Sequence[str]) -> None:
        keys: List[str] = []
        for path in paths:
            keys += [path, path + "/"]
        self.client.delete(keys)

    def make_folder(self, path: str) -> None:
        if path:
            self.client.put(path + "/", b"")

    def copy_within(self, source: str, target: str, size_bytes: int) -> bool:
        if size_bytes <= LARGEST_COPY_BYTES:
            self.client.copy(self.client.bucket, source, target)
        else:
            self.copy_in_parts(source, target, size_bytes)
        return True

    def copy_in_parts(self, source: str, target: str, size_bytes: int) -> None:
        """Copy an object that is too large for one request."""
        server = self.client.server
        begun = finish(begin(server, target))
        parts: List[Part] = []
        try:
            for number, start in enumerate(range(0, size_bytes, _COPY_PART_BYTES), 1):
                length = min(_COPY_PART_BYTES, size_bytes - start)
                headers = [
                    (server.prefix + "copy-source", "/%s/%s" % (self.client.bucket, quote_path(source))),
                    (server.prefix + "copy-source-range", byte_range(start, length)),
                ]
                query = [("partNumber", str(number)), ("uploadId", begun.upload)]
                answer = finish(server.call("PUT", target, query, headers))
                tag = (parse(answer.body).findtext("ETag") or "").strip('"')
                parts.append(Part(number, tag, length))
            finish(complete(server, target, begun.upload, parts))
            finish(end_doubles(server, target, begun))
        except BaseException:
            abandon(server, target, begun)
            raise

    def send(self, jobs: Iterable[Job], report: Report, how: Moving = USUAL) -> None:
        self._move(SEND, jobs, report, how)

    def fetch(self, jobs: Iterable[Job], report: Report, how: Moving = USUAL) -> None:
        self._move(FETCH, jobs, report, how)

    def _move(self, verb: str, jobs: Iterable[Job], report: Report, how: Moving) -> None:
        server = self.client.server
        moves = MOVES[verb](server, jobs, report, how)
        hands = hands_for(jobs, server.http.secure)
        width = how.workers or max(1, lanes.WIDTH // (hands + 1))
        with Hands(hands, Task(verb, server.access, server.bucket, server.policy, how._replace(workers=width)), moves):
            lanes.run(moves, width if hands else how.workers, self._is_near)

    def _is_near(self) -> bool:
        return self.client.server.http.is_near
