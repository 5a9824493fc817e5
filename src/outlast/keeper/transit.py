"""Bytes between two stores: verified on the way, in bounded memory, and told of when it takes a while."""

from __future__ import annotations

import hashlib
import posixpath
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from outlast.errors import StoreError
from outlast.inside import layout
from outlast.inside.abreast import abreast
from outlast.inside.blobs import Blobs
from outlast.inside.move.engine import Listener, copy
from outlast.inside.move.plan import Options, Place, Plan
from outlast.inside.stores.base import Store
from outlast.model.quantities import format_size

#: Told for the first time after so long, and then every so often.
_FIRST_WORD_S, _NEXT_WORD_S = 2.0, 1.0

Told = Callable[[str], None]  # one phrase for the user; empty when nothing is on its way


class Transit:
    """The way of blobs from one store to another."""

    def __init__(self, source: Store, target: Store, spool: Path, say: Told) -> None:
        self._source = source
        self._target = target
        self._spool = spool
        self._say = say

    def bring(self, blobs: Iterable[tuple[str, int]], what: str, tick: Callable[[], None] = lambda: None) -> None:
        """Have these digests and sizes in the target. `Damaged` when the source does not hold what they promise.

        What is there already is only touched, so that cleaning spares it. `tick` is called now and then.
        """
        wanted = sorted(set(blobs))
        missing = Blobs(self._target).missing(wanted)
        here = sorted(set(wanted) - set(missing))
        kept = abreast(self._target, lambda pair: self._target.touch(layout.blob_key(pair[0])), here)
        missing += [pair for pair, is_kept in zip(here, kept, strict=True) if not is_kept]
        progress = _Progress(what, sum(size for _, size in missing), self._say, tick)
        try:
            remote = self._source if self._source.pace_s else self._target
            abreast(remote, lambda pair: self._bring_one(*pair, progress), missing)
        finally:
            progress.close()

    def _bring_one(self, sha256: str, size: int, progress: _Progress) -> None:
        self._spool.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._spool) as folder:
            path = Path(folder, "blob")
            Blobs(self._source, progress.moved).get_file(sha256, size, str(path))
            Blobs(self._target).send_file(str(path))


class _Progress(Listener):
    """How far a transfer is, in words. Used from several threads."""

    def __init__(self, what: str, size_bytes: int, say: Told, tick: Callable[[], None] = lambda: None) -> None:
        self._what = what
        self._size_bytes = size_bytes
        self._say = say
        self._tick = tick
        self._moved_bytes = 0
        self._lock = threading.Lock()
        self._due_at = time.monotonic() + _FIRST_WORD_S
        self._spoke = False

    def planned(self, plan: Plan) -> None:
        self._size_bytes = plan.size_bytes

    def moved(self, count: int) -> None:
        self._moved_bytes += count  # without a lock: off by a piece until the next word
        if time.monotonic() < self._due_at or not self._lock.acquire(blocking=False):
            return
        try:
            self._due_at = time.monotonic() + _NEXT_WORD_S
            self._spoke = True
            total = f" of {format_size(self._size_bytes)}" if self._size_bytes else ""
            self._say(f"copying {self._what}: {format_size(self._moved_bytes)}{total}")
            self._tick()
        finally:
            self._lock.release()

    def close(self) -> None:
        if self._spoke:
            self._say("")


def input_key(source: str) -> str:
    """Where the copy of an input lies in a mirror; runs that read the same address share it."""
    name = re.sub(r"[^\w.-]", "_", posixpath.basename(source.rstrip("/"))) or "data"
    return f"inputs/{hashlib.sha256(source.encode()).hexdigest()[:16]}/{name}"


def copy_input(name: str, source: Place, target: Place, say: Told) -> None:
    """Copy an input to a mirror, as far as it is not there; `StoreError` when some of it does not arrive."""
    progress = _Progress(f"input {name}", 0, say)
    try:
        outcome = copy([source], target, Options(), progress)
    finally:
        progress.close()
    if outcome.failures:
        first = outcome.failures[0]
        more = f" and {len(outcome.failures) - 1} more" if len(outcome.failures) > 1 else ""
        raise StoreError(f"input {name} cannot be sent: {first.path}{more}: {first.reason}")
