"""Looking into the code that a run was packed with."""

from __future__ import annotations

import contextlib
import hashlib
import io
import tarfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from outlast.inside import layout
from outlast.inside.errors import InsideError
from outlast.store.base import Store

T = TypeVar("T")

#: A larger pack is not fetched only to be looked at.
MOST_BYTES = 64 << 20


def pack_digests(store: Store, spec: Mapping[str, Any]) -> dict[str, str] | None:
    """Each file of a run's code with its digest; None when the pack is gone, broken or too large to fetch."""
    return _look(store, spec, lambda archive: {member.name: _digest(archive, member) for member in archive})


def pack_text(store: Store, spec: Mapping[str, Any], path: str) -> str | None:
    """One text file of a run's code."""

    def read(archive: tarfile.TarFile) -> str | None:
        file = archive.extractfile(path)
        return None if file is None else file.read().decode("utf-8", "replace")

    return _look(store, spec, read)


def pack_texts(store: Store, spec: Mapping[str, Any], paths: Iterable[str], most_bytes: int) -> dict[str, str]:
    """The beginnings of some text files of a run's code; what is no text, or not there, is left out."""

    def read(archive: tarfile.TarFile) -> dict[str, str]:
        found = {}
        for path in paths:
            with contextlib.suppress(KeyError, UnicodeDecodeError):
                file = archive.extractfile(path)
                if file is not None:
                    found[path] = file.read(most_bytes).decode("utf-8")
        return found

    return _look(store, spec, read) or {}


def differing_files(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """Paths that only one of two packs has, or that differ."""
    return sorted(path for path in first.keys() | second.keys() if first.get(path) != second.get(path))


def _look(store: Store, spec: Mapping[str, Any], read: Callable[[tarfile.TarFile], T]) -> T | None:
    code = spec.get("code") or {}
    if not code.get("sha256") or int(code.get("size_bytes") or 0) > MOST_BYTES:
        return None
    try:
        data = store.get(layout.blob_key(str(code["sha256"])))
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            return read(archive)
    except (InsideError, tarfile.TarError, KeyError):
        return None


def _digest(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    if not member.isfile():
        return f"{member.type!r} {member.linkname}"
    file = archive.extractfile(member)
    return hashlib.sha256(file.read() if file else b"").hexdigest() + oct(member.mode)
