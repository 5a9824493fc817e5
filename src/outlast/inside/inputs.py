"""Inputs that have an address: brought to this machine once, kept in the cache, afterwards only compared.

    cache/inputs/<key>/data    the file or folder itself
    cache/inputs/<key>/whole   it is complete; touched whenever it is used
    cache/inputs/<key>.lock    held by whoever is fetching
    cache/inputs/<key>.used    held, shared, by every runner whose script sees it

The key is made of the address and of its listing, so data that was changed lands in a folder of its own and a stint
that still reads the old data is not disturbed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import time
from typing import Callable, Iterator, List, Mapping, NamedTuple, Sequence, Tuple

from .errors import AccessDenied, Changed, Damaged, InsideError, NotFound, PlaceError, RequestError
from .faults import explain
from .move.address import parse
from .move.base import FILE, Job
from .move.engine import Listener, copy
from .move.local import LocalTree
from .move.plan import Options, Place
from .move.unchanged import looks_unchanged
from .move.unpacking import fetch_packed
from .sources import Source, cache_folder
from .staging import Input, Stopping, is_remote
from .stores.access import Access

#: Said for the first time after so long, and then every so often: a fetch of two seconds needs no progress.
_FIRST_WORD_S, _NEXT_WORD_S = 2.0, 10.0
_LOCK_POLL_S = 0.2


class Around(NamedTuple):
    """What fetching needs of the stint."""

    cache: str
    accesses: Mapping[str, Access]
    say: Callable[[str], None]  # a line in the log
    note: Callable[[str], None]  # what the beat shows now
    stopping: Callable[[], bool]
    maps: Mapping[str, str] = {}  # folders that play buckets


def bring_inputs(inputs: Sequence[Input], around: Around) -> List[Input]:
    """The same inputs, those with an address as paths of this machine.

    Raises `RequestError` or `PlaceError` with the input's name, `Stopping` when the stint shall end.
    """
    return [dict(given, source=_bring(given, around), fetched=True) if is_remote(given) else given for given in inputs]


def _bring(given: Input, around: Around) -> str:
    name = str(given["name"])
    try:
        return _Fetch(name, Source.open(str(given["source"]), around.accesses, around.maps), around).run()
    except InsideError as error:
        raise _named(name, error) from None


def _named(name: str, error: InsideError) -> InsideError:
    """The error with the input's name, as one that says whether another try can help."""
    if isinstance(error, NotFound):
        return RequestError("input %s is missing: there is nothing at %s" % (name, error.key))
    if isinstance(error, Damaged):
        return RequestError("input %s is damaged: %s" % (name, error))
    if isinstance(error, AccessDenied):
        return AccessDenied("input %s cannot be read: %s" % (name, error))
    if isinstance(error, Changed):
        return PlaceError("input %s changed while it was fetched: %s" % (name, error))
    kind = RequestError if isinstance(error, RequestError) else PlaceError
    return kind("input %s: %s" % (name, error))


