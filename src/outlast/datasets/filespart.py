"""Samples that are files: images in class folders, pairs of image and label, and the index files that name them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from outlast.datasets import naming
from outlast.datasets.choosing import choose
from outlast.datasets.lists import JsonFile, ListFile, read_list, rows_of
from outlast.datasets.parts import LARGEST_LIST_BYTES, SMALL_BYTES, Notes, keep_whole, read_text, write_text
from outlast.datasets.reading import Dataset, Thing
from outlast.datasets.resolving import Key
from outlast.datasets.survey import Survey

# A table with more labels than this is not divided by them: every one of them would have to keep a sample.
_MOST_LABELS = 50
_TABLES = (".csv", ".tsv", ".jsonl")


class FilesPart:
    """All samples of a place that are files of their own, its index files, and the files beside them."""

    def __init__(self, dataset: Dataset, survey: Survey) -> None:
        self._dataset = dataset
        self._survey = survey
        self._lists: dict[Thing, ListFile | JsonFile] = {}
        self._whole = list(survey.others)
        self._tables: dict[str, tuple[Thing, str]] = {}
        self._read_lists()
        self._strata = self._divide()
        self.counts: Mapping[str, int] = {
            **{name: len(keys) for name, keys in self._strata.items()},
            **{name: len(rows_of(thing.path, text)[1]) for name, (thing, text) in self._tables.items()},
        }

    def write(self, target: Path, quota: Mapping[str, int], seed: int, notes: Notes) -> None:
        kept: set[Key] = set()
        for name, keys in self._strata.items():
            kept.update(choose(keys, quota.get(name, 0), seed, name))
        files = [thing for key in sorted(kept) for thing in self._survey.samples[key]]
        self._dataset.fetch(sorted(files, key=lambda thing: thing.path), target)
        for thing, found in self._lists.items():
            write_text(target, thing.path, found.trimmed(kept.__contains__))
        for name, (thing, text) in self._tables.items():
            first, rows = rows_of(thing.path, text)
            write_text(target, thing.path, first + "".join(choose(rows, quota.get(name, 0), seed, name)))
        keep_whole(self._dataset, self._whole, target, notes)

    def _read_lists(self) -> None:
        resolver = self._survey.resolver()
        for thing in self._survey.lists:
            text = read_text(self._dataset, thing) if thing.size_bytes <= LARGEST_LIST_BYTES else None
            found = read_list(thing.path, text, resolver) if text is not None else None
            if text is not None and found is not None and found.refers:
                self._lists[thing] = found
            elif text is not None and self._is_table(thing):
                self._tables[thing.path] = (thing, text)
            else:
                self._whole.append(thing)

    def _is_table(self, thing: Thing) -> bool:
        """Rows are samples of their own in a large table, and in any table where nothing else is a sample."""
        alone = not self._survey.samples and not self._survey.arrays
        return naming.extension(thing.path) in _TABLES and (alone or thing.size_bytes > SMALL_BYTES)

    def _divide(self) -> dict[str, list[Key]]:
        """Samples by folder, by the split lists that name them, and by their label in a table."""
        marks: dict[Key, list[str]] = defaultdict(list)
        for thing, found in self._lists.items():
            split = naming.split_of(thing.path.rpartition(".")[0])
            named = list(found.keys())
            labels = Counter(label for _, label in named)
            for key, label in named:
                if split and split not in marks[key]:
                    marks[key].append(split)
                if label and len(labels) <= _MOST_LABELS:
                    marks[key].append(label)
        strata: dict[str, list[Key]] = defaultdict(list)
        for key in sorted(self._survey.samples):
            folder = _principal(self._survey.samples[key]).folder or "."
            strata[" ".join([folder, *map("[{}]".format, sorted(set(marks[key])))])].append(key)
        return dict(sorted(strata.items()))


def _principal(things: list[Thing]) -> Thing:
    """The file that a sample is about: the image, not its mask or label, as far as names tell."""
    return min(things, key=_rank)


def _rank(thing: Thing) -> tuple[bool, bool, str]:
    name = thing.path.rpartition("/")[2]
    bare = name[: len(name) - len(naming.extension(name))]
    return naming.extension(thing.path) not in naming.MEDIA, naming.stem(thing.path) != bare, thing.path
