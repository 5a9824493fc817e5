"""Samples that are records of TFRecord files: cut at record boundaries, reading no more than what is kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from outlast.datasets import naming
from outlast.datasets.parts import Notes, inside
from outlast.datasets.reading import Dataset, Thing

# A record is: length (8 bytes), its checksum (4), the data, its checksum (4).
_HEAD_BYTES, _AROUND_BYTES = 12, 16


class RecordsPart:
    """The TFRecord files of one folder and one split. The first records are kept: such files come shuffled."""

    def __init__(self, dataset: Dataset, name: str, things: list[Thing]) -> None:
        self._dataset = dataset
        self._name = name
        self._things = things
        self.counts: Mapping[str, int] = {name: sum(_estimate(dataset, thing) for thing in things)}

    def write(self, target: Path, quota: Mapping[str, int], seed: int, notes: Notes) -> None:
        share = quota.get(self._name, 0)
        used = self._things[: max(min(share, len(self._things)), 1)]
        for at, thing in enumerate(used):
            count = share // len(used) + (at < share % len(used))
            with inside(target, thing.path).open("wb") as out:
                for record in _records(self._dataset, thing, count):
                    out.write(record)
        if len(used) < len(self._things):
            notes.add(f"kept {len(used)} of {len(self._things)} record files of {self._name}")


def record_parts(dataset: Dataset, things: list[Thing]) -> Iterator[RecordsPart]:
    groups: dict[tuple[str, str], list[Thing]] = defaultdict(list)
    for thing in things:
        groups[thing.folder, naming.split_of(thing.name)].append(thing)
    for (folder, split), group in groups.items():
        yield RecordsPart(dataset, f"{folder or '.'} {split or group[0].name} records", group)


def _estimate(dataset: Dataset, thing: Thing) -> int:
    """How many records a file has, if all are as long as the first: counting would mean reading it all."""
    head = b"".join(dataset.pieces(thing, 0, _HEAD_BYTES))
    if len(head) < _HEAD_BYTES:
        return 0
    length = int.from_bytes(head[:8], "little")
    return max(thing.size_bytes // (length + _AROUND_BYTES), 1)


def _records(dataset: Dataset, thing: Thing, count: int) -> Iterator[bytes]:
    at = 0
    for _ in range(count):
        head = b"".join(dataset.pieces(thing, at, _HEAD_BYTES))
        if len(head) < _HEAD_BYTES:
            return
        size = int.from_bytes(head[:8], "little") + _AROUND_BYTES
        if at + size > thing.size_bytes:
            return
        yield b"".join(dataset.pieces(thing, at, size))
        at += size