class _Fetch:
    """One input on its way into the cache."""

    def __init__(self, name: str, source: Source, around: Around) -> None:
        self._name = name
        self._source = source
        self._around = around
        self._folder = cache_folder(around.cache, source)
        self._data = os.path.join(self._folder, "data")
        self._whole = os.path.join(self._folder, "whole")

    def run(self) -> str:
        """Where the input is, complete."""
        try:
            os.makedirs(os.path.dirname(self._folder), exist_ok=True)
            # Never closed: as long as this process lives, `outlast gc` leaves alone what the script may be reading.
            used = os.open(self._folder + ".used", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(used, fcntl.LOCK_SH)
            os.makedirs(self._folder, exist_ok=True)
            with self._locked():
                if self._is_intact():
                    self._around.say("input %s is here already" % self._name)
                else:
                    self._fetch()
                os.utime(self._whole)
        except OSError as error:
            raise explain(error, error.filename or self._folder) from None
        return self._data

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        descriptor = os.open(self._folder + ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not _try_lock(descriptor):
                self._around.say("input %s is being fetched by another stint; waiting for it" % self._name)
                while not _try_lock(descriptor):
                    if self._around.stopping():
                        raise Stopping
                    time.sleep(_LOCK_POLL_S)
            yield
        finally:
            os.close(descriptor)

    def _is_intact(self) -> bool:
        """Complete, and nothing of it touched since. What is packed is compared by unpacking it again."""
        if self._source.is_packed or not os.path.exists(self._whole):
            return False
        here = LocalTree()
        for item in self._source.items:
            found = here.stat(os.path.join(self._data, self._source.relative(item)).rstrip("/"))
            if found is None or (item.kind == FILE and not looks_unchanged(item, found, True)):
                return False
        return True

    def _fetch(self) -> None:
        words = _Words(self._name, self._source.size_bytes, self._around)
        began = time.monotonic()
        try:
            files = self._unpack(words) if self._source.is_packed else self._copy(words)
        finally:
            self._around.note("")
        seconds = time.monotonic() - began
        if not files:
            self._around.say("input %s is here already" % self._name)
            return
        _write_protect(self._data)
        with open(self._whole, "w", encoding="utf-8") as file:
            json.dump({"address": str(self._source.place.address), "size_bytes": self._source.size_bytes}, file)
        amount = "%d file%s, %s" % (files, "" if files == 1 else "s", size_text(words.moved_bytes))
        self._around.say("fetched input %s: %s in %.1f s" % (self._name, amount, seconds))

    def _unpack(self, words: _Words) -> int:
        """Unpack what is missing; returns how many files that were."""
        os.makedirs(self._data, exist_ok=True)
        place = self._source.place
        try:
            done = fetch_packed(place.tree, place.address.path, self._data, words)
        except Damaged:  # on the way, perhaps
            done = fetch_packed(place.tree, place.address.path, self._data, words)
        if not done.complete:
            raise Stopping
        return done.files if not os.path.exists(self._whole) else done.files - done.skipped

    def _copy(self, words: _Words) -> int:
        """Copy what is missing; what arrived damaged, or not at all, is asked for once more before that is said."""
        files = 0
        for _ in range(2):
            words.failures.clear()
            outcome = copy([self._source.place], Place(parse(self._data), LocalTree()), Options(), words)
            if outcome.stopped:
                raise Stopping
            files += outcome.files
            if not words.failures:
                return max(1, files)
        raise words.gravest()


class _Words(Listener):
    """Says how far a fetch is, and remembers why files failed."""

    def __init__(self, name: str, size_bytes: int, around: Around) -> None:
        self._name = name
        self._size_bytes = size_bytes
        self._around = around
        self._next_word_at = time.monotonic() + _FIRST_WORD_S
        self.failures: List[Tuple[str, InsideError]] = []
        self.moved_bytes = 0

    def moved(self, count: int) -> None:
        # Without a lock: a count that another thread overtakes is off by a piece until the next word.
        self.moved_bytes += count
        now = time.monotonic()
        if now < self._next_word_at:
            return
        self._next_word_at = now + _NEXT_WORD_S
        sentence = "fetching input %s: %s of %s" % (
            self._name, size_text(self.moved_bytes), size_text(self._size_bytes),
        )  # fmt: skip
        self._around.note(sentence)
        self._around.say(sentence)

    def failed(self, job: Job, error: InsideError) -> None:
        self.failures.append((job.path, error))

    def stopping(self) -> bool:
        return self._around.stopping()

    def gravest(self) -> InsideError:
        """One failure for all: first those that another try cannot mend."""
        order = (AccessDenied, NotFound, Damaged, RequestError, Changed, InsideError)
        ranked = sorted(self.failures, key=lambda pair: [isinstance(pair[1], kind) for kind in order].index(True))
        path, error = ranked[0]
        if isinstance(error, NotFound):
            return error
        more = " and %d more" % (len(ranked) - 1) if len(ranked) > 1 else ""
        return type(error)("%s%s: %s" % (path, more, error))


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write_protect(path: str) -> None:
    """Without a sandbox the script sees a link to the cache; what it overwrites would mislead every later stint."""
    paths = [path] if os.path.isfile(path) else []
    for folder, _, names in os.walk(path):
        paths += [os.path.join(folder, name) for name in names]
    for each in paths:
        mode = os.lstat(each).st_mode
        if stat.S_ISREG(mode):
            os.chmod(each, stat.S_IMODE(mode) & ~0o222)


def size_text(size_bytes: float) -> str:
    """`812 B`, `3.4 KB`, `1.2 GB`; powers of 1024, as the other half writes them."""
    for unit in ("B", "KB", "MB", "GB"):
        if size_bytes < 1024:
            return "%.*f %s" % (0 if unit == "B" else 1, size_bytes, unit)
        size_bytes /= 1024
    return "%.1f TB" % size_bytes
