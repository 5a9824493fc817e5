"""Bytes under the name of their SHA-256: sent once, verified whenever they come back."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import uuid
from typing import BinaryIO, Callable, Iterable, Iterator, List, NamedTuple, Tuple, Union, cast

from .abreast import abreast
from .digest import PIECE_BYTES, Digest
from .errors import Changed, Damaged, InsideError, NotFound
from .faults import explain
from .layout import blob_key, damaged_key
from .stores.base import Store, Streams


class Sent(NamedTuple):
    """What became of a file that should be in the store."""

    sha256: str
    size_bytes: int
    is_new: bool  # False: the store had these bytes already


class Blobs:
    """The content-addressed part of a store.

    A blob that failed verification is marked in the store and replaced by the next upload of the same bytes:
    otherwise a training that repeats itself bit for bit would commit the damaged blob again and again.
    """

    def __init__(self, store: Store, moved: Callable[[int], None] = lambda _: None) -> None:
        """`moved` is told of every piece that `get_file` fetches."""
        self._store = store
        self._moved = moved

    def put_file(self, path: str) -> Tuple[str, int]:
        """Keep a file's bytes; returns their digest and size. What is there already is not sent again."""
        sent = self.send_file(path)
        return sent.sha256, sent.size_bytes

    def send_file(self, path: str) -> Sent:
        """`put_file`, and whether anything had to be sent. The digest is that of the bytes that were sent."""
        try:
            with open(path, "rb", buffering=0) as source:
                first = source.read(PIECE_BYTES)
                if len(first) < PIECE_BYTES and not source.read(1):
                    return self._send_bytes(first)
                source.seek(0)
                if isinstance(self._store, Streams):
                    return self._send_in_one_pass(source, self._store)
                return self._send_in_two_passes(source)
        except OSError as error:
            raise explain(error, path) from None

    def put_bytes(self, data: bytes) -> str:
        """Keep some bytes; returns their digest."""
        return self._send_bytes(data).sha256

    def has(self, sha256: str, size: int) -> bool:
        """Whether the store holds such a blob, of this size and not known to be damaged."""
        entry = self._store.head(blob_key(sha256))
        if entry is None or entry.size_bytes != size:
            return False
        return self._store.head(damaged_key(sha256)) is None

    def missing(self, wanted: Iterable[Tuple[str, int]]) -> List[Tuple[str, int]]:
        """Those pairs of a digest and a size that `has` denies."""
        pairs = sorted(set(wanted))
        kept = abreast(self._store, lambda pair: self.has(*pair), pairs)
        return [pair for pair, is_kept in zip(pairs, kept) if not is_kept]

    def get_bytes(self, sha256: str) -> bytes:
        """A small blob, verified."""
        try:
            data = self._store.get(blob_key(sha256))
        except NotFound:
            raise Damaged("the store has no blob %s" % sha256) from None
        if hashlib.sha256(data).hexdigest() != sha256:
            self._mark(sha256)
            raise Damaged("blob %s does not match its digest" % sha256)
        return data

    def get_file(self, sha256: str, size: int, target: str, mode: int = 0o644) -> None:
        """Put a blob at `target`, whole and verified; `Damaged` otherwise, and then `target` is as it was."""
        temp = self.fetch_beside(sha256, size, target, mode)
        try:
            os.replace(temp, target)
        except OSError as error:
            _remove(temp)
            raise explain(error, target) from None

    def fetch_beside(self, sha256: str, size: int, target: str, mode: int = 0o644) -> str:
        """Put a blob, whole and verified, at a hidden name in the folder of `target`, and return that name."""
        temp = os.path.join(os.path.dirname(target), ".outlast-%s" % uuid.uuid4().hex)
        # Twice: what a bad cable or memory cell spoilt on the way is not the store's damage.
        for attempt in (1, 2):
            try:
                self._fetch(sha256, size, temp, mode & 0o777)
                return temp
            except Damaged:
                _remove(temp)
                if attempt == 2:
                    self._mark(sha256)
                    raise
            except BaseException:
                _remove(temp)
                raise
        raise AssertionError("unreachable")

    def _fetch(self, sha256: str, size: int, temp: str, mode: int) -> None:
        with _local_faults(temp):
            fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(fd, "wb", buffering=0) as file, Digest() as digest:
            try:
                self._store.read_into(blob_key(sha256), cast(BinaryIO, _Sink(file, temp, digest, size, self._moved)))
            except NotFound:
                raise Damaged("the store has no blob %s" % sha256) from None
            if digest.size_bytes != size:
                raise Damaged("blob %s has %d bytes instead of %d" % (sha256, digest.size_bytes, size))
            if digest.hexdigest() != sha256:
                raise Damaged("blob %s does not match its digest" % sha256)
            with _local_faults(temp):
                os.fchmod(fd, mode)

    def _is_kept(self, sha256: str, size: int) -> bool:
        """Whether nothing has to be sent. Touched, so that cleaning spares what is about to be named."""
        return self.has(sha256, size) and self._store.touch(blob_key(sha256))

    def _send_bytes(self, data: bytes) -> Sent:
        sha256 = hashlib.sha256(data).hexdigest()
        if self._is_kept(sha256, len(data)):
            return Sent(sha256, len(data), False)
        # Not "if absent": a blob of the wrong size, or marked as damaged, gives way to the right bytes.
        self._store.put(blob_key(sha256), data)
        self._store.delete(damaged_key(sha256))
        return Sent(sha256, len(data), True)

    def _send_in_one_pass(self, source: io.FileIO, store: Streams) -> Sent:
        writer = store.writer()
        try:
            with Digest() as digest:
                for piece in _pieces(source, digest):
                    writer.write(piece)
                sha256 = digest.hexdigest()
            if self._is_kept(sha256, digest.size_bytes):
                return Sent(sha256, digest.size_bytes, False)
            writer.commit(blob_key(sha256), replace=True)
        finally:
            writer.abort()
        self._store.delete(damaged_key(sha256))
        return Sent(sha256, digest.size_bytes, True)

    def _send_in_two_passes(self, source: io.FileIO) -> Sent:
        with Digest() as digest:
            for _ in _pieces(source, digest):
                pass
            sha256 = digest.hexdigest()
        if self._is_kept(sha256, digest.size_bytes):
            return Sent(sha256, digest.size_bytes, False)
        source.seek(0)
        self._store.put(blob_key(sha256), cast(BinaryIO, _Recheck(source, sha256)))
        self._store.delete(damaged_key(sha256))
        return Sent(sha256, digest.size_bytes, True)

    def _mark(self, sha256: str) -> None:
        with contextlib.suppress(InsideError):  # a store that cannot be written to can still be read from
            self._store.put(damaged_key(sha256), b"")


