"""The checkpoints of a run: committed as one, verified when they come back, never rewritten."""

from __future__ import annotations

import bisect
import contextlib
import dataclasses
import os
import re
from typing import Dict, Iterable, Iterator, List, Optional, Tuple

from . import layout
from .abreast import abreast
from .blobs import Blobs
from .errors import Damaged, NotFound, RequestError
from .faults import explain
from .records import Manifest
from .seen import Identity, see
from .stores.base import Store

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclasses.dataclass
class Restored:
    """What `restore` put back; `checkpoint` is None when there was nothing to start from."""

    checkpoint: Optional[str] = None
    manifest: Optional[Manifest] = None
    skipped: List[Tuple[str, str]] = dataclasses.field(default_factory=list)  # (checkpoint, why)
    size_bytes: int = 0
    known: Dict[Identity, str] = dataclasses.field(default_factory=dict)  # digests, for `Committer(known=…)`


class Checkpoints:
    """Manifests of one run, and the way back from them to files."""

    def __init__(self, store: Store, run: str) -> None:
        self._store = store
        self._run = run
        self._blobs = Blobs(store)

    def ids(self) -> List[str]:
        """Every committed checkpoint, oldest first."""
        prefix = layout.checkpoints_prefix(self._run)
        found = (layout.checkpoint_of_key(entry.key) for entry in self._store.list(prefix))
        return sorted((each for each in found if each is not None), key=layout.checkpoint_order)

    def read(self, checkpoint: str) -> Manifest:
        """A checkpoint's manifest; `NotFound` when there is none, `Damaged` when it cannot be trusted."""
        return self._parse(self._store.get(layout.checkpoint_key(self._run, checkpoint)), checkpoint)

    def recall(self, checkpoint: str) -> Manifest:
        """`read`, and when its bytes were cleaned away the manifest that was kept for the history."""
        try:
            return self.read(checkpoint)
        except NotFound:
            return self._parse(self._store.get(layout.cleaned_key(self._run, checkpoint)), checkpoint)

    def commit(self, manifest: Manifest) -> bool:
        """Make a checkpoint exist, from one moment to the next; False when that name is taken by another.

        `Damaged` when a blob it names is not in the store. Committing the same manifest twice is True both times,
        so that a write whose answer got lost can be repeated.
        """
        missing = self._blobs.missing((each["sha256"], each["size"]) for each in manifest.files.values())
        if missing:
            raise Damaged("blob %s (%d bytes) is not in the store" % missing[0])
        name = layout.checkpoint_id(manifest.stint, manifest.number)
        key = layout.checkpoint_key(self._run, name)
        data = manifest.to_bytes()
        return self._store.put_if_absent(key, data) or self._store.get(key) == data

    def last(self, wanted: Optional[str] = None, until: Optional[str] = None) -> Optional[str]:
        """The newest checkpoint, no newer than `until`; with `wanted` that one, or `RequestError`."""
        ids = self.ids()
        if wanted is not None:
            if wanted not in ids:
                some = ", ".join(ids[-5:]) or "none"
                raise RequestError("run %s has no checkpoint %r; the newest: %s" % (self._run, wanted, some))
            return wanted
        if until is not None:
            ids = ids[: _position(ids, until)]
        return ids[-1] if ids else None

    def line(self, wanted: Optional[str] = None) -> Iterator[str]:
        """The candidates for `restore`, newest first: the last one (or `wanted`), then what it continued, and so on.

        Parents rather than mere age: after the user went back to an older checkpoint, the abandoned ones stay
        abandoned. Where a manifest cannot tell its parent, the next older checkpoint follows.
        """
        ids = self.ids()
        until: Optional[str] = wanted if wanted is not None else (ids[-1] if ids else None)
        while until is not None:
            end = _position(ids, until)
            here = ids[end - 1] if end else None
            if here == until:
                yield here
            try:
                parent = self.recall(until).parent
                until = parent if parent and _is_older(parent, until) else None
            except (NotFound, Damaged, RequestError):
                older = ids[: end - 1] if here == until else ids[:end]
                until = older[-1] if older else None

    def restore(self, candidates: Iterable[str], into: str) -> Restored:
        """Put the first good checkpoint of `candidates` (newest first) below the folder `into`.

        Files appear under their names only after every file of the checkpoint was verified. A damaged candidate is
        skipped and named; trouble of the place (disk full, network) is raised instead, as older bytes would not
        help. Nothing is ever written outside `into`.
        """
        restored = Restored()
        for checkpoint in candidates:
            try:
                manifest = self.read(checkpoint)
                self._put_back(manifest, into, restored)
            except (Damaged, NotFound) as problem:
                restored.skipped.append((checkpoint, str(problem)))
                continue
            restored.checkpoint, restored.manifest = checkpoint, manifest
            restored.size_bytes = sum(each["size"] for each in manifest.files.values())
            return restored
        return restored

    def _put_back(self, manifest: Manifest, into: str, restored: Restored) -> None:
        fetched: List[Tuple[str, str, str]] = []  # (hidden name, final name, path in the manifest)
        made: List[str] = []
        try:
            os.makedirs(into, exist_ok=True)
            for path in sorted(manifest.files):
                _make_way(into, path, made)

            def fetch(path: str) -> None:
                each, target = manifest.files[path], os.path.join(into, path)
                hidden = self._blobs.fetch_beside(each["sha256"], each["size"], target, each["mode"])
                fetched.append((hidden, target, path))

            abreast(self._store, fetch, sorted(manifest.files))
            for hidden, target, _ in fetched:
                os.replace(hidden, target)
        except OSError as error:
            raise explain(error, into) from None
        finally:
            for hidden, _, _ in fetched:
                with contextlib.suppress(OSError):  # already in place when all went well
                    os.unlink(hidden)
            for folder in reversed(made):
                with contextlib.suppress(OSError):  # not empty when all went well
                    os.rmdir(folder)
        for _, _, path in fetched:
            seen = see(into, path)
            if seen is not None:
                restored.known[seen.identity] = manifest.files[path]["sha256"]

    def _parse(self, data: bytes, checkpoint: str) -> Manifest:
        manifest = Manifest.from_bytes(data)
        name = layout.checkpoint_id(manifest.stint, manifest.number) if _are_numbers(manifest) else "?"
        if name != checkpoint or manifest.run != self._run:
            raise Damaged("the manifest of %s says it is %s of run %s" % (checkpoint, name, manifest.run))
        check_files(manifest)
        return manifest


