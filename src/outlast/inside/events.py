"""TensorBoard event files that a script writes: found anywhere below its folder, and followed as they grow.

A look costs a `stat` for each known folder and file and nothing else while nothing changes. What lay there before the
script started is not this stint's and is not read again.
"""

from __future__ import annotations

import os
import time
from typing import Callable, Collection, Dict, List, NamedTuple, Optional

from .metrics import Point
from .tfrecords import DamagedRecord, Scalar, records, scalars

#: A look takes at most this share of the time between two looks.
SHARE = 0.02
INTERVAL_S = 1.0
#: Bytes read at one look; with more waiting the next look comes at once.
READ_BYTES = 256 * 1024
FOLDERS_CAP = 4000
FILES_CAP = 500
NAMES_CAP = 1000

_MARK = "tfevents"
_SKIPPED = frozenset(("__pycache__", "node_modules", "site-packages"))
#: Folders that tell data sets apart: Keras writes `train/` and `validation/`, Estimators `eval/`.
_SPLITS = frozenset("train training val valid validation test eval evaluation dev".split())
#: The clock of a file system may be coarse: a folder that changed so recently may change again unnoticed.
_SETTLED_S = 2.0


class _Folder(NamedTuple):
    changed_ns: int
    looked_at_s: float  # wall clock

    def is_settled(self, changed_ns: int) -> bool:
        return changed_ns == self.changed_ns and self.looked_at_s - changed_ns / 1e9 > _SETTLED_S


class EventFiles:
    """Follows every event file below a folder. `problems` collects sentences; whoever shows them empties it."""

    def __init__(self, root: str, skipped: Collection[str] = (), wall_clock: Callable[[], float] = time.time) -> None:
        """`skipped` are folders, relative to `root`, that hold inputs and not results."""
        self._root = root
        self._skipped = {os.path.normpath(os.path.join(root, path)) for path in skipped}
        self._wall_clock = wall_clock
        self._folders: Dict[str, _Folder] = {}
        self._files: Dict[str, _EventFile] = {}
        self._names: Dict[str, None] = {}
        self._look_at_s = float("-inf")
        self.problems: List[str] = []

    def baseline(self) -> None:
        """Leave aside what lies there now."""
        self._find()
        for file in self._files.values():
            file.skip_to_end()

    def poll(self, now_s: float, is_last: bool = False) -> List[Point]:
        """Points written since the last call. Looks only when it is time to, except for the last call."""
        if now_s < self._look_at_s and not is_last:
            return []
        began = time.perf_counter()
        self._find()
        points: List[Point] = []
        has_more = True
        while has_more:
            has_more = False
            for file in list(self._files.values()):
                has_more = file.read() or has_more
                points += self._points(file, now_s, is_last)
                self._settle(file)
            if not is_last:
                break
        took_s = time.perf_counter() - began
        self._look_at_s = now_s + (min(INTERVAL_S, took_s / 0.3) if has_more else max(INTERVAL_S, took_s / SHARE))
        return points

    # ---- finding them

    def _find(self) -> None:
        """Look into every folder whose list of names may have changed, top down."""
        waiting = [self._root]
        known = list(self._folders)
        for path in known:
            self._look_into(path, waiting)
        while waiting:
            path = waiting.pop(0)
            if path not in self._folders:
                self._look_into(path, waiting)

    def _look_into(self, path: str, waiting: List[str]) -> None:
        known = self._folders.get(path)
        try:
            changed_ns = os.stat(path).st_mtime_ns
            if known is not None and known.is_settled(changed_ns):
                return
            with os.scandir(path) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            self._folders.pop(path, None)
            return
        if known is None and len(self._folders) >= FOLDERS_CAP:
            self._say_once("more than %d folders below the script: those found later hold no curves" % FOLDERS_CAP)
            return
        self._folders[path] = _Folder(changed_ns, self._wall_clock())
        for entry in found:
            try:
                if entry.is_dir(follow_symlinks=False):
                    if self._is_wanted(entry) and entry.path not in self._folders:
                        waiting.append(entry.path)
                elif _MARK in entry.name and entry.path not in self._files and entry.is_file(follow_symlinks=False):
                    self._add(path, entry.path)
            except OSError:
                continue

    def _is_wanted(self, entry: os.DirEntry[str]) -> bool:
        return not entry.name.startswith(".") and entry.name not in _SKIPPED and entry.path not in self._skipped

    def _add(self, folder: str, path: str) -> None:
        if len(self._files) >= FILES_CAP:
            self._say_once("more than %d event files: those found later are not read" % FILES_CAP)
            return
        self._files[path] = _EventFile(path, self._prefix(folder))

    def _prefix(self, folder: str) -> str:
        """What tells a folder's tags from those of others: below another folder with events, its path from there."""
        above = {os.path.dirname(path) for path in self._files}
        parent = os.path.dirname(folder)
        while len(parent) >= len(self._root):
            if parent in above:
                return os.path.relpath(folder, parent).replace(os.sep, "/") + "/"
            parent = os.path.dirname(parent)
        name = os.path.basename(folder)
        return name + "/" if name.lower() in _SPLITS and folder != self._root else ""

    # ---- reading them

    def _points(self, file: _EventFile, now_s: float, is_last: bool) -> List[Point]:
        skew_s = now_s - self._wall_clock()
        found = []
        for group in file.take(is_last):
            at_s = min(now_s, max(0.0, group.wall_s + skew_s))
            values = {name: value for name, value in group.values.items() if self._is_known(name)}
            if values:
                found.append(Point(round(at_s, 3), group.epoch, group.step, values))
        return found

    def _is_known(self, name: str) -> bool:
        if name in self._names:
            return True
        if len(self._names) >= NAMES_CAP:
            self._say_once("the event files name more than %d metrics; others are not recorded" % NAMES_CAP)
            return False
        self._names[name] = None
        return True

    def _settle(self, file: _EventFile) -> None:
        if file.problem:
            self.problems.append("event file %s: %s" % (os.path.relpath(file.path, self._root), file.problem))
            file.problem = ""

    def _say_once(self, sentence: str) -> None:
        if sentence not in self._names:
            self._names[sentence] = None
            self.problems.append(sentence)


