"""A store in a folder: every write is finished aside and then appears whole, or does not appear."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import time
import urllib.parse
import uuid
from typing import BinaryIO, Iterator, List, Optional, Tuple

from ..errors import NotFound, RequestError
from ..faults import explain
from .base import CHUNK_BYTES, Data, Entry, Store, Streams, check_key, check_prefix
from .file_writer import LOCK_NAME, FileWriter

#: Unfinished writes, inside the root so that renaming never crosses a file system. Never listed.
TEMP_FOLDER = ".tmp"
STALE_AFTER_S = 86400.0
_ABSENT = (FileNotFoundError, NotADirectoryError)


class FileStore(Store, Streams):
    """Keys are files below `root`. Safe for any number of processes, on one machine or over NFS."""

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)
        self.url = "file://" + urllib.parse.quote(os.fsencode(self.root))
        self._temp = os.path.join(self.root, TEMP_FOLDER)
        self.remove_stale()

    def put(self, key: str, data: Data) -> None:
        self._write(key, data).commit(key, replace=True)

    def put_quick(self, key: str, data: Data) -> None:
        self._write(key, data).commit(key, replace=True, durable=False)

    def put_if_absent(self, key: str, data: Data) -> bool:
        if self.head(key) is not None:
            return False
        return self._write(key, data).commit(key)

    def writer(self) -> FileWriter:
        return FileWriter(os.path.join(self._temp, uuid.uuid4().hex), self.path)

    def get(self, key: str) -> bytes:
        with self._open(key) as source:
            return source.read()

    def get_range(self, key: str, start: int, length: int) -> bytes:
        if start < 0 or length < 0:
            raise RequestError("bad range of %s: %d bytes from %d" % (key, length, start))
        with self._open(key) as source:
            source.seek(start)
            return source.read(length)

    def read_into(self, key: str, target: BinaryIO) -> int:
        total = 0
        buffer = memoryview(bytearray(CHUNK_BYTES))
        with self._open(key) as source:
            while True:
                count = source.readinto(buffer) or 0
                if not count:
                    return total
                target.write(buffer[:count])
                total += count

    def head(self, key: str) -> Optional[Entry]:
        path = self.path(key)
        try:
            found = os.stat(path)
        except _ABSENT:
            return None
        except OSError as error:
            raise explain(error, path) from None
        return Entry(key, found.st_size, found.st_mtime) if stat.S_ISREG(found.st_mode) else None

    def touch(self, key: str) -> bool:
        if self.head(key) is None:
            return False
        path = self.path(key)
        try:
            os.utime(path)
        except _ABSENT:
            return False
        except OSError as error:
            raise explain(error, path) from None
        return True

    def list(self, prefix: str) -> Iterator[Entry]:
        folder, _, start = check_prefix(prefix).rpartition("/")
        return self._walk(folder + "/" if folder else "", start)

    def delete(self, key: str) -> None:
        path = self.path(key)
        try:
            os.unlink(path)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return
        except OSError as error:
            raise explain(error, path) from None
        self._prune(os.path.dirname(path))

    def path(self, key: str) -> str:
        """Where a key's bytes lie."""
        if check_key(key).split("/", 1)[0] == TEMP_FOLDER:
            raise RequestError("bad key %r: %s is for unfinished writes" % (key, TEMP_FOLDER))
        return os.path.join(self.root, key)

    def remove_stale(self, older_than_s: float = STALE_AFTER_S) -> int:
        """Remove what killed writers left behind, and return how many bytes that freed."""
        freed = 0
        with contextlib.suppress(OSError), os.scandir(self._temp) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    found = entry.stat(follow_symlinks=False)
                    # The lock of file systems without hard links stays: a holder may be waiting on it.
                    if entry.name != LOCK_NAME and time.time() - found.st_mtime > older_than_s:
                        os.unlink(entry.path)
                        freed += found.st_size
        return freed

    def _write(self, key: str, data: Data) -> FileWriter:
        self.path(key)
        writer = self.writer()
        try:
            if isinstance(data, (bytes, bytearray, memoryview)):
                writer.write(data)
                return writer
            while True:
                piece = data.read(CHUNK_BYTES)
                if not piece:
                    return writer
                writer.write(piece)
        except BaseException:
            writer.abort()
            raise

    @contextlib.contextmanager
    def _open(self, key: str) -> Iterator[io.FileIO]:
        path = self.path(key)
        try:
            with open(path, "rb", buffering=0) as source:
                yield source
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise NotFound(key) from None
        except OSError as error:
            raise explain(error, path) from None

    def _walk(self, base: str, start: str) -> Iterator[Entry]:
        for name, entry in self._entries(base, start):
            key = base + name
            if name.endswith("/"):
                if key != TEMP_FOLDER + "/":
                    yield from self._walk(key, "")
                continue
            try:
                found = entry.stat()
            except OSError:
                continue  # deleted since the folder was read
            if stat.S_ISREG(found.st_mode):
                yield Entry(key, found.st_size, found.st_mtime)

    def _entries(self, base: str, start: str) -> List[Tuple[str, os.DirEntry[str]]]:
        """Names in one folder, a slash after folders: in that spelling they sort exactly as whole keys do."""
        found = []
        folder = os.path.join(self.root, base)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.startswith(start) and _is_text(entry.name):
                        name = entry.name + ("/" if entry.is_dir(follow_symlinks=False) else "")
                        found.append((name, entry))
        except _ABSENT:
            return []
        except OSError as error:
            raise explain(error, folder) from None
        return sorted(found, key=lambda pair: pair[0])

    def _prune(self, folder: str) -> None:
        """Remove folders that a delete left empty; writers create theirs again when they lose that race."""
        while len(folder) > len(self.root):
            try:
                os.rmdir(folder)
            except OSError:
                return
            folder = os.path.dirname(folder)


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
