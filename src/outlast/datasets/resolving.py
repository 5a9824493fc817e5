"""From a word in a list, a table or a JSON file to the sample it means."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable, Mapping

from outlast.datasets.naming import split_of, stem

Key = tuple[str, str]


class Resolver:
    """Knows the files of all samples by name. Lists may hold absolute paths of another machine, or stems only."""

    def __init__(self, samples: Mapping[Key, Iterable[str]]) -> None:
        self._by_name: dict[str, list[tuple[str, Key]]] = defaultdict(list)
        self._by_stem: dict[str, list[tuple[str, Key]]] = defaultdict(list)
        for key, paths in samples.items():
            for path in paths:
                self._by_name[path.rpartition("/")[2]].append((path, key))
                bare = path.rpartition(".")[0] or path
                self._by_stem[bare.rpartition("/")[2]].append((bare, key))
                if stem(path) != bare.rpartition("/")[2]:
                    self._by_stem[stem(path)].append((bare, key))
        self._beside = ""

    def beside(self, path: str) -> Resolver:
        """The same for words in that file: where a name is there twice, its own split and folder come first."""
        other = copy.copy(self)
        other._beside = path
        return other

    def find(self, word: str) -> Key | None:
        """The sample that a word names; None when it names none. The longest common end of the paths decides."""
        text = word.strip().strip("\"'").replace("\\", "/").lstrip("./")
        name = text.rpartition("/")[2]
        if not name:
            return None
        found = self._by_name.get(name) or self._by_stem.get(name)
        if not found:
            return None
        if len(found) == 1:
            return found[0][1]
        return max(found, key=lambda each: (_common(each[0], text, at_end=True), self._nearness(each[0])))[1]

    def _nearness(self, path: str) -> tuple[bool, int]:
        same_split = split_of(path.rpartition("/")[0]) == split_of(self._beside)
        return same_split, _common(path, self._beside, at_end=False)


def _common(path: str, text: str, at_end: bool) -> int:
    """How many names two paths share, counted from their ends or from their beginnings."""
    ours, theirs = path.split("/"), text.split("/")
    if at_end:
        ours, theirs = ours[::-1], theirs[::-1]
    count = 0
    for mine, other in zip(ours, theirs, strict=False):
        if mine != other:
            break
        count += 1
    return count
