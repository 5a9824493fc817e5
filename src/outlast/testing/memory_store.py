"""A store in memory, for tests, that can be told to fail."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator

from outlast.inside.errors import NotFound, RequestError
from outlast.inside.stores.base import Data, Entry, Store, check_key, check_prefix

_numbers = itertools.count(1)


class MemoryStore(Store):
    """Keeps the promises of `Store`, in one process. Faults are injected with `fail_next` and `on_call`."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.url = f"memory://{next(_numbers)}"
        #: Called with the verb and the key before each call takes effect; may raise, block or change the store.
        self.on_call: Callable[[str, str], None] | None = None
        self._clock = clock
        self._lock = threading.RLock()
        self._objects: dict[str, tuple[bytes, float]] = {}
        self._faults: dict[str, list[Exception]] = {}

    def fail_next(self, verb: str, error: Exception, times: int = 1) -> None:
        """Let the next calls of a verb (`put`, `get`, `list` …) raise this error instead of doing anything."""
        with self._lock:
            self._faults.setdefault(verb, []).extend([error] * times)

    def put(self, key: str, data: Data) -> None:
        self._called("put", check_key(key))
        body = _read(data)
        with self._lock:
            self._objects[key] = (body, self._clock())

    def put_quick(self, key: str, data: Data) -> None:
        self._called("put_quick", check_key(key))
        body = _read(data)
        with self._lock:
            self._objects[key] = (body, self._clock())

    def put_if_absent(self, key: str, data: Data) -> bool:
        self._called("put_if_absent", check_key(key))
        body = _read(data)
        with self._lock:
            if key in self._objects:
                return False
            self._objects[key] = (body, self._clock())
            return True

    def get(self, key: str) -> bytes:
        self._called("get", check_key(key))
        with self._lock:
            return self._body(key)

    def get_range(self, key: str, start: int, length: int) -> bytes:
        if start < 0 or length < 0:
            raise RequestError(f"bad range of {key}: {length} bytes from {start}")
        self._called("get_range", check_key(key))
        with self._lock:
            return self._body(key)[start : start + length]

    def head(self, key: str) -> Entry | None:
        self._called("head", check_key(key))
        with self._lock:
            found = self._objects.get(key)
        return None if found is None else Entry(key, len(found[0]), found[1])

    def touch(self, key: str) -> bool:
        self._called("touch", check_key(key))
        with self._lock:
            if key not in self._objects:
                return False
            self._objects[key] = (self._objects[key][0], self._clock())
            return True

    def list(self, prefix: str) -> Iterator[Entry]:
        self._called("list", check_prefix(prefix))
        with self._lock:
            found = sorted(item for item in self._objects.items() if item[0].startswith(prefix))
        return iter([Entry(key, len(body), at) for key, (body, at) in found])

    def delete(self, key: str) -> None:
        self._called("delete", check_key(key))
        with self._lock:
            self._objects.pop(key, None)

    def _body(self, key: str) -> bytes:
        if key not in self._objects:
            raise NotFound(key)
        return self._objects[key][0]

    def _called(self, verb: str, key: str) -> None:
        if self.on_call is not None:
            self.on_call(verb, key)
        with self._lock:
            faults = self._faults.get(verb)
            if faults:
                raise faults.pop(0)


def _read(data: Data) -> bytes:
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    pieces = []
    while piece := data.read(1 << 20):
        pieces.append(piece)
    return b"".join(pieces)
