"""Checkpoints go up while the script trains on: one upload under way, at most one waiting."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import threading
import time
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence, Set, TypeVar

from . import layout
from .blobs import Blobs
from .checkpoints import Checkpoints
from .errors import Changed, Damaged, InsideError, PlaceError, RequestError, StoreFull
from .parcel import Account, Parcel, Stopped
from .records import Manifest, now_text
from .seen import Identity, SeenFile
from .stores.base import Store

#: Pauses before the second, third and fourth try when the place is in trouble.
PAUSES_S = (0.3, 1.0, 3.0)
T = TypeVar("T")
# On a busy core the upload then gets about a tenth of it: training hardly notices, the upload still ends.
_NICENESS = 10


class CommitResult(NamedTuple):
    """What became of one ticket."""

    ticket: int
    checkpoint: Optional[str]
    manifest: Optional[Manifest]
    seconds: float  # snapshot and upload, without the time in the queue
    size_bytes: int
    uploaded_bytes: int
    problem: str
    kind: str  # committed, changed, superseded, full, place, fenced


class Committer:
    """Turns sets of files into checkpoints of one stint, in the order they were submitted.

    `on_done` is called exactly once for each ticket, from the upload thread, or from within `submit` when the
    snapshot fails at once or replaces a waiting one; no lock is held then. `fenced` is asked right before each
    commit, from the upload thread, and may read the store. After `close` returned nothing more is committed.
    """

    def __init__(
        self,
        store: Store,
        run: str,
        stint: int,
        root: str,
        scratch: str,
        parent: Optional[str],
        fenced: Callable[[], bool],
        on_done: Callable[[CommitResult], None],
        known: Optional[Dict[Identity, str]] = None,
        pauses_s: Sequence[float] = PAUSES_S,
    ) -> None:
        """`scratch` is emptied and used for snapshots: on the file system of `root`, outside every watched place.

        `known` are digests of files that are in the store already, as `Restored.known` has them.
        """
        self._store = store
        self._blobs = Blobs(store)
        self._checkpoints = Checkpoints(store, run)
        self._run = run
        self._stint = stint
        self._root = root
        self._scratch = scratch
        self._parent = parent
        self._fenced = fenced
        self._on_done = on_done
        self._pauses_s = tuple(pauses_s)
        self._known: Dict[Identity, str] = dict(known or {})
        self._restless: Set[str] = set()
        self._number = 0
        self._tickets = 0
        self._state = threading.Condition()
        self._gate = threading.Lock()  # held while a manifest is being written
        self._closing = threading.Event()
        self._waiting: Optional[Parcel] = None
        self._is_uploading = False
        self._thread: Optional[threading.Thread] = None
        shutil.rmtree(scratch, ignore_errors=True)

    def submit(
        self,
        files: Sequence[SeenFile],
        outputs: Sequence[SeenFile],
        progress: Dict[str, Any],
        metrics: Dict[str, float],
        elapsed_s: float,
        running_s: float,
        best: Optional[Dict[str, float]] = None,
    ) -> int:
        """Hold these files as they are now and return a ticket; the upload follows. Replaces a waiting one."""
        account = Account(dict(progress), dict(metrics), dict(best or {}), elapsed_s, running_s, now_text())
        with self._state:
            self._tickets += 1
            ticket = self._tickets
            known = dict(self._known)
        folder = os.path.join(self._scratch, "%06d" % ticket)
        began = time.monotonic()
        try:
            parcel = Parcel(ticket, self._root, folder, files, outputs, account, known)
        except InsideError as error:
            self._on_done(_failure(ticket, error, time.monotonic() - began))
            return ticket
        parcel.seconds = time.monotonic() - began
        self._queue(parcel)
        return ticket

    def busy(self) -> bool:
        """Whether anything is waiting or going up."""
        with self._state:
            return self._is_uploading or self._waiting is not None

    def drain(self, timeout_s: Optional[float]) -> bool:
        """Wait until nothing is waiting or going up; False when that took longer. Not to be called in `on_done`."""
        with self._state:
            return self._state.wait_for(lambda: not self._is_uploading and self._waiting is None, timeout_s)

    def close(self) -> None:
        """Give up what is not committed yet, and return once nothing more can be."""
        self._closing.set()
        with self._state:
            dropped, self._waiting = self._waiting, None
            self._state.notify_all()
            thread = self._thread
        if dropped is not None:
            self._supersede(dropped, "closed before it was sent")
        with self._gate:
            pass
        # An upload cannot be interrupted in the middle of a file; it is a daemon and may end with the process.
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=2.0)
        if thread is None or not thread.is_alive():
            shutil.rmtree(self._scratch, ignore_errors=True)

    def commit_outputs(self, files: Sequence[SeenFile]) -> Manifest:
        """Send the final outputs and write `outputs.json`, now. When it exists already, that one is returned."""
        with self._state:
            known = dict(self._known)
        entries = {}
        for seen in files:
            entries[seen.path] = self._with_patience(functools.partial(self._send_output, seen, known))
        manifest = Manifest(self._run, self._stint, self._number, entries, parent=self._parent, created_at=now_text())
        return self._with_patience(lambda: self._write_outputs(manifest))

    def _send_output(self, seen: SeenFile, known: Dict[Identity, str]) -> Dict[str, Any]:
        sha256, size = known.get(seen.identity), seen.size
        if sha256 is None or not self._blobs.has(sha256, size):
            sha256, size = self._blobs.put_file(os.path.join(self._root, seen.path))
        return {"sha256": sha256, "size": size, "mode": seen.mode}

    def _write_outputs(self, manifest: Manifest) -> Manifest:
        if self._fenced():
            raise RequestError("stint %d was ended by somebody else; its outputs do not count" % self._stint)
        key = layout.outputs_key(self._run)
        if self._store.put_if_absent(key, manifest.to_bytes()):
            return manifest
        return Manifest.from_bytes(self._store.get(key))

    def _with_patience(self, work: Callable[[], T]) -> T:
        for pause_s in self._pauses_s:
            try:
                return work()
            except PlaceError:
                if self._closing.wait(pause_s):
                    raise
        return work()

    def _queue(self, parcel: Parcel) -> None:
        with self._state:
            is_closed = self._closing.is_set()
            older: Optional[Parcel] = parcel
            if not is_closed:
                older, self._waiting = self._waiting, parcel
                if self._thread is None or not self._thread.is_alive():
                    self._thread = threading.Thread(target=self._work, name="outlast-commit", daemon=True)
                    self._thread.start()
                self._state.notify_all()
        if older is not None:
            self._supersede(older, "closed" if is_closed else "a newer one was submitted")

    def _supersede(self, parcel: Parcel, why: str) -> None:
        parcel.discard()
        self._on_done(_result(parcel, "superseded", why))

    def _work(self) -> None:
        _lower_priority()
        while True:
            with self._state:
                self._state.wait_for(lambda: self._waiting is not None or self._closing.is_set())
                if self._waiting is None:
                    return
                parcel, self._waiting = self._waiting, None
                self._is_uploading = True
            began = time.monotonic()
            try:
                result = self._upload(parcel)
            except Exception as error:  # noqa: BLE001 - whatever happens, a ticket is answered
                result = _result(parcel, "place", "%s: %s" % (type(error).__name__, error))
            parcel.discard()
            try:
                self._on_done(result._replace(seconds=parcel.seconds + time.monotonic() - began))
            finally:
                with self._state:
                    self._is_uploading = False
                    self._state.notify_all()

    def _upload(self, parcel: Parcel) -> CommitResult:
        pauses = list(self._pauses_s)
        may_start_over = True
        while True:
            try:
                parcel.send(self._blobs, self._restless, self._wait)
                return self._commit(parcel)
            except Stopped as stopped:
                return _result(parcel, "superseded", str(stopped))
            except Damaged as error:
                # A blob we relied on is gone or bad: read the files again, once.
                if not may_start_over:
                    return _result(parcel, "place", str(error))
                may_start_over = False
                try:
                    parcel.start_over()
                except InsideError as problem:
                    return _failure(parcel.ticket, problem, 0.0)
            except PlaceError as error:
                if not pauses or self._closing.wait(pauses.pop(0)):
                    return _failure(parcel.ticket, error, 0.0)
            except (InsideError, OSError) as error:
                return _failure(parcel.ticket, error, 0.0)

    def _wait(self, seconds: float) -> bool:
        return self._closing.wait(seconds) if seconds > 0 else self._closing.is_set()

    def _commit(self, parcel: Parcel) -> CommitResult:
        with self._gate:
            while True:
                if self._closing.is_set():
                    raise Stopped("closed before it was committed")
                if self._fenced():
                    return _result(parcel, "fenced", "this stint was ended by somebody else")
                manifest = self._manifest(parcel)
                name = layout.checkpoint_id(self._stint, manifest.number)
                won = self._checkpoints.commit(manifest)
                # Either way that number is taken: ours now, or by an earlier write of ours whose answer got lost.
                self._number, self._parent = manifest.number, name
                if won:
                    break
        with self._state:
            self._known = dict(parcel.known)
        return _result(parcel, "committed", "")._replace(checkpoint=name, manifest=manifest)

    def _manifest(self, parcel: Parcel) -> Manifest:
        account = parcel.account
        return Manifest(
            run=self._run,
            stint=self._stint,
            number=self._number + 1,
            files=parcel.entries,
            parent=self._parent,
            progress=account.progress,
            metrics=account.metrics,
            best=account.best,
            elapsed_s=account.elapsed_s,
            running_s=account.running_s,
            created_at=account.created_at,  # not now: a repeated write must have the same bytes
        )


def _result(parcel: Parcel, kind: str, problem: str) -> CommitResult:
    size_bytes = sum(each["size"] for each in parcel.entries.values())
    return CommitResult(parcel.ticket, None, None, parcel.seconds, size_bytes, parcel.uploaded_bytes, problem, kind)


def _failure(ticket: int, error: Exception, seconds: float) -> CommitResult:
    kind = "changed" if isinstance(error, Changed) else "full" if isinstance(error, StoreFull) else "place"
    return CommitResult(ticket, None, None, seconds, 0, 0, str(error), kind)


def _lower_priority() -> None:
    """Let training go first. Threads have their own niceness on Linux; asking for their id needs Python 3.8."""
    thread_id = getattr(threading, "get_native_id", None)
    if thread_id is not None:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread_id(), _NICENESS)
