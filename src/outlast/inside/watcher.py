"""Which files are one checkpoint, and when is it whole? Watches a place that an unmodified script saves into.

A set of files is offered when every changed file is closed, stable and valid for its kind, and when the set cannot
be a mixture of two saves. When in doubt it waits: the checkpoint before stays the last one.
"""

from __future__ import annotations

import os
import time
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Set, Tuple

from .formats import Verdict, check_file
from .looking import Key, Look, is_stream, key_of, look, may_be_stream
from .procfiles import Inode, Writer, find_writers
from .rounds import Rounds
from .saves import Saves, in_order
from .seen import SeenFile, see

# A file can change twice within one tick of the clock that stamps it (up to 10 ms) and look the same. One that
# was written longer ago than this cannot.
_TICK_NS = 20_000_000
# A save that lacks a file of the one before is given this many times the usual quiet.
_PATIENCE = 3
# Waiting becomes worth a word to the user after this many times the usual quiet.
_WORTH_A_WORD = 5
# With many files a look costs milliseconds: it may take one part in this many of the time.
_LOOK_SHARE = 20
_MANY_FILES = 500
_TRAIL = 16


class Candidate(NamedTuple):
    """A whole checkpoint, as it was seen."""

    files: List[SeenFile]  # the whole place
    changed: List[str]  # paths that differ from the last commit, oldest first
    first_change_s: float


