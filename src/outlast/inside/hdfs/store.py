"""A store in HDFS: written aside below `.tmp`, then renamed, which HDFS does in one step."""

from __future__ import annotations

import posixpath
import threading
import time
from typing import BinaryIO, ClassVar, Iterator, List, Optional, Tuple

from ..errors import Changed, NotFound, PlaceError, RequestError
from ..net.retry import Policy
from ..stores.access import Access
from ..stores.base import CHUNK_BYTES, Data, Entry, Store, check_key, check_prefix
from .client import PATIENT, HdfsClient, Source
from .wire import NotEmpty, Status

#: Unfinished writes, inside the prefix so that quotas and encryption zones are the same. Never listed.
TEMP_FOLDER = ".tmp"
STALE_AFTER_S = 86400.0
# A key that is rewritten every second can change under a reader more than once.
_READ_TRIES = 8


class HdfsStore(Store):
    """Keys are files below `prefix`. Safe for any number of writers on any number of machines."""

    pace_s: ClassVar[float] = 1.0

    def __init__(self, access: Access, authority: str, prefix: str, policy: Policy = PATIENT) -> None:
        self._client = HdfsClient(access, authority, policy)
        self._root = posixpath.join("/", prefix.strip("/"))
        self.url = self._client.url + self._root
        self._swept = threading.Lock()

    def put(self, key: str, data: Data) -> None:
        self._write(key, data, overwrite=True)

    def put_if_absent(self, key: str, data: Data) -> bool:
        if self.head(key) is not None:
            return False
        return self._write(key, data, overwrite=False)

    def get(self, key: str) -> bytes:
        return self._read(key, 0, None)

    def get_range(self, key: str, start: int, length: int) -> bytes:
        if start < 0 or length < 0:
            raise RequestError("bad range of %s: %d bytes from %d" % (key, length, start))
        return self._read(key, start, length)

    def read_into(self, key: str, target: BinaryIO) -> int:
        total = 0
        try:
            for piece in self._client.read(self.path(key)):
                target.write(piece)
                total += len(piece)
        except NotFound:
            raise NotFound(key) from None
        except Changed as error:
            raise PlaceError(str(error)) from None
        return total

    def head(self, key: str) -> Optional[Entry]:
        found = self._client.status(self.path(key))
        return _entry(key, found) if found is not None and found.is_file else None

    def touch(self, key: str) -> bool:
        entry = self.head(key)
        if entry is None:
            return False
        try:
            self._client.set_modified(self.path(key), int(1000 * max(time.time(), entry.modified_at)))
        except NotFound:
            return False
        return True

    def list(self, prefix: str) -> Iterator[Entry]:
        folder, _, start = check_prefix(prefix).rpartition("/")
        return self._walk(folder + "/" if folder else "", start)

    def delete(self, key: str) -> None:
        path = self.path(key)
        try:
            while len(path) > len(self._root):
                self._client.delete(path)
                # Folders that this left empty go, too; writers make theirs again when they lose that race.
                path = posixpath.dirname(path)
        except NotEmpty:
            return

    def path(self, key: str) -> str:
        """Where a key's bytes lie."""
        if check_key(key).split("/", 1)[0] == TEMP_FOLDER:
            raise RequestError("bad key %r: %s is for unfinished writes" % (key, TEMP_FOLDER))
        return posixpath.join(self._root, key)

    def remove_stale(self, older_than_s: float = STALE_AFTER_S) -> int:
        """Remove what killed writers left behind, and return how many bytes that freed."""
        freed = 0
        for each in self._names(TEMP_FOLDER):
            if time.time() - each.modified_ms / 1000 > older_than_s:
                self._client.discard(posixpath.join(self._root, TEMP_FOLDER, each.name))
                freed += each.size_bytes
        return freed

    def _write(self, key: str, data: Data, overwrite: bool) -> bool:
        path = self.path(key)
        source, tries = _source(data)
        part = self._client.put_aside(posixpath.join(self._root, TEMP_FOLDER), source, tries)
        written = self._client.settle(part, path, overwrite)
        # Once for each store, after its first write: opening one must not wait for a network.
        if self._swept.acquire(blocking=False):
            self.remove_stale()
        return written

    def _read(self, key: str, start: int, length: Optional[int]) -> bytes:
        path = self.path(key)
        for attempt in range(_READ_TRIES):
            try:
                return b"".join(self._client.read(path, start, length))
            except NotFound:
                raise NotFound(key) from None
            except Changed as error:
                if attempt == _READ_TRIES - 1:
                    raise PlaceError(str(error)) from None
        raise AssertionError("unreachable")

    def _walk(self, base: str, start: str) -> Iterator[Entry]:
        for name, found in self._sorted(base, start):
            if found.is_folder:
                if base + name != TEMP_FOLDER + "/":
                    yield from self._walk(base + name, "")
            elif found.is_file:
                yield _entry(base + name, found)

    def _sorted(self, base: str, start: str) -> List[Tuple[str, Status]]:
        """Names in one folder, a slash after folders: in that spelling they sort exactly as whole keys do."""
        found = [(each.name + "/" if each.is_folder else each.name, each) for each in self._names(base)]
        return sorted(pair for pair in found if pair[0].startswith(start))

    def _names(self, base: str) -> List[Status]:
        """What is in a folder; nothing when it is none, or is gone since it was seen."""
        try:
            found = self._client.list(posixpath.join(self._root, base).rstrip("/") or "/")
        except NotFound:
            return []
        return [each for each in found if each.name]


def _entry(key: str, found: Status) -> Entry:
    return Entry(key, found.size_bytes, found.modified_ms / 1000)


def _source(data: Data) -> Tuple[Source, int]:
    """Where the pieces come from, and how often they can: 0 for as often as is needed."""
    if isinstance(data, (bytes, bytearray, memoryview)):
        return (lambda: iter((bytes(data),))), 0
    if not data.seekable():
        return (lambda: iter(lambda: data.read(CHUNK_BYTES), b"")), 1
    begin = data.tell()

    def again() -> Iterator[bytes]:
        data.seek(begin)
        return iter(lambda: data.read(CHUNK_BYTES), b"")

    return again, 0
