"""What each file of a data set is: part of a sample, an index that names samples, many samples in one, or neither."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from outlast.datasets import naming
from outlast.datasets.lists import read_list
from outlast.datasets.reading import FILE, Thing
from outlast.datasets.resolving import Key, Resolver

#: So many files of one kind are samples; fewer are files in their own right.
MANY = 10
_PROBES = 3


@dataclass
class Survey:
    """A data set taken apart. Every file is in exactly one of these."""

    samples: dict[Key, list[Thing]] = field(default_factory=dict)
    lists: list[Thing] = field(default_factory=list)
    arrays: list[Thing] = field(default_factory=list)  # idx, npy, npz
    records: list[Thing] = field(default_factory=list)  # tfrecord
    archives: list[Thing] = field(default_factory=list)  # zip, tar
    others: list[Thing] = field(default_factory=list)

    def resolver(self) -> Resolver:
        return Resolver({key: [thing.path for thing in things] for key, things in self.samples.items()})


def take_apart(things: Iterable[Thing], peek: Callable[[Thing], str]) -> Survey:
    """Sort the files of a place. `peek` gives the beginning of a text file; it is asked for a few of them only."""
    files = [thing for thing in things if thing.kind == FILE and ".git" not in thing.path.split("/")]
    survey = Survey()
    totals = Counter(naming.extension(thing.path) for thing in files)
    rest = [thing for thing in files if not _place_whole(thing, totals, survey)]
    samples: dict[Key, list[Thing]] = defaultdict(list)
    texts = []
    for thing in rest:
        kind = naming.extension(thing.path)
        if kind in naming.MEDIA or (kind not in naming.TEXTS and totals[kind] >= MANY):
            samples[naming.sample_key(thing.path)].append(thing)
        else:
            texts.append(thing)
    alone = []
    for thing in texts:
        key = naming.sample_key(thing.path)
        if key in samples:
            samples[key].append(thing)
        else:
            alone.append(thing)
    survey.samples = dict(samples)
    _place_texts(alone, survey, peek)
    return survey


def _place_whole(thing: Thing, totals: Counter[str], survey: Survey) -> bool:
    """True for a file that holds many samples."""
    kind = naming.extension(thing.path)
    if naming.RECORDS.search(thing.name):
        survey.records.append(thing)
    elif naming.IDX.search(thing.name) or (kind in naming.ARRAYS and totals[kind] < MANY):
        survey.arrays.append(thing)
    elif kind in naming.ARCHIVES:
        survey.archives.append(thing)
    else:
        return False
    return True


def _place_texts(things: list[Thing], survey: Survey, peek: Callable[[Thing], str]) -> None:
    groups: dict[tuple[str, str], list[Thing]] = defaultdict(list)
    for thing in things:
        groups[thing.folder, naming.extension(thing.path)].append(thing)
    resolver = survey.resolver()
    for (_, kind), group in groups.items():
        is_list = kind in naming.LISTS
        if len(group) >= MANY and kind and not (is_list and _refer(group, resolver, peek)):
            for thing in group:
                survey.samples.setdefault(naming.sample_key(thing.path), []).append(thing)
        else:
            (survey.lists if is_list else survey.others).extend(group)


def _refer(group: list[Thing], resolver: Resolver, peek: Callable[[Thing], str]) -> bool:
    """True when these files name samples: the largest of them are looked into."""
    for thing in sorted(group, key=lambda thing: (-thing.size_bytes, thing.path))[:_PROBES]:
        found = read_list(thing.path, peek(thing), resolver)
        if found is not None and found.refers:
            return True
    return False