class _Sink(io.RawIOBase):
    """Where `read_into` writes: into the file and the digest. Stops early when there is more than promised."""

    def __init__(self, file: io.RawIOBase, path: str, digest: Digest, size: int, moved: Callable[[int], None]) -> None:
        super().__init__()
        self._moved = moved
        self._file = file
        self._path = path
        self._digest = digest
        self._size = size

    def write(self, piece: Union[bytes, memoryview]) -> int:  # type: ignore[override]
        view = memoryview(piece)
        self._digest.update(view)
        if self._digest.size_bytes > self._size:
            raise Damaged("a blob has more than its %d bytes" % self._size)
        with _local_faults(self._path):
            while view:
                view = view[self._file.write(view) or 0 :]
        self._moved(len(piece))
        return len(piece)


class _Recheck(io.RawIOBase):
    """A file that was hashed before it is sent: its end is an error when the bytes are no longer the same."""

    def __init__(self, source: io.FileIO, sha256: str) -> None:
        super().__init__()
        self._source = source
        self._sha256 = sha256
        self._hash = hashlib.sha256()

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._source.tell()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Back to the beginning, for a store whose first try broke; nowhere else."""
        if offset or whence != os.SEEK_SET:
            raise io.UnsupportedOperation("only the whole file can be sent again")
        self._hash = hashlib.sha256()
        return self._source.seek(0)

    def fileno(self) -> int:
        """For its size alone: what is read past us would not be checked."""
        return self._source.fileno()

    def read(self, size: int = -1) -> bytes:
        piece = self._source.read(size)
        self._hash.update(piece)
        if (not piece or size < 0) and self._hash.hexdigest() != self._sha256:
            raise Changed("a file was rewritten while it was being sent")
        return piece


def _pieces(source: io.FileIO, digest: Digest) -> Iterator[memoryview]:
    """The pieces of a file; each is hashed after the caller has used it."""
    while True:
        buffer = digest.buffer()
        count = source.readinto(buffer) or 0
        if not count:
            return
        yield buffer[:count]
        digest.add(buffer, count)


@contextlib.contextmanager
def _local_faults(path: str) -> Iterator[None]:
    """Faults of this machine's disk, told apart from the store's."""
    try:
        yield
    except OSError as error:
        raise explain(error, path) from None


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
