"""The packed outputs of an instance, taken apart: what its stint left goes into the store folder, nothing else does.

An archive comes from a machine that ran a stranger's code. Only regular files under names that this stint may have
written are taken; a blob must have the digest that it is named by; the end is put last, so that whoever sees it finds
all that it speaks of.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import re
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from outlast.errors import PlatformError
from outlast.inside import layout
from outlast.inside.errors import Damaged
from outlast.inside.records import Manifest
from outlast.inside.stores.file import FileStore
from outlast.model.quantities import format_size

#: The folder of the outputs in which the boot file works.
_WORKED_IN = "outlast"
_PIECE_BYTES = 1 << 20
_MOST_FILES = 1_000_000
#: What an archive may not take of the disk that the home lies on.
_RESERVE_BYTES = 1 << 30


class BadResults(PlatformError):
    """The outputs of an instance cannot be what its stint wrote; asking again does not mend that."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)


def unpack_results(archive: Path, store: FileStore, run: str, stint: int, aside: Path) -> int:
    """Put what a stint left into the store and return the number of files. Repeating it changes nothing.

    Everything is taken apart beside the store first: an archive that is damaged or hostile leaves no trace in it.
    """
    room_bytes = max(0, shutil.disk_usage(aside).free - _RESERVE_BYTES)
    keys = list(_extract(archive, aside, _allowed(run, stint), room_bytes))
    rank = {key: _rank(key) for key in keys}
    for key in sorted(keys, key=lambda each: (rank[each], each)):
        if rank[key] == _MANIFEST:
            _check_manifest(aside / key, store)
        with (aside / key).open("rb") as file:
            store.put_if_absent(key, file)
    return len(keys)


_BLOB, _MANIFEST, _OTHER, _END = range(4)


def _rank(key: str) -> int:
    """Bytes before the manifest that names them, the end after everything."""
    if layout.blob_of_key(key):
        return _BLOB
    if key.endswith("/end.json"):
        return _END
    return _MANIFEST if "/checkpoints/" in key or key.endswith("/outputs.json") else _OTHER


def _allowed(run: str, stint: int) -> re.Pattern[str]:
    """The keys that one stint may add to its run folder."""
    own = re.escape(layout.stint_prefix(run, stint)) + r"(?:(?:claim|beat|end)\.json|(?:log|metrics)/[0-9]{6,})"
    committed = re.escape(layout.checkpoints_prefix(run)) + rf"{stint:04d}-[0-9]{{6,}}\.json"
    blob = r"blobs/sha256/[0-9a-f]{2}/[0-9a-f]{62}"
    return re.compile("|".join((own, committed, re.escape(layout.outputs_key(run)), blob)))


def _extract(archive: Path, aside: Path, allowed: re.Pattern[str], room_bytes: int) -> Iterator[str]:
    left_bytes = room_bytes
    with _readable(), gzip.open(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as packed:
        for number, member in enumerate(packed):
            if number > _MOST_FILES:
                raise BadResults(f"the outputs hold more than {_MOST_FILES:,} files")
            key = _key_of(member.name)
            if not member.isreg() or not allowed.fullmatch(key):
                continue
            left_bytes -= member.size
            if left_bytes < 0:
                raise PlatformError(f"the outputs need more than the {format_size(room_bytes)} that are free here")
            source = packed.extractfile(member)
            assert source is not None  # it is a regular file
            _write(source, aside / key, layout.blob_of_key(key))
            yield key
        while stream.read(_PIECE_BYTES):  # only at its end does gzip tell whether all of it was there
            pass


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise PlatformError(f"cannot unpack the outputs: {error.strerror}") from error
        raise BadResults(f"the outputs are no whole archive: {error}") from None


def _key_of(name: str) -> str:
    """A member's key in the store; archives name their members with or without the folder around them."""
    parts = name.split("/")
    return "/".join(parts[parts.index(_WORKED_IN) + 1 :]) if _WORKED_IN in parts else ""


def _write(source: IO[bytes], target: Path, sha256: str | None) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with target.open("wb") as file:
        while piece := source.read(_PIECE_BYTES):
            digest.update(piece)
            file.write(piece)
    if sha256 is not None and digest.hexdigest() != sha256:
        raise BadResults(f"blob {sha256[:12]} of the outputs does not match its digest")


def _check_manifest(path: Path, store: FileStore) -> None:
    """A manifest is a promise to restore: every byte that it names must be there, of the right size."""
    try:
        files = Manifest.from_bytes(path.read_bytes()).files
        for name, entry in files.items():
            there = store.head(layout.blob_key(str(entry["sha256"])))
            if there is None or there.size_bytes != entry["size"]:
                raise BadResults(f"checkpoint {path.stem} names {name}, which is not among the outputs")
    except (Damaged, KeyError, TypeError, AttributeError):
        raise BadResults(f"{path.name} of the outputs is no manifest") from None