class _Group:
    """Scalars of one step, one after the other in one file: one point."""

    __slots__ = ("epoch", "step", "values", "wall_s")

    def __init__(self, scalar: Scalar) -> None:
        self.step, self.wall_s = scalar.step, scalar.wall_s
        self.epoch: Optional[float] = None
        self.values: Dict[str, float] = {}


class _EventFile:
    """One file, from where it was read last. A torn record at its end waits; a damaged one is its end."""

    def __init__(self, path: str, prefix: str) -> None:
        self.path = path
        self.problem = ""
        self._prefix = prefix
        self._at = 0
        self._inode = 0
        self._torn_bytes = -1  # size of the file when its last record was found torn
        self._is_quiet = False
        self._is_over = False
        self._groups: List[_Group] = []

    def skip_to_end(self) -> None:
        try:
            self._at = os.stat(self.path).st_size
        except OSError:
            pass

    def read(self) -> bool:
        """Read what was added. True when more is waiting."""
        self._is_quiet = True
        if self._is_over:
            return False
        try:
            stat = os.stat(self.path)
            if self._inode not in (0, stat.st_ino):
                self._at = 0  # another file of this name
            self._inode = stat.st_ino
            if stat.st_size <= self._at or stat.st_size == self._torn_bytes:
                return False
            with open(self.path, "rb") as file:
                file.seek(self._at)
                data = file.read(READ_BYTES)
        except OSError:
            return False
        self._is_quiet = False
        if not self._parse(data):
            self._torn_bytes = stat.st_size
            return False
        return stat.st_size > self._at

    def take(self, is_last: bool) -> List[_Group]:
        """The groups that are complete: while the file grows all but the last, which the next record may continue."""
        cut = len(self._groups) if is_last or self._is_quiet else max(0, len(self._groups) - 1)
        taken, self._groups = self._groups[:cut], self._groups[cut:]
        return taken

    def _parse(self, data: bytes) -> bool:
        """Read whole records. False when there is none."""
        start = self._at
        try:
            for end, payload in records(data):
                for scalar in scalars(payload) if payload is not None else ():
                    self._put(scalar)
                self._at = start + end
        except DamagedRecord as error:
            self._is_over = True
            self.problem = "%s is damaged at byte %d; what follows is not read" % (error, self._at)
        return self._at != start

    def _put(self, scalar: Scalar) -> None:
        if scalar.tag.startswith("_hparams_"):
            return
        group = self._groups[-1] if self._groups else None
        name = self._prefix + scalar.tag
        if group is None or group.step != scalar.step or name in group.values:
            group = _Group(scalar)
            self._groups.append(group)
        if scalar.tag.rsplit("/", 1)[-1] == "epoch":  # Hugging Face and Lightning write where they are beside the rest
            group.epoch = scalar.value
        else:
            group.values[name] = scalar.value
