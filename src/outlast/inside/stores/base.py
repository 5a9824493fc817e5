"""What every store can do: eight verbs on keys. Layout, blobs, retries and copying live above."""

from __future__ import annotations

import abc
from typing import BinaryIO, ClassVar, Iterable, Iterator, NamedTuple, Optional, Union

from ..errors import NotFound, RequestError

CHUNK_BYTES = 1 << 20

#: What can be put: bytes, or a binary file read from its current position to its end.
Data = Union[bytes, BinaryIO]


class Entry(NamedTuple):
    """One key as `list` and `head` report it."""

    key: str
    size_bytes: int
    modified_at: float


def check_key(key: str) -> str:
    """Return the key; `RequestError` if it can never be one: absolute, empty, with `..`, `//` or a NUL."""
    try:
        key.encode("utf-8")
    except UnicodeEncodeError:
        raise RequestError("bad key %r: not text that UTF-8 can carry" % key) from None
    if "\0" in key or any(part in ("", ".", "..") for part in key.split("/")):
        raise RequestError("bad key %r: use relative paths like 'runs/x/spec.json', without '..' or '//'" % key)
    return key


def check_prefix(prefix: str) -> str:
    """Return a prefix for `list`; empty, or the beginning of a key."""
    if prefix:
        check_key(prefix[:-1] if prefix.endswith("/") else prefix)
    return prefix


class Writer(abc.ABC):
    """An unfinished object that takes its bytes first and its key last."""

    @abc.abstractmethod
    def write(self, data: Union[bytes, memoryview]) -> None:
        """Add bytes at the end. They are not kept: the caller may use the memory again."""

    @abc.abstractmethod
    def commit(self, key: str, replace: bool = False) -> bool:
        """Give the object its key as `put_if_absent` does (with `replace`: as `put` does). The writer is used up."""

    @abc.abstractmethod
    def abort(self) -> None:
        """Forget the bytes. After `commit` this does nothing."""


class Streams(abc.ABC):
    """A store that can take bytes before their key is known, so that hashing and copying are one pass."""

    @abc.abstractmethod
    def writer(self) -> Writer:
        """Begin an object."""


class Store(abc.ABC):
    """A place that keeps bytes under keys such as `runs/x/spec.json`.

    Every verb is safe to call from several threads. A reader sees a key's old bytes or its new bytes, never a
    mixture and never a part. Errors: `NotFound` for a missing key, `StoreFull` when there is no space, `PlaceError`
    for what another try may mend, `RequestError` for a key or address that can never work.
    """

    #: The address this store was opened with, without credentials, for messages.
    url: str = ""

    #: What two looks at the same thing should be apart. 0: looking is nearly free, as in a folder of this machine;
    #: about a second where every look is a request that somebody has to answer.
    pace_s: ClassVar[float] = 0.0

    @property
    def conditional(self) -> bool:
        """Whether the store itself refuses to overwrite; where it does not, `put_if_absent` takes some seconds."""
        return True

    @abc.abstractmethod
    def put(self, key: str, data: Data) -> None:
        """Write or replace a key. Durable when it returns."""

    @abc.abstractmethod
    def put_if_absent(self, key: str, data: Data) -> bool:
        """Write a key that does not exist yet. Of any number of writers exactly one gets True. Durable then."""

    @abc.abstractmethod
    def get(self, key: str) -> bytes:
        """All bytes of a key; for small objects."""

    @abc.abstractmethod
    def get_range(self, key: str, start: int, length: int) -> bytes:
        """Up to `length` bytes from `start`; empty past the end."""

    @abc.abstractmethod
    def head(self, key: str) -> Optional[Entry]:
        """Size and time of a key, or None when it does not exist."""

    @abc.abstractmethod
    def list(self, prefix: str) -> Iterator[Entry]:
        """Every key that starts with `prefix`, sorted by key. Unfinished writes are never listed."""

    @abc.abstractmethod
    def delete(self, key: str) -> None:
        """Remove a key. Removing what is not there is not an error."""

    def delete_all(self, keys: Iterable[str]) -> None:
        """Remove many keys, in any order; stores that can do it take fewer requests for that."""
        for key in keys:
            self.delete(key)

    def remove_stale(self) -> int:
        """Remove what killed writers left behind, and return how many bytes that freed."""
        return 0

    def put_quick(self, key: str, data: Data) -> None:
        """`put` for what is rewritten every second: as atomic, but a power cut may bring older bytes back."""
        self.put(key, data)

    def touch(self, key: str) -> bool:
        """Make a key look new, so that cleaning spares it for its grace period. False when it is gone."""
        try:
            self.put(key, self.get(key))
        except NotFound:
            return False
        return True

    def read_into(self, key: str, target: BinaryIO) -> int:
        """Copy a key's bytes into a file in pieces, and return how many there were.

        The target is given bytes or a memoryview that is used again: it must not keep them.
        """
        total = 0
        while True:
            piece = self.get_range(key, total, CHUNK_BYTES)
            if not piece:
                if total == 0 and self.head(key) is None:
                    self.get(key)
                return total
            target.write(piece)
            total += len(piece)
