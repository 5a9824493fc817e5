"""Archives written entry by entry to nowhere in particular: what is ready is taken, so memory stays small."""

from __future__ import annotations

import stat
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, cast

from outlast.inside.move.names import as_text

_OLDEST = (1980, 1, 1, 0, 0, 0)  # for a zip
_GZIP = 31  # of zlib: with gzip's head and tail


class _Sink:
    """Takes bytes and cannot seek."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self.pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""


class Zip:
    """A zip. Entries that are not `packed` are stored as they are: weights do not get smaller."""

    def __init__(self) -> None:
        self._sink = _Sink()
        self._zip = zipfile.ZipFile(cast(IO[bytes], self._sink), "w", allowZip64=True)
        self._entry: IO[bytes] | None = None

    def begin(self, info: tarfile.TarInfo, *, packed: bool) -> None:
        name = as_text(info.name) + ("/" if info.isdir() else "")
        entry = zipfile.ZipInfo(name, max(time.gmtime(info.mtime)[:6], _OLDEST))
        kind = stat.S_IFLNK if info.issym() else stat.S_IFDIR if info.isdir() else stat.S_IFREG
        entry.external_attr = (kind | info.mode & 0o777) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED if packed and info.isreg() else zipfile.ZIP_STORED
        entry.file_size = info.size
        self._entry = self._zip.open(entry, "w")
        if info.issym():
            self._entry.write(info.linkname.encode("utf-8", "surrogateescape"))

    def write(self, piece: bytes) -> None:
        assert self._entry is not None
        self._entry.write(piece)

    def end(self) -> None:
        assert self._entry is not None
        self._entry.close()

    def close(self) -> None:
        self._zip.close()

    def taken(self) -> Iterator[bytes]:
        """What is ready; it is not kept."""
        ready, self._sink.pieces = self._sink.pieces, []
        return iter(ready)


class TarGz:
    """A tar.gz. A gzip may be several in a row: entries that are not `packed` are in one that only stores."""

    def __init__(self, comment: str) -> None:
        self._ready: list[bytes] = []
        self._packer = zlib.compressobj(wbits=_GZIP)
        self._padding = 0
        self._is_packing = True
        head = tarfile.TarInfo.create_pax_global_header({"comment": comment})
        self.write(head)

    def begin(self, info: tarfile.TarInfo, *, packed: bool) -> None:
        if packed != self._is_packing:
            self._ready.append(self._packer.flush())
            self._packer = zlib.compressobj(zlib.Z_DEFAULT_COMPRESSION if packed else 0, wbits=_GZIP)
            self._is_packing = packed
        self.write(info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape"))
        self._padding = -info.size % tarfile.BLOCKSIZE if info.isreg() else 0

    def write(self, piece: bytes) -> None:
        self._ready.append(self._packer.compress(piece))

    def end(self) -> None:
        self.write(bytes(self._padding))

    def close(self) -> None:
        self.write(bytes(2 * tarfile.BLOCKSIZE))
        self._ready.append(self._packer.flush())

    def taken(self) -> Iterator[bytes]:
        """What is ready; it is not kept."""
        ready, self._ready = self._ready, []
        return (piece for piece in ready if piece)
