"""Many files from one place to another, through the mover: whole, verified, as many at once as the store likes."""

from __future__ import annotations

import concurrent.futures
import os
import shutil
import stat
import tempfile
import threading
from typing import IO, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from outlast.inside.errors import Changed, InsideError, PlaceError
from outlast.inside.faults import explain
from outlast.inside.move.aside import is_part
from outlast.inside.move.base import FILE, FOLDER, Item, Job, Moving, Report, run_jobs
from outlast.inside.move.names import is_below, join, relative_to
from outlast.inside.move.streaming import stream

from .errors import MoxFileNotExistsException
from .looking import item_at
from .places import Spot, below, is_remote
from .uploads import note_upload

_WORKERS = 8
_PIECE_BYTES = 1 << 20


class Found(NamedTuple):
    """A file of the source, or a folder in which there is none."""

    relative: str
    item: Item


def files_in(spot: Spot) -> Iterator[Found]:
    """Everything in a folder. Links of this machine are followed, as `shutil.copytree` does."""
    if spot.is_local:
        return _files_here(spot.path)
    return (Found(relative_to(item.path, spot.path), item) for item in spot.tree.walk(spot.path))


def chosen_files(spot: Spot, names: Sequence[str]) -> List[Found]:
    """The files of a list; they are named relative to the folder, or whole."""

    def find_one(name: str) -> Found:
        is_whole = name.startswith(below(spot.url, "")) and (is_remote(name) or os.path.isabs(name))
        relative = (name[len(spot.url) :] if is_whole else name).strip("/")
        path = join(spot.path, relative)
        item = _item_here(path) if spot.is_local else item_at(spot._replace(path=path, into=False))
        if item is None or item.kind != FILE:
            raise MoxFileNotExistsException(below(spot.url, relative))
        return Found(relative, item)

    with concurrent.futures.ThreadPoolExecutor(_WORKERS) as pool:
        return list(pool.map(find_one, names))


def _files_here(root: str) -> Iterator[Found]:
    for folder, folders, names in os.walk(root, followlinks=True):
        folders[:] = sorted(name for name in folders if not _leads_up(os.path.join(folder, name)))
        if not folders and not names and folder != root:
            yield Found(os.path.relpath(folder, root), Item(folder, 0, 0, FOLDER))
        for name in sorted(names):
            path = os.path.join(folder, name)
            item = None if is_part(name) else _item_here(path)
            if item is not None:
                yield Found(os.path.relpath(path, root), item)


def _leads_up(path: str) -> bool:
    """True for a link to a folder that the link itself lies in."""
    real, home = os.path.realpath(path), os.path.realpath(os.path.dirname(path))
    return os.path.islink(path) and (real == home or is_below(home, real))


def _item_here(path: str) -> Optional[Item]:
    """A regular file; pipes, sockets and links to nothing are not copied."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return Item(path, found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def move_files(source: Spot, found: Iterable[Found], target: Spot, workers: int = 0) -> List[Found]:
    """Copy files to the same names below a target, and return them. Nothing is ever removed at the source.

    `PlaceError` names the first of those that could not be copied; the others are there.
    """
    work = _Work(source, target)
    jobs = work.jobs(found)
    how = Moving(workers=workers)
    if source.is_local and target.is_local:
        run_jobs(jobs, work, workers or _WORKERS, lambda job: _copy_here(job.local, job.path))
    elif source.is_local:
        target.tree.send(jobs, work, how)
        work.send_moving_targets()
    elif target.is_local:
        source.tree.fetch(jobs, work, how)
    else:
        run_jobs(jobs, work, workers or _WORKERS, lambda job: work.stream(job, how))
    work.make_empty_folders()
    work.settle()
    if not target.is_local:
        names = [each.relative for each in work.found if each.item.kind == FILE]
        note_upload(join(target.whole, names[0]) if len(names) == 1 else target.whole, len(names))
    return work.found


class _Work(Report):
    """The files of one call on their way."""

    def __init__(self, source: Spot, target: Spot) -> None:
        self._source = source
        self._target = target
        self._items: Dict[str, Item] = {}
        self._folders: Set[str] = set()
        self._empty: List[str] = []
        self._lock = threading.Lock()
        self._failures: List[Tuple[Job, InsideError]] = []
        self.found: List[Found] = []

    def jobs(self, found: Iterable[Found]) -> Iterator[Job]:
        for each in found:
            self.found.append(each)
            item, path = each.item, join(self._target.path, each.relative)
            if item.kind == FOLDER:
                self._empty.append(path)
                continue
            if self._target.is_local:
                self._make_folder(os.path.dirname(path))
            is_fetched = self._target.is_local and not self._source.is_local
            if not self._source.is_local and not is_fetched:
                self._items[path] = item
            ends = (path, item.path) if is_fetched else (item.path, path)
            yield Job(*ends, item.size_bytes, item.modified_ns, item.digest, item.tag)

    def _make_folder(self, path: str) -> None:
        if path not in self._folders:
            self._folders.add(path)
            self._target.tree.make_folder(path)

    def make_empty_folders(self) -> None:
        with concurrent.futures.ThreadPoolExecutor(_WORKERS) as pool:
            for _ in pool.map(self._target.tree.make_folder, self._empty):
                pass

    def stream(self, job: Job, how: Moving) -> None:
        stream(self._items.pop(job.path), self._source.tree, job.path, self._target.tree, self, how)

    def failed(self, job: Job, error: InsideError) -> None:
        with self._lock:
            self._failures.append((job, error))

    def send_moving_targets(self) -> None:
        """Files that were written to while they were read, such as logs, go as they are at one moment."""
        failures, self._failures = self._failures, []
        for job, error in failures:
            if not os.path.exists(job.local):
                continue  # removed since it was listed
            if not isinstance(error, Changed):
                self._failures.append((job, error))
                continue
            with tempfile.NamedTemporaryFile() as still:
                _copy_now(job.local, still)
                held = os.stat(still.name)
                self._target.tree.send([job._replace(
                    local=still.name, size_bytes=held.st_size, modified_ns=held.st_mtime_ns, digest="", tag="",
                )], self)  # fmt: skip

    def settle(self) -> None:
        if self._failures:
            job, error = self._failures[0]
            count = len(self._failures)
            raise PlaceError("%d files could not be copied, the first is %s: %s" % (count, job.path, error))


def _copy_now(source: str, target: IO[bytes]) -> None:
    """As many bytes as the file has now: whoever reads to its end may never get there."""
    with open(source, "rb") as file:
        left = os.fstat(file.fileno()).st_size
        while left > 0:
            piece = file.read(min(left, _PIECE_BYTES))
            if not piece:
                break
            target.write(piece)
            left -= len(piece)
    target.flush()


def _copy_here(source: str, target: str) -> None:
    try:
        shutil.copyfile(source, target)
    except shutil.SameFileError:
        pass
    except OSError as error:
        raise explain(error, str(error.filename or target)) from None
