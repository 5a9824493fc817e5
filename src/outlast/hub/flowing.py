"""A writer for stores that must know a key before the first byte, where it is known: bytes go on as they come.

A large object that waited in a file until its last byte would keep its sender waiting for as long again, and git-lfs
gives up after 30 silent seconds.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from typing import BinaryIO, cast

from outlast.inside.errors import InsideError
from outlast.inside.stores.base import Store, Writer

_PIECES = 4  # of a mebibyte, on the way
_LOOK_S = 0.2


class Flowing(Writer):
    """Puts under one key what is written, in a thread. Nothing is there until `commit`; the store writes whole."""

    def __init__(self, store: Store, key: str) -> None:
        self._store = store
        self._key = key
        self._pieces: queue.Queue[bytes] = queue.Queue(_PIECES)
        self._forgotten = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._put, name="outlast-flowing", daemon=True)
        self._thread.start()

    def write(self, data: bytes | memoryview) -> None:
        if data:
            self._offer(bytes(data))

    def commit(self, key: str, replace: bool = False) -> bool:
        """The key must be the one that was given; what is there is replaced by the same content."""
        assert key == self._key, key
        self._offer(b"")
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        return True

    def abort(self) -> None:
        self._forgotten.set()

    def read(self, size: int = -1) -> bytes:
        """The next piece, for the store; empty at the end."""
        while not self._forgotten.is_set():
            with contextlib.suppress(queue.Empty):
                return self._pieces.get(timeout=_LOOK_S)
        raise _Forgotten("the object is not wanted any more")

    def _put(self) -> None:
        try:
            self._store.put(self._key, cast(BinaryIO, self))
        except _Forgotten:
            pass
        except Exception as error:  # noqa: BLE001 - raised again where the bytes come from
            self._failure = error

    def _offer(self, piece: bytes) -> None:
        while self._thread.is_alive():
            with contextlib.suppress(queue.Full):
                return self._pieces.put(piece, timeout=_LOOK_S)
        raise self._failure or InsideError(f"the store took no more of {self._key}")


class _Forgotten(InsideError):
    """Ends a put half-way; the store lets go of what it has."""