def check_files(manifest: Manifest) -> None:
    """`Damaged` unless every path of a manifest is safe below a folder and every entry is complete."""
    if not isinstance(manifest.files, dict):
        raise Damaged("the manifest has no table of files")
    for path, each in manifest.files.items():
        parts = path.split("/")
        if "\0" in path or any(part in ("", ".", "..") for part in parts):
            raise Damaged("the manifest names the unsafe path %r" % path)
        if any("/".join(parts[:end]) in manifest.files for end in range(1, len(parts))):
            raise Damaged("the manifest names %r below a file" % path)
        if not isinstance(each, dict) or not _SHA256.fullmatch(str(each.get("sha256"))):
            raise Damaged("the manifest gives no digest for %r" % path)
        if any(not _is_count(each.get(name)) for name in ("size", "mode")):
            raise Damaged("the manifest gives no size or mode for %r" % path)


def _make_way(into: str, path: str, made: List[str]) -> None:
    """Create the folders above a path; `RequestError` where a link or a file would lead the write elsewhere."""
    home = os.path.realpath(into)
    folder = into
    for part in path.split("/")[:-1]:
        folder = os.path.join(folder, part)
        if os.path.islink(folder) and not (os.path.realpath(folder) + os.sep).startswith(home + os.sep):
            raise RequestError("cannot restore %s: %s is a link out of the work folder" % (path, folder))
        try:
            os.mkdir(folder)
            made.append(folder)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise RequestError("cannot restore %s: %s is not a folder" % (path, folder)) from None


def _position(ids: List[str], until: str) -> int:
    """How many of the sorted ids are not newer than `until`."""
    return bisect.bisect_right([layout.checkpoint_order(each) for each in ids], layout.checkpoint_order(until))


def _is_older(parent: str, child: str) -> bool:
    try:
        return layout.checkpoint_order(parent) < layout.checkpoint_order(child)
    except ValueError:
        raise Damaged("%s names %r as the checkpoint it continues" % (child, parent)) from None


def _are_numbers(manifest: Manifest) -> bool:
    return _is_count(manifest.stint) and _is_count(manifest.number)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
