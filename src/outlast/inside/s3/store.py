"""A run folder in a bucket."""

from __future__ import annotations

import io
import os
from typing import BinaryIO, ClassVar, Iterable, Iterator, Optional

from ..errors import NotFound, RequestError
from ..move.base import FOLDER
from ..net.retry import Policy
from ..stores.access import Access
from ..stores.base import Data, Entry, Store, check_key, check_prefix
from .client import S3Client
from .conditional import Claims
from .stream import put_stream
from .tree import LARGEST_COPY_BYTES, S3Tree

_SMALL_BYTES = 8 << 20
_CHUNK_BYTES = 1 << 20


class S3Store(Store):
    """A store below one prefix of a bucket. A write is visible whole, and durable when it returns."""

    pace_s: ClassVar[float] = 1.0

    def __init__(self, access: Access, bucket: str, prefix: str = "", policy: Optional[Policy] = None) -> None:
        self._tree = S3Tree(access, bucket, policy)
        self._client: S3Client = self._tree.client
        self._prefix = prefix.strip("/") + "/" if prefix.strip("/") else ""
        self._claims = Claims(self._client, self._prefix)
        self.url = "%s/%s" % (self._client.url, self._prefix.rstrip("/"))

    def _key(self, key: str) -> str:
        return self._prefix + check_key(key)

    def put(self, key: str, data: Data) -> None:
        whole = self._key(key)
        if isinstance(data, bytes):
            self._client.put(whole, data)
        else:
            put_stream(self._client.server, whole, _pieces(data), _length(data))

    def put_if_absent(self, key: str, data: Data) -> bool:
        whole = self._key(key)
        if not isinstance(data, bytes):
            length = _length(data)
            if length is None or length > _SMALL_BYTES:
                return self._put_stream_if_absent(whole, data, length)
            data = data.read()
        return self._claims.put(whole, data)

    def _put_stream_if_absent(self, whole: str, data: BinaryIO, length: Optional[int]) -> bool:
        """Large objects are named by their content: what is there already is the same."""
        if self._client.head(whole) is not None:
            return False
        return put_stream(self._client.server, whole, _pieces(data), length, if_absent=self._claims.conditional)

    def get(self, key: str) -> bytes:
        whole = self._key(key)
        try:
            return self._client.get(whole)
        except NotFound:
            raise NotFound(key) from None

    def get_range(self, key: str, start: int, length: int) -> bytes:
        if start < 0 or length < 0:
            raise RequestError("a range cannot be negative: %d bytes from %d" % (length, start))
        whole = self._key(key)
        try:
            return self._client.get(whole, start, length)
        except NotFound:
            raise NotFound(key) from None

    def read_into(self, key: str, target: BinaryIO) -> int:
        whole = self._key(key)
        total = 0
        try:
            for piece in self._tree.read(whole):
                target.write(piece)
                total += len(piece)
        except NotFound:
            raise NotFound(key) from None
        return total

    def head(self, key: str) -> Optional[Entry]:
        found = self._client.head(self._key(key))
        return None if found is None else Entry(key, found.size_bytes, found.modified_ns / 1e9)

    def list(self, prefix: str) -> Iterator[Entry]:
        whole = self._prefix + check_prefix(prefix)
        cut = len(self._prefix)
        for item in self._client.list(whole):
            if item.kind != FOLDER and not self._claims.is_ours(item.path):
                yield Entry(item.path[cut:], item.size_bytes, item.modified_ns / 1e9)

    def delete(self, key: str) -> None:
        self.delete_all([key])

    def delete_all(self, keys: Iterable[str]) -> None:
        wholes = [self._key(key) for key in keys]
        if wholes:
            self._client.delete(wholes)
            self._claims.forget(wholes)

    @property
    def conditional(self) -> bool:
        """Whether the server itself refuses to overwrite. Asks it once, by writing a key twice."""
        return self._claims.conditional

    def touch(self, key: str) -> bool:
        whole = self._key(key)
        try:
            self._client.copy(self._client.bucket, whole, whole, replace_metadata=True)
        except NotFound:
            return False
        except RequestError:
            found = self._client.head(whole)
            if found is None or found.size_bytes <= LARGEST_COPY_BYTES:
                raise
            self._tree.copy_in_parts(whole, whole, found.size_bytes)
        return True


def _pieces(data: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: data.read(_CHUNK_BYTES), b"")


def _length(data: BinaryIO) -> Optional[int]:
    """How many bytes are left to read, where that can be known without reading."""
    try:
        if isinstance(data, io.BytesIO):
            return len(data.getbuffer()) - data.tell()
        return os.fstat(data.fileno()).st_size - data.tell()
    except (OSError, AttributeError, io.UnsupportedOperation):
        return None
