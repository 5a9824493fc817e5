"""A writer for stores that must know a key before the first byte: the bytes wait in a file of this machine."""

from __future__ import annotations

import tempfile

from outlast.inside.stores.base import Store, Writer


class Spooled(Writer):
    """Takes bytes first and the key last, whatever the store can do."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by commit and abort

    def write(self, data: bytes | memoryview) -> None:
        self._file.write(data)

    def commit(self, key: str, replace: bool = False) -> bool:
        self._file.seek(0)
        try:
            if not replace:
                return self._store.put_if_absent(key, self._file)
            self._store.put(key, self._file)
            return True
        finally:
            self.abort()

    def abort(self) -> None:
        self._file.close()
