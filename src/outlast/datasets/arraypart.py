"""Samples that are records of arrays: idx files and npy files of one length belong together, in npz files too."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from outlast.datasets import naming
from outlast.datasets.arrays import Array, Read, cut, labels_of, read_head
from outlast.datasets.choosing import choose
from outlast.datasets.parts import Notes, inside, keep_whole, read_bytes
from outlast.datasets.reading import Dataset, Thing

_MOST_CLASSES = 100
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the same samples give the same zip


@dataclass
class Column:
    """One array of a group, and where its shorter form goes."""

    name: str
    array: Array
    read: Read
    put: Callable[[Path, bytes], None]


class ArraysPart:
    """Arrays of one folder (or one npz) with the same number of records: images, and their labels."""

    def __init__(self, name: str, columns: list[Column]) -> None:
        self._columns = columns
        self._strata = _by_label(name, columns)
        self.counts: Mapping[str, int] = {stratum: len(at) for stratum, at in self._strata.items()}

    def write(self, target: Path, quota: Mapping[str, int], seed: int, notes: Notes) -> None:
        chosen: list[int] = []
        for stratum, records in self._strata.items():
            chosen += choose(records, quota.get(stratum, 0), seed, stratum)
        for column in self._columns:
            column.put(target, cut(column.array, column.read, sorted(chosen)))


class WholePart:
    """Arrays that cannot be cut."""

    counts: Mapping[str, int] = {}

    def __init__(self, dataset: Dataset, things: list[Thing]) -> None:
        self._dataset, self._things = dataset, things

    def write(self, target: Path, quota: Mapping[str, int], seed: int, notes: Notes) -> None:
        keep_whole(self._dataset, self._things, target, notes)


class NpzPart:
    """One npz file: a zip of arrays."""

    def __init__(self, dataset: Dataset, thing: Thing) -> None:
        self._path = thing.path
        self._zip = zipfile.ZipFile(io.BytesIO(read_bytes(dataset, thing)))
        self._cut: dict[str, bytes] = {}
        groups: dict[tuple[str, int], list[Column]] = defaultdict(list)
        for name in self._zip.namelist():
            data = self._zip.read(name)
            read = _reader(data)
            array = read_head(read)
            if array is None:
                self._cut[name] = data
            else:
                groups[naming.split_of(name), array.count].append(Column(name, array, read, self._keeper(name)))
        self._parts = [ArraysPart(f"{thing.path}{_of(split)}", columns) for (split, _), columns in groups.items()]
        self.counts: Mapping[str, int] = {name: count for part in self._parts for name, count in part.counts.items()}

    def write(self, target: Path, quota: Mapping[str, int], seed: int, notes: Notes) -> None:
        for part in self._parts:
            part.write(target, quota, seed, notes)
        with zipfile.ZipFile(inside(target, self._path), "w") as out:
            for info in self._zip.infolist():
                out.writestr(zipfile.ZipInfo(info.filename, _OLDEST), self._cut[info.filename], info.compress_type)

    def _keeper(self, name: str) -> Callable[[Path, bytes], None]:
        def keep(_: Path, data: bytes) -> None:
            self._cut[name] = data

        return keep


def array_parts(dataset: Dataset, things: list[Thing]) -> Iterator[ArraysPart | NpzPart | WholePart]:
    """The parts that the array files of a place make."""
    groups: dict[tuple[str, str, int], list[Column]] = defaultdict(list)
    whole = []
    for thing in things:
        if naming.extension(thing.path) == ".npz":
            yield NpzPart(dataset, thing)
            continue
        read = _reader_of(dataset, thing)
        array = read_head(read)
        if array is None:
            whole.append(thing)
        else:
            key = (thing.folder, naming.split_of(thing.name), array.count)
            groups[key].append(Column(thing.name, array, read, _writer(thing)))
    for (folder, split, _), columns in groups.items():
        yield ArraysPart(f"{folder or '.'}{_of(split) or ' ' + columns[0].name}", columns)
    if whole:
        yield WholePart(dataset, whole)


def _of(split: str) -> str:
    return f" [{split}]" if split else ""


def _by_label(name: str, columns: list[Column]) -> dict[str, list[int]]:
    """Record numbers by class, when one of the arrays looks like labels."""
    count = columns[0].array.count
    for column in columns:
        if column.array.is_flat and len(columns) > 1:
            labels = labels_of(column.array, column.read)
            classes = sorted(set(labels))
            if len(labels) == count and len(classes) <= _MOST_CLASSES:
                strata: dict[str, list[int]] = {f"{name} class {at}": [] for at in range(len(classes))}
                numbers = {label: at for at, label in enumerate(classes)}
                for record, label in enumerate(labels):
                    strata[f"{name} class {numbers[label]}"].append(record)
                return strata
    return {name: list(range(count))}


def _reader(data: bytes) -> Read:
    return lambda start, length: data[start : start + length]


def _reader_of(dataset: Dataset, thing: Thing) -> Read:
    """By range where that is possible; a compressed file has to be read whole."""
    if not thing.name.endswith(".gz"):
        return lambda start, length: b"".join(dataset.pieces(thing, start, length))
    return _reader(gzip.decompress(read_bytes(dataset, thing)))


def _writer(thing: Thing) -> Callable[[Path, bytes], None]:
    def write(target: Path, data: bytes) -> None:
        packed = gzip.compress(data, mtime=0) if thing.name.endswith(".gz") else data
        inside(target, thing.path).write_bytes(packed)

    return write
