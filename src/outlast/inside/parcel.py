"""One set of files on its way to becoming a checkpoint: what is held, what is up, what the manifest will say."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Dict, List, Sequence, Set

from .blobs import Blobs
from .errors import Changed
from .seen import Identity, SeenFile, see
from .snapshot import Shot, Snapshot, check_seen, check_shot, copy_shot, solidify, take_snapshot, unsettled_s


@dataclasses.dataclass
class Account:
    """What a manifest says beside the files, as it was when the snapshot was taken."""

    progress: Dict[str, Any]
    metrics: Dict[str, float]
    best: Dict[str, float]
    elapsed_s: float
    running_s: float
    created_at: str


class Parcel:
    """Files held still by a snapshot, sent one by one. Sending again after a fault repeats nothing that is up."""

    def __init__(
        self,
        ticket: int,
        root: str,
        folder: str,
        files: Sequence[SeenFile],
        outputs: Sequence[SeenFile],
        account: Account,
        known: Dict[Identity, str],
    ) -> None:
        """Take the snapshot. Files in `known` are not even held: their bytes are up already."""
        self.ticket = ticket
        self.account = account
        self.seconds = 0.0
        self.uploaded_bytes = 0
        self.entries: Dict[str, Dict[str, Any]] = {}
        self.known: Dict[Identity, str] = {}  # digests that hold as long as the files look the same
        self._root = root
        self._folder = folder
        self._files = files
        self._strict: Set[str] = {seen.path for seen in files}
        self._outputs = [seen for seen in outputs if seen.path not in self._strict]
        self._hold(known)

    def _hold(self, known: Dict[Identity, str]) -> None:
        files = [seen for seen in self._files if not self._reuse(seen, known)]
        outputs: List[SeenFile] = []
        for seen in self._outputs:
            now = see(self._root, seen.path)
            if now is not None and not self._reuse(now, known):
                outputs.append(now)
        self._snapshot: Snapshot = take_snapshot(self._root, files, self._folder, outputs)

    def _reuse(self, seen: SeenFile, known: Dict[Identity, str]) -> bool:
        sha256 = known.get(seen.identity)
        if sha256 is None:
            return False
        if seen.path in self._strict:
            check_seen(self._root, seen)
        self._enter(seen, sha256, seen.size, keeps=True)
        return True

    def send(self, blobs: Blobs, restless: Set[str], wait: Callable[[float], bool]) -> None:
        """Bring every byte up. `Changed` when a file was rewritten meanwhile; its path is then in `restless`.

        `wait` pauses for some seconds and returns True when the work shall be given up; see `Stopped`.
        """
        for shot in self._snapshot.shots:
            if shot.seen.path in self.entries:
                continue
            if wait(unsettled_s(shot.seen)):
                raise Stopped("closed before it was complete")
            try:
                self._send_shot(shot, blobs, restless)
            except Changed:
                restless.add(shot.seen.path)
                raise

    def _send_shot(self, shot: Shot, blobs: Blobs, restless: Set[str]) -> None:
        seen = shot.seen
        is_strict = seen.path in self._strict
        if is_strict and shot.is_linked and seen.path in restless:
            shot = solidify(self._root, shot)
        try:
            sent = blobs.send_file(shot.path)
        except Changed:
            if is_strict:
                raise Changed("%s was rewritten while it was being committed" % seen.path) from None
            shot = copy_shot(shot)
            sent = blobs.send_file(shot.path)
        keeps = shot.is_settled and sent.size_bytes == seen.size
        if shot.is_linked:
            try:
                check_shot(self._root, shot)
            except Changed:
                if is_strict:
                    raise
                keeps = False  # an output: what was read is what is committed
        self.uploaded_bytes += sent.size_bytes if sent.is_new else 0
        self._enter(seen, sent.sha256, sent.size_bytes, keeps)

    def _enter(self, seen: SeenFile, sha256: str, size: int, keeps: bool) -> None:
        self.entries[seen.path] = {"sha256": sha256, "size": size, "mode": seen.mode}
        if keeps:
            self.known[seen.identity] = sha256

    def start_over(self) -> None:
        """Forget every digest and hold the files again, if they are still what was seen."""
        self.discard()
        self.entries.clear()
        self.known.clear()
        self._hold({})

    def discard(self) -> None:
        """Let go of the files."""
        self._snapshot.discard()


class Stopped(Exception):
    """The work was given up on purpose."""
