"""The run folders that a server shows, as a store: whatever reads a run at home reads it there in the same way."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import BinaryIO, ClassVar, NoReturn

from outlast.errors import NotFoundError
from outlast.inside import layout
from outlast.inside.errors import NotFound, RequestError
from outlast.inside.net.http import Response
from outlast.inside.stores.base import Data, Entry, Store, check_key, check_prefix
from outlast.remote.server import Server, part_of, path_of

_SEGMENT = re.compile(r"runs/([^/]+)/stints/(\d+)/(log|metrics)/(\d+)")
_NO_SUCH_RANGE = 416


class ServedStore(Store):
    """Reads the folders of runs that the server lets us see; `run` is the one whose blobs are read.

    Nothing is written through it: only the server changes its store.
    """

    pace_s: ClassVar[float] = 1.0

    def __init__(self, server: Server, run: str) -> None:
        self.url = server.url
        self._server = server
        self._run = run
        self._ahead: dict[str, bytes] = {}
        self._reading_ahead = threading.Lock()

    def get(self, key: str) -> bytes:
        if _SEGMENT.fullmatch(key):
            return self._get_segment(key)
        try:
            with self._server.opened("GET", self._address(key)) as response:
                return response.read()
        except NotFoundError:
            raise NotFound(key) from None

    def get_range(self, key: str, start: int, length: int) -> bytes:
        if not length:
            return b""
        try:
            with self._part(key, start, length) as response:
                return b"" if response.status == _NO_SUCH_RANGE else response.read()
        except NotFoundError:
            raise NotFound(key) from None

    def head(self, key: str) -> Entry | None:
        sha256 = layout.blob_of_key(key)
        if sha256 is None:
            return next((entry for entry in self.list(key) if entry.key == key), None)
        try:
            with self._part(key, 0, 1) as response:
                response.read()
                size_bytes = int(response.header("content-range").rpartition("/")[2] or 0)
        except NotFoundError:
            return None
        return Entry(key, size_bytes, 0.0)

    def list(self, prefix: str) -> Iterator[Entry]:
        _, run, below = [*check_prefix(prefix).split("/", 2), "", ""][:3]
        if not prefix.startswith("runs/") or not run:
            raise RequestError(f"only the folder of one run can be listed, not {prefix!r}")
        try:
            query = [("prefix", below)]
            with self._server.opened("GET", f"/runs/{part_of(run)}/folder", query=query) as response:
                found = json.loads(response.read())
        except NotFoundError:
            return
        for entry in found["entries"]:
            yield Entry(f"runs/{found['run']}/{entry['key']}", entry["size_bytes"], entry["modified_at"])

    def read_into(self, key: str, target: BinaryIO) -> int:
        total = 0
        try:
            with self._server.opened("GET", self._address(key)) as response:
                for piece in response.pieces():
                    target.write(piece)
                    total += len(piece)
        except NotFoundError:
            raise NotFound(key) from None
        return total

    def put(self, key: str, data: Data) -> None:
        self._refuse()

    def put_if_absent(self, key: str, data: Data) -> bool:
        self._refuse()

    def delete(self, key: str) -> None:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise RequestError(f"the store of {self.url} is changed by that server only")

    def _part(self, key: str, start: int, length: int) -> AbstractContextManager[Response]:
        wanted = [("Range", f"bytes={start}-{start + length - 1}")]
        return self._server.opened("GET", self._address(key), wanted, accepts=(_NO_SUCH_RANGE,))

    def _get_segment(self, key: str) -> bytes:
        """One request brings many segments: a long training has thousands, and each is read once, in order."""
        with self._reading_ahead:
            if key not in self._ahead:
                self._ahead = self._read_ahead(key)
            try:
                return self._ahead.pop(key)
            except KeyError:
                raise NotFound(key) from None

    def _read_ahead(self, key: str) -> dict[str, bytes]:
        match = _SEGMENT.fullmatch(key)
        assert match is not None
        run, stint, kind, number = match.groups()
        query = [("stint", int(stint)), ("kind", kind), ("first", int(number))]
        try:
            with self._server.opened("GET", f"/runs/{part_of(run)}/segments", query=query) as response:
                body = response.read()
        except NotFoundError:
            return {}
        found: dict[str, bytes] = {}
        base = key.rpartition("/")[0]
        at = 0
        while at < len(body):
            end = body.index(b"\n", at)
            name, size_bytes = body[at:end].split(b" ")
            at = end + 1 + int(size_bytes)
            found[f"{base}/{int(name):06d}"] = body[end + 1 : at]
        return found

    def _address(self, key: str) -> str:
        check_key(key)
        sha256 = layout.blob_of_key(key)
        if sha256 is not None:
            return f"/runs/{part_of(self._run)}/blobs/{part_of(sha256)}"
        kind, _, rest = key.partition("/")
        if kind == "runs":
            run, _, path = rest.partition("/")
            return f"/runs/{part_of(run)}/folder/{path_of(path)}"
        raise RequestError(f"a server shows no {key}")
