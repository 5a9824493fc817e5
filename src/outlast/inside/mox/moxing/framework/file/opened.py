"""Files at urls, opened: read as a stream, written to a temporary file that goes up at `flush` and `close`."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from typing import IO, Any, Iterable, Iterator, List, Optional, Union, cast

from .errors import MoxFileNotExistsException, told
from .looking import item_at
from .places import Spot, Url, find
from .uploads import note_upload

_PIECE_BYTES = 1 << 20
Data = Union[str, bytes]


class _Stream(io.RawIOBase):
    """An object of a store, read where the reader is: on and on over one request until somebody seeks."""

    def __init__(self, spot: Spot, size_bytes: int) -> None:
        super().__init__()
        self._spot = spot
        self._size = size_bytes
        self._at = 0
        self._pieces: Optional[Iterator[bytes]] = None
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        target = offset + (0, self._at, self._size)[whence]
        if target < 0:
            raise ValueError("negative seek value %d" % target)
        if target != self._at:
            self._at, self._pieces, self._left = target, None, memoryview(b"")
        return target

    def readinto(self, buffer: Any) -> int:
        if self._at >= self._size:
            return 0
        with told(self._spot.url, reading=True):
            if self._pieces is None:
                self._pieces = self._spot.tree.read(self._spot.path, self._at)
            while not self._left:
                piece = next(self._pieces, None)
                if piece is None:
                    return 0
                self._left = memoryview(piece)
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        self._at += count
        return count


def _plain_mode(mode: str) -> str:
    """`r`, `w` or `a`, with a `+` behind it where there is one anywhere."""
    letters = set(mode)
    kind = letters & set("rwa")
    if len(kind) != 1 or len(letters) != len(mode) or letters - set("rwab+t") or letters >= set("bt"):
        raise ValueError("invalid mode: %r" % mode)
    return kind.pop() + ("+" if "+" in letters else "")


class File:
    """A file of this machine or of a store. Modes are those of `open`, `b` and `+` in any order.

    What is written to a store appears there whole, when the file is flushed or closed.
    """

    def __init__(self, name: Url, mode: str = "r", encoding: Optional[str] = None, **_: Any) -> None:
        self.name = os.fspath(name)
        self.mode = mode
        self._plain = plain = _plain_mode(mode)
        self._is_binary = "b" in mode
        self._encoding = None if self._is_binary else encoding or "utf-8"
        self._is_changed = plain[0] == "w"
        with told(self.name, reading=plain == "r"):
            self._spot = find(self.name)
            self._file = self._open()

    def _open(self) -> IO[Any]:
        if self._spot.is_local:
            return open(self.name, self._plain + ("b" if self._is_binary else ""), encoding=self._encoding)
        if self._plain == "r":
            raw = cast(IO[bytes], io.BufferedReader(_Stream(self._spot, self._size_there()), _PIECE_BYTES))
        else:
            raw = cast(IO[bytes], tempfile.TemporaryFile("w+b"))  # noqa: SIM115 - `close` does it
            if self._plain[0] != "w":
                self._load(raw)
        return raw if self._is_binary else cast(IO[str], io.TextIOWrapper(cast(Any, raw), encoding=self._encoding))

    def _size_there(self) -> int:
        item = item_at(self._spot)
        if item is None or item.kind != "file":
            raise MoxFileNotExistsException(self.name)
        return item.size_bytes

    def _load(self, raw: IO[bytes]) -> None:
        """What is there already, for modes that keep it; `a` makes a file that is missing."""
        if self._plain[0] == "a" and item_at(self._spot) is None:
            self._is_changed = True
            return
        self._size_there()
        for piece in self._spot.tree.read(self._spot.path):
            raw.write(piece)
        raw.seek(0, os.SEEK_END if self._plain[0] == "a" else os.SEEK_SET)

    def read(self, n: Optional[int] = -1) -> Any:
        self._require(self.readable(), "readable")
        return self._file.read(-1 if n is None else n)

    def readline(self, size: int = -1) -> Any:
        self._require(self.readable(), "readable")
        return self._file.readline(size)

    def readlines(self, hint: int = -1) -> List[Any]:
        self._require(self.readable(), "readable")
        return self._file.readlines(hint)

    def write(self, data: Any) -> int:
        self._require(self.writable(), "writable")
        if self._plain[0] == "a" and not self._spot.is_local:
            self._file.seek(0, os.SEEK_END)
        self._is_changed = True
        return self._file.write(data)

    def writelines(self, lines: Iterable[Any]) -> None:
        for line in lines:
            self.write(line)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def truncate(self, size: Optional[int] = None) -> int:
        self._require(self.writable(), "writable")
        self._is_changed = True
        return self._file.truncate(size)

    def size(self) -> int:
        """How many bytes the file has, those that were written and not yet sent included."""
        if self._plain == "r" and not self._spot.is_local:
            return self._size_there()
        if self.writable():
            self._file.flush()
        return os.fstat(self._file.fileno()).st_size

    def flush(self) -> None:
        """Make what was written visible."""
        if self._file.closed or not self.writable():
            return
        self._file.flush()
        if not self._spot.is_local and self._is_changed:
            self._send()

    def _send(self) -> None:
        raw: Any = self._file if self._is_binary else cast(Any, self._file).buffer
        at = raw.tell()
        raw.seek(0)
        with told(self.name):
            pieces = iter(lambda: raw.read(_PIECE_BYTES), b"")
            self._spot.tree.write(self._spot.path, pieces, os.fstat(raw.fileno()).st_size)
        raw.seek(at)
        self._is_changed = False
        note_upload(self._spot.whole, 1)

    def close(self) -> None:
        if not self._file.closed:
            try:
                self.flush()
            finally:
                self._file.close()

    @property
    def closed(self) -> bool:
        return self._file.closed

    def readable(self) -> bool:
        return self._plain not in ("w", "a")

    def writable(self) -> bool:
        return self._plain != "r"

    def seekable(self) -> bool:
        return True

    def _require(self, allowed: bool, word: str) -> None:
        if not allowed:
            raise io.UnsupportedOperation("%s is not %s in mode %r" % (self.name, word, self.mode))

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> File:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __getattr__(self, name: str) -> Any:
        # Libraries ask for more than MoXing documents: readinto, fileno, encoding. Before `_open` has worked there
        # is nothing to ask.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._file, name)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()


def read(url: Url, client_id: Optional[str] = None, binary: bool = False) -> Any:
    """Everything in a file: text, or with `binary` bytes."""
    with File(url, "rb" if binary else "r") as file:
        return file.read()


def write(url: Url, data: Data, binary: bool = False) -> None:
    """Make a file of these data, whatever was there."""
    with File(url, "wb" if binary or isinstance(data, bytes) else "w") as file:
        file.write(data)


def append(url: Url, data: Data, binary: bool = False) -> None:
    """Add data at the end of a file; it is made when it is missing."""
    with File(url, "ab" if binary or isinstance(data, bytes) else "a") as file:
        file.write(data)


def append_remote(src_url: Url, dst_url: Url, client_id: Optional[str] = None) -> None:
    """Add the bytes of one file at the end of another."""
    with File(src_url, "rb") as source, File(dst_url, "ab") as target:
        for piece in iter(lambda: source.read(_PIECE_BYTES), b""):
            target.write(piece)
