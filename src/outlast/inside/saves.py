"""What one save of this script looks like, learned from the saves before: one file or several, and in which order."""

from __future__ import annotations

import collections
import re
from typing import Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from .seen import SeenFile

_NUMBER = re.compile(r"\d+")


def family(path: str) -> str:
    """A path without its numbers: `epoch_6.pt` and `epoch_7.pt` are of one family."""
    return _NUMBER.sub("#", path)


def in_order(files: Iterable[SeenFile]) -> List[SeenFile]:
    """Oldest first."""
    return sorted(files, key=lambda file: (file.mtime_ns, file.path))


class Saves:
    """Decides whether the files that changed can be one whole save, without waiting for quiet.

    Wrong answers must be "no": a `no` costs a moment of waiting, a wrong `yes` mixes two saves.
    """

    def __init__(self) -> None:
        self._last: Optional[Tuple[str, ...]] = None  # paths of the last save, oldest first
        self._ordered = False  # False when two of them carry the same time, so that the order is a guess
        self._single = False  # each save so far was one file

    def learn(self, changed: Sequence[SeenFile]) -> None:
        """These files are one save, or several whole saves of the known form."""
        files = in_order(changed)
        if not files:
            return
        if self._last is not None and len(self._last) > 1 and self._is_repeated(files):
            files = files[-len(self._last) :]
        self._single = len(files) == 1 or (self._single and self._is_series(files))
        self._last = tuple(file.path for file in files)
        self._ordered = _is_strict(files)

    @property
    def is_empty(self) -> bool:
        """Nothing was learned yet."""
        return self._last is None

    def is_single(self, changed: Sequence[SeenFile], base: Dict[str, SeenFile], present: Iterable[str]) -> bool:
        """Each changed file is a save of its own: as the last one was, or as the files beside it show."""
        if self._last is not None:
            return self._single and self._is_series(changed)
        if len(changed) != 1 or not base:
            return False
        path = changed[0].path
        if path in base:
            # The place held this one file before and still does.
            return len(base) == 1 and set(present) == {path}
        return all(_follows(path, older) for older in base)

    def is_cycle(self, changed: Sequence[SeenFile], noticed_s: Mapping[str, float]) -> bool:
        """The same files as in the last save, in the same order: the one that is written last is the newest.

        In the middle of a save the order is another, because the files written first are already newer. File times
        follow a clock that may be set back; when we ourselves noticed the changes in another order, it was.
        """
        files = in_order(changed)
        if self._last is None or not self._ordered or not _is_strict(files):
            return False
        times_s = [noticed_s.get(file.path, 0.0) for file in files]
        if times_s != sorted(times_s):
            return False
        paths = [file.path for file in files]
        if len(self._last) < 2 or paths == list(self._last):
            return len(self._last) > 1
        # Shards of one family change places among themselves; only new ones are surely another save.
        distinct = len({family(path) for path in self._last}) == len(self._last)
        return self._is_repeated(files) and (distinct or not set(paths) & set(self._last))

    def lacks(self, changed: Sequence[SeenFile]) -> str:
        """A file that the last save wrote and this one has not written yet, or nothing."""
        if self._last is None or self._single:
            return ""
        now = collections.Counter(family(file.path) for file in changed)
        for path in self._last:
            if now[family(path)] == 0:
                return path
            now[family(path)] -= 1
        return ""

    def _is_repeated(self, files: Sequence[SeenFile]) -> bool:
        """Numbered names: the families of the last save in the same order, perhaps several times.

        Once only where a family occurs twice in a save: a third of three shards looks like a whole save of one.
        """
        last = [family(path) for path in self._last or ()]
        times = len(files) // len(last) if len(set(last)) == len(last) else 1
        return [family(file.path) for file in files] == last * times

    def _is_series(self, files: Sequence[SeenFile]) -> bool:
        """Whether all files are of the last save's family and differ from it in one and the same number."""
        if not self._last:
            return False
        last = self._last[-1]
        return all(file.path == last or differs_once(file.path, last) for file in files)


def _is_strict(files: Sequence[SeenFile]) -> bool:
    return all(files[index - 1].mtime_ns < files[index].mtime_ns for index in range(1, len(files)))


def _differing(path: str, other: str) -> List[Tuple[int, int]]:
    pairs = zip(_NUMBER.findall(path), _NUMBER.findall(other))
    return [(int(mine), int(theirs)) for mine, theirs in pairs if int(mine) != int(theirs)]


def differs_once(path: str, other: str) -> bool:
    """One number differs: `step-100/shard-0` and `step-50/shard-1` are parts of saves, not saves."""
    return family(path) == family(other) and len(_differing(path, other)) == 1


def _follows(path: str, older: str) -> bool:
    """`epoch_7.pt` follows `epoch_6.pt`: the same name with one number grown."""
    return differs_once(path, older) and all(mine > theirs for mine, theirs in _differing(path, older))
