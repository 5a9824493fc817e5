"""LFS objects of one repository: bytes in the blob store, and a record for each in the same store.

The record is what lets a repository have an object. Without it nobody gets bytes from the shared blob store by
knowing their digest, and cleaning would take them; with it publishing a result needs no copy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from outlast.errors import UsageError
from outlast.hub.flowing import Flowing
from outlast.hub.pointers import Pointer
from outlast.hub.spooled import Spooled
from outlast.inside import layout
from outlast.inside.blobs import Blobs
from outlast.inside.stores.base import Store, Streams, Writer
from outlast.store.registry import outside_errors

_SMALL_BYTES = 8 << 20


def record_key(repository: str, pointer: Pointer) -> str:
    """The key that says that a repository has an object of this size; `store.clean` reads digests from such keys."""
    return f"lfs/{repository}/{pointer.oid}-{pointer.size_bytes}"


class Objects:
    """The objects that one repository has."""

    def __init__(self, store: Store, repository: str) -> None:
        self._store = store
        self._repository = repository
        self._blobs = Blobs(store)

    def has(self, pointer: Pointer) -> bool:
        """Whether exactly this object was given to this repository, and is whole."""
        with outside_errors():
            known = self._store.head(record_key(self._repository, pointer)) is not None
            return known and self._blobs.has(*pointer)

    def add(self, pointers: Iterable[Pointer]) -> None:
        """Let the repository have objects whose bytes are in the store; those that read them before keep them."""
        with outside_errors():
            for pointer in pointers:
                self._store.touch(layout.blob_key(pointer.oid))
                self._store.put_if_absent(record_key(self._repository, pointer), b"")

    def all(self) -> list[Pointer]:
        return [pointer for pointer, _ in self._records()]

    def older_than(self, moment: float) -> set[Pointer]:
        """Those that were given to the repository before a moment."""
        return {pointer for pointer, given_at in self._records() if given_at < moment}

    def remove(self, pointers: Iterable[Pointer]) -> None:
        """Forget records; the bytes go with the next cleaning unless something else needs them."""
        with outside_errors():
            self._store.delete_all([record_key(self._repository, each) for each in pointers])

    def _records(self) -> list[tuple[Pointer, float]]:
        with outside_errors():
            entries = list(self._store.list(f"lfs/{self._repository}/"))
        pairs = [(entry.key.rsplit("/", 1)[1].split("-"), entry.modified_at) for entry in entries]
        return [(Pointer(oid, int(size)), given_at) for (oid, size), given_at in pairs]

    def read(self, pointer: Pointer, start: int, length: int) -> bytes:
        with outside_errors():
            return self._store.get_range(layout.blob_key(pointer.oid), start, length)

    def fetch(self, pointer: Pointer, target: str) -> None:
        """Write an object to a file, verified."""
        with outside_errors():
            self._blobs.get_file(*pointer, target)

    def receive(self, pointer: Pointer) -> Receiving:
        """Begin to take an object's bytes."""
        with outside_errors():
            return Receiving(self._store, self, pointer)


class Receiving:
    """An object on its way in. It counts when `finish` returns; until then, and after `abort`, there is nothing."""

    def __init__(self, store: Store, objects: Objects, pointer: Pointer) -> None:
        self._store = store
        self._objects = objects
        self._pointer = pointer
        self._digest = hashlib.sha256()
        self._got_bytes = 0
        self._writer = _writer(store, pointer)

    def write(self, piece: bytes | bytearray | memoryview) -> None:
        self._got_bytes += len(piece)
        if self._got_bytes > self._pointer.size_bytes:
            raise UsageError(f"more than the {self._pointer.size_bytes} bytes came that were announced")
        self._digest.update(piece)
        with outside_errors():
            self._writer.write(memoryview(piece))

    def finish(self) -> None:
        """Verify what came and give it to the repository; `UsageError` when it is not what was announced."""
        oid, size_bytes = self._pointer
        if self._got_bytes != size_bytes:
            raise UsageError(f"{self._got_bytes} bytes came, and {size_bytes} were announced", hint="send it again")
        if self._digest.hexdigest() != oid:
            raise UsageError(f"what was sent is not {oid[:12]}…", hint="send it again")
        key = layout.blob_key(oid)
        with outside_errors():
            if not (Blobs(self._store).has(oid, size_bytes) and self._store.touch(key)):
                self._writer.commit(key, replace=True)
                self._store.delete(layout.damaged_key(oid))
        self._objects.add([self._pointer])

    def abort(self) -> None:
        self._writer.abort()


def _writer(store: Store, pointer: Pointer) -> Writer:
    if isinstance(store, Streams):
        return store.writer()
    return Spooled(store) if pointer.size_bytes <= _SMALL_BYTES else Flowing(store, layout.blob_key(pointer.oid))