class Watcher:
    """Watches `place`, a folder or a file below `root` that need not exist yet.

    `pids` names the processes of the stint. Call `scan` 2 to 10 times a second with a monotonic time. Not safe for
    several threads; the caller has a lock.
    """

    def __init__(self, root: str, place: str, pids: Callable[[], Iterable[int]], settle_s: float = 1.0) -> None:
        self._root = root
        self._place = os.path.normpath(place).replace(os.sep, "/")
        self._pids = pids
        self._settle_s = settle_s
        #: When the place was last seen to change, temporary files included.
        self.last_change_s: Optional[float] = None
        #: How long the last offered save took, from its first change to its last.
        self.saving_s: Optional[float] = None
        self.baseline()

    def baseline(self) -> None:
        """Take what is there now as committed; forget what was learned."""
        self._now = look(self._root, self._place)
        self._base: Dict[str, SeenFile] = dict(self._now.files)
        self._saves = Saves()
        self._rounds = Rounds(self._settle_s)
        self._trail: List[Tuple[Candidate, Dict[str, SeenFile]]] = []
        self._offered: Optional[Candidate] = None
        self._not_before_s = self._next_look_s = float("-inf")
        self._last_scan_s = float("-inf")
        self._burst_s: Optional[float] = None  # when the save under way began
        self._first_change_s: Optional[float] = None
        self._waiting = ""
        self._moved = False
        self._exchanged: Set[str] = set()  # of what moved, files that were replaced by others
        self._moved_at: Dict[str, float] = {}
        self._streams: Set[str] = set()
        self._streams_sought_s = float("-inf")
        self._open: Dict[str, int] = {}  # path -> pid, as last seen
        self._verdicts: Dict[str, Verdict] = {}  # valid until anything moves
        self._versions: Dict[str, Set[Key]] = {}  # whole versions of a file that changed alone

    # ---- while the script runs

    def scan(self, now: float) -> Optional[Candidate]:
        """Look once; the checkpoint that has become whole, or None. None while an offered one is undecided."""
        if now < self._next_look_s:
            return None
        self._look(now)
        self._last_scan_s = now
        changed = self._changed()
        if not changed:
            self._first_change_s, self._waiting = None, ""
            self._versions.clear()
            return None
        if self._first_change_s is None:
            self._first_change_s = now
        if self._offered is not None or now < self._not_before_s:
            return None
        self._waiting = self._why_wait(changed, now)
        return None if self._waiting else self._offer(changed, now)

    def committed(self, candidate: Candidate) -> None:
        """The candidate is the baseline from now on."""
        self._trail = [*self._trail[-_TRAIL:], (candidate, self._base)]
        changed = set(candidate.changed)
        self._saves.learn([file for file in candidate.files if file.path in changed])
        self._set_base({file.path: file for file in candidate.files})
        self._offered = None

    def rejected(self, candidate: Candidate) -> None:
        """The candidate was not committed after all, also when `committed` was said before: offer it again."""
        self._offered = None
        self._not_before_s = self._last_scan_s + self._settle_s
        for index, (earlier, base) in enumerate(self._trail):
            if earlier is candidate:
                del self._trail[index]
                if index < len(self._trail):
                    self._trail[index] = (self._trail[index][0], base)
                else:
                    self._set_base(base)
                return

    def pending(self, now: float) -> Optional[str]:
        """One phrase on what a change has been waiting for, once it has waited long."""
        if self._now.escape:
            return "%s leads to %s, outside the work folder: nothing there is kept" % (self._place, self._now.escape)
        if self._first_change_s is None or now - self._first_change_s < _WORTH_A_WORD * self._settle_s:
            return None
        return self._waiting or None

    # ---- at its end

    def final(self, clean: bool, now: float) -> Optional[Candidate]:
        """The last checkpoint, after the script's processes are gone; None keeps the one before.

        `clean`: the script ended as it should (or says that the place is whole right now): all that is valid is
        taken. Otherwise it was cut off somewhere, and only what is surely one whole save is taken; the quiet before
        its end is counted to the last `scan`, so do not scan after it.
        """
        end_s = self._last_scan_s
        self._look(now)
        changed = self._changed()
        if not changed:
            return None
        if self._first_change_s is None:
            self._first_change_s = now
        self._waiting = self._find_torn(changed) or ("" if clean else self._find_doubt(changed, end_s))
        return None if self._waiting else self._offer(changed, now)

    def _find_doubt(self, changed: List[SeenFile], end_s: float) -> str:
        """Why files of a script that was cut off might not be one whole save."""
        for file in changed:
            if self._verdict(file.path).ok is None:
                if file.path in self._open:
                    return "%s was open for writing at the end" % file.path
                if end_s - self._moved_at.get(file.path, end_s) < self._settle_s:
                    return "%s was written right before the end" % file.path
        quiet_s = end_s - (end_s if self.last_change_s is None else self.last_change_s)
        repeated = len(changed) == 1 and len(self._versions.get(changed[0].path, ())) > 1
        if quiet_s >= self._needed_quiet_s(changed) or repeated or self._is_known(changed):
            return ""
        return "%s was still changing at the end" % self._place

    # ---- looking

    def _look(self, now: float) -> None:
        """See the place anew and note what moved since the look before."""
        began = time.perf_counter()
        before, self._now = self._now, look(self._root, self._place)
        if len(self._now.files) > _MANY_FILES:
            self._next_look_s = now + _LOOK_SHARE * (time.perf_counter() - began)
        moved = self._moved_paths(before)
        self._moved = bool(moved)
        self._rounds.note(in_order(self._now.files[path] for path in moved if path in self._now.files), now)
        self._exchanged = {path for path in moved if self._is_exchange(before, path)}
        if not moved and before.passing == self._now.passing:
            return
        # A save begins after a moment of quiet, or after the last one was offered.
        if self._burst_s is None or self.last_change_s is None or now - self.last_change_s >= self._settle_s:
            self._burst_s = now
        self.last_change_s = now
        self._verdicts.clear()
        for path in moved:
            self._moved_at[path] = now

    def _is_exchange(self, before: Look, path: str) -> bool:
        """Another file took the path's place, as a rename does: unlike one written in place, it came whole."""
        earlier, now = before.files.get(path), self._now.files.get(path)
        return earlier is not None and now is not None and earlier.inode != now.inode

    def _moved_paths(self, before: Look) -> List[str]:
        if before.files == self._now.files:
            return []
        paths = [path for path in before.files if path not in self._now.files]
        for path, file in self._now.files.items():
            earlier = before.files.get(path)
            if earlier == file:
                continue
            if earlier is None or key_of(earlier) != key_of(file):
                paths.append(path)
        return [path for path in paths if not self._is_stream(path)]

    def _changed(self) -> List[SeenFile]:
        """Files that are new or different since the last commit, oldest first; logs do not count."""
        found = []
        for path, file in self._now.files.items():
            earlier = self._base.get(path)
            if earlier == file:
                continue
            if (earlier is None or key_of(earlier) != key_of(file)) and not self._is_stream(path):
                found.append(file)
        return in_order(found)

    def _is_stream(self, path: str) -> bool:
        return path in self._streams or is_stream(path)

    def _set_base(self, base: Dict[str, SeenFile]) -> None:
        self._base = base
        self._first_change_s = None
        self._waiting = ""
        self._versions.clear()
        self._moved_at = {path: at_s for path, at_s in self._moved_at.items() if path in self._now.files}

    # ---- deciding

    def _why_wait(self, changed: List[SeenFile], now: float) -> str:
        """Why the files that changed cannot be offered now; empty when they can."""
        newest = changed[-1]
        # A script may rename a new file into place more often than we look; each of them is whole on arrival.
        arrived = len(changed) == 1 and self._exchanged == {newest.path}
        if self._moved and not arrived:
            self._find_streams(changed, now)
            return "%s is still changing" % self._place
        if not arrived and 0 <= time.time_ns() - newest.mtime_ns < _TICK_NS:
            return "%s was written this moment" % newest.path
        quiet_s = now - (now if self.last_change_s is None else self.last_change_s)
        if quiet_s >= self._needed_quiet_s(changed) or self._is_known(changed):
            return self._find_problem(changed)
        if self._saves_repeat(changed):
            return ""
        if self._saves.is_empty:
            self._saves.learn(self._rounds.find())
        self._find_streams(changed, now)
        missing = self._saves.lacks(changed)
        return "%s of the last save is not written again yet" % missing if missing else (
            "%s is still changing" % self._place
        )  # fmt: skip

    def _needed_quiet_s(self, changed: List[SeenFile]) -> float:
        return self._settle_s * (_PATIENCE if self._saves.lacks(changed) else 1)

    def _is_known(self, changed: List[SeenFile]) -> bool:
        return self._saves.is_single(changed, self._base, self._now.files) or self._saves.is_cycle(
            changed, self._moved_at
        )

    def _saves_repeat(self, changed: List[SeenFile]) -> bool:
        """One file that was whole, and is whole again in another version, while nothing else changed: a save."""
        if len(changed) != 1:
            self._versions.clear()
            return False
        path = changed[0].path
        if self._find_problem(changed):
            return False
        versions = self._versions.setdefault(path, set())
        versions.add(key_of(changed[0]))
        return len(versions) > 1

    def _find_problem(self, changed: List[SeenFile]) -> str:
        """Why a changed file is not whole: still open, torn, or different again; empty when all are."""
        self._open = {}
        for path, writer in self._writers([file.path for file in changed]).items():
            self._open[path] = writer.pid
            if writer.appends and may_be_stream(path):
                self._streams.add(path)
        for path, pid in self._open.items():
            return "%s is still open in pid %d" % (path, pid)
        problem = self._find_torn(changed)
        if problem:
            return problem
        for file in changed:
            again = see(self._root, file.path)
            if again is None or key_of(again) != key_of(file):
                return "%s is still changing" % file.path
        return ""

    def _find_torn(self, changed: List[SeenFile]) -> str:
        for file in changed:
            verdict = self._verdict(file.path)
            if verdict.ok is False:
                return "%s: %s" % (file.path, verdict.problem)
        return ""

    def _verdict(self, path: str) -> Verdict:
        if path not in self._verdicts:
            self._verdicts[path] = check_file(os.path.join(self._root, path))
        return self._verdicts[path]

    def _find_streams(self, changed: List[SeenFile], now: float) -> None:
        """Learn which files are logs that are held open to append; they would keep the place from ever settling."""
        if now - self._streams_sought_s < self._settle_s:
            return
        self._streams_sought_s = now
        paths = [file.path for file in changed if may_be_stream(file.path)]
        self._streams.update(path for path, writer in self._writers(paths).items() if writer.appends)

    def _writers(self, paths: List[str]) -> Dict[str, Writer]:
        """Those of `paths` that a process of the stint has open for writing."""
        inodes: Dict[Inode, str] = {}
        for path in paths:
            try:
                found = os.stat(os.path.join(self._root, path))
            except OSError:
                continue
            inodes[(found.st_dev, found.st_ino)] = path
        if not inodes:
            return {}
        return {inodes[inode]: writer for inode, writer in find_writers(self._pids(), set(inodes)).items()}

    # ---- offering

    def _offer(self, changed: List[SeenFile], now: float) -> Candidate:
        if self._burst_s is not None and self.last_change_s is not None:
            self.saving_s = self.last_change_s - self._burst_s
            self._burst_s = None
        first_s = now if self._first_change_s is None else self._first_change_s
        self._offered = Candidate(self._kept_files(), [file.path for file in changed], first_s)
        return self._offered

    def _kept_files(self) -> List[SeenFile]:
        """The whole place, without the logs that somebody is writing to: they would never hold still."""
        files = self._now.files
        streams = [path for path in files if self._is_stream(path) and self._base.get(path) != files[path]]
        busy = self._writers(streams)
        return [file for path, file in sorted(files.items()) if path not in busy]
