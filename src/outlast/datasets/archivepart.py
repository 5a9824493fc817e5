"""Samples inside a zip or tar: a place like any other, and its small copy is an archive of the same kind."""

from __future__ import annotations

import contextlib
import gzip
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from outlast.datasets.parts import Notes, Part, copy_to, inside
from outlast.datasets.reading import Dataset, Thing
from outlast.inside.errors import NotFound
from outlast.inside.move.packed import unsafe_path

_PIECE_BYTES = 1 << 20
_OLDEST = (1980, 1, 1, 0, 0, 0)


class ArchiveDataset:
    """The files of a local zip or tar. Links, devices and paths that lead outside are not seen at all."""

    def __init__(self, file: Path, url: str) -> None:
        self.url = url
        is_zip = zipfile.is_zipfile(file)
        self._tar = None if is_zip else tarfile.open(file)  # noqa: SIM115 - `close` does it
        self._zip = zipfile.ZipFile(file) if is_zip else None
        self._members: dict[str, tarfile.TarInfo] = {}

    def close(self) -> None:
        for archive in (self._tar, self._zip):
            if archive is not None:
                archive.close()

    def things(self) -> Iterator[Thing]:
        found = {thing.path: thing for thing in self._all() if not unsafe_path(thing.path)}
        return iter(sorted(found.values(), key=lambda thing: thing.path))

    def pieces(self, thing: Thing, start: int = 0, length: int | None = None) -> Iterator[bytes]:
        with self._open(thing.path) as source:
            source.seek(start)
            left = thing.size_bytes - start if length is None else length
            while left > 0 and (piece := source.read(min(left, _PIECE_BYTES))):
                left -= len(piece)
                yield piece

    def fetch(self, things: Sequence[Thing], folder: Path) -> None:
        for thing in things:
            with inside(folder, thing.path).open("wb") as out:
                out.writelines(self.pieces(thing))

    def _all(self) -> Iterator[Thing]:
        if self._zip is not None:
            for info in self._zip.infolist():
                if not info.is_dir():
                    yield Thing(info.filename, info.file_size)
        if self._tar is not None:
            for member in self._tar:
                if member.isreg():
                    self._members[member.name.removeprefix("./")] = member
                    yield Thing(member.name.removeprefix("./"), member.size)

    def _open(self, path: str) -> IO[bytes]:
        if self._zip is not None:
            return self._zip.open(path)
        source = self._tar.extractfile(self._members[path]) if self._tar is not None else None
        if source is None:
            raise NotFound(f"{path} in {self.url}")
        return source


class ArchivePart:
    """One zip or tar."""

    def __init__(
        self, dataset: Dataset, thing: Thing, draft: Callable[[Dataset], list[Part]], stack: contextlib.ExitStack
    ) -> None:
        self._path = thing.path
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="outlast-mini-"))
        archive = ArchiveDataset(copy_to(dataset, thing, Path(folder)), thing.path)
        stack.callback(archive.close)
        self._parts = draft(archive)
        self.counts: Mapping[str, int] = {
            f"{thing.path}: {name}": count for part in self._parts for name, count in part.counts.items()
        }

    def write(self, target: Path, quota: Mapping[str, int], seed: int, notes: Notes) -> None:
        start = len(self._path) + 2
        inner = {name[start:]: count for name, count in quota.items() if name in self.counts}
        below = Notes()
        with tempfile.TemporaryDirectory(prefix="outlast-mini-") as folder:
            for part in self._parts:
                part.write(Path(folder), inner, seed, below)
            self._pack(Path(folder), inside(target, self._path))
        notes.lines += [f"{self._path}: {line}" for line in below.lines]

    def _pack(self, folder: Path, target: Path) -> None:
        files = sorted((file.relative_to(folder).as_posix(), file) for file in folder.rglob("*") if file.is_file())
        if target.name.lower().endswith(".zip"):
            with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
                for name, file in files:
                    out.writestr(zipfile.ZipInfo(name, _OLDEST), file.read_bytes(), zipfile.ZIP_DEFLATED)
            return
        is_plain = target.name.lower().endswith(".tar")
        with (
            target.open("wb") as raw,
            raw if is_plain else gzip.GzipFile("", "wb", 9, raw, 0) as stream,
            tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            for name, file in files:
                info = tarfile.TarInfo(name)
                info.size = file.stat().st_size
                with file.open("rb") as data:
                    tar.addfile(info, data)
