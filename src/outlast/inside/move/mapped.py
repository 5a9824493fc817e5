"""A folder of this machine that plays a bucket, or an HDFS, for scripts and commands that name its address."""

from __future__ import annotations

import json
import os
from typing import FrozenSet, Iterable, Iterator, Mapping, Optional, Sequence

from ..errors import NotFound, RequestError
from ..faults import explain
from .address import Address
from .aside import make_folders
from .base import FILE, FOLDER, LINK, USUAL, Item, Job, Moving, Report, Tree, run_jobs
from .copying import copy_file
from .local import LocalTree
from .names import is_below, join, shown

#: Address of a bucket or a name node -> the folder that plays it, as JSON; set within a stint.
VARIABLE = "OUTLAST_MAPS"
_WORKERS = 4


def maps_in(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The maps that the environment describes."""
    try:
        maps = json.loads(environ.get(VARIABLE) or "{}")
        return {str(address).rstrip("/"): str(folder) for address, folder in maps.items()}
    except (ValueError, AttributeError):
        raise RequestError('%s cannot be read; it holds JSON like {"obs://bucket": "/folder"}' % VARIABLE) from None


def folder_playing(address: Address, maps: Mapping[str, str]) -> Optional[str]:
    """The folder that plays the place of an address; ModelArts calls a bucket of OBS `s3://` too."""
    schemes = ("s3", "obs") if address.scheme == "s3" else (address.scheme,)
    roots = ["%s://%s" % (scheme, address.authority) for scheme in schemes]
    return next((maps[root] for root in roots if root in maps), None)


class MappedTree(Tree):
    """The files below a folder under the paths they would have in the place that it plays.

    A bucket has no links: those that lead inside the folder are shown as what they lead to, those that lead outside
    are refused, and so is `..`. Safe to use from several threads.
    """

    def __init__(self, root: str, url: str) -> None:
        self.url = url
        self._root = root.rstrip("/") or "/"
        self._real = os.path.realpath(root)
        self._lead = "/" if url.startswith("hdfs://") else ""  # paths are absolute there, keys in a bucket are not
        self._disk = LocalTree()

    def stat(self, path: str) -> Optional[Item]:
        found = self._disk.stat(self._local(path))
        found = found and self._shown(found, path)
        return found or (Item(path, 0, 0, FOLDER) if path == self._lead else None)

    def walk(self, path: str) -> Iterator[Item]:
        return self._walk(path, frozenset((os.path.realpath(self._local(path)),)))

    def _walk(self, path: str, above: FrozenSet[str]) -> Iterator[Item]:
        for item in self.children(path):
            if item.kind != FOLDER:
                yield item
                continue
            real = os.path.realpath(self._local(item.path))
            if real in above:
                raise RequestError("%s cannot be listed: this link leads in a circle" % self._name(item.path))
            is_empty = True
            for below in self._walk(item.path, above | {real}):
                is_empty = False
                yield below
            if is_empty:
                yield item

    def children(self, path: str) -> Iterator[Item]:
        found = []
        for item in self._disk.children(self._local(path)):
            seen = self._shown(item, join(path, os.path.basename(item.path)))
            if seen is not None:
                found.append(seen)
        # As in a listing of keys, where a folder is what stands before a slash.
        return iter(sorted(found, key=lambda item: item.path + "/" if item.kind == FOLDER else item.path))

    def read(self, path: str, start: int = 0, length: Optional[int] = None) -> Iterator[bytes]:
        try:
            yield from self._disk.read(self._local(path), start, length)
        except NotFound:
            raise NotFound(path) from None

    def write(self, path: str, pieces: Iterable[bytes], size_bytes: int) -> None:
        self._disk.write(self._landing(path), pieces, size_bytes)

    def remove(self, paths: Sequence[str]) -> None:
        self._disk.remove([self._local(path) for path in paths if path != self._lead])

    def make_folder(self, path: str) -> None:
        make_folders(self._local(path))

    def copy_within(self, source: str, target: str, size_bytes: int) -> bool:
        self._copy(self._local(source), self._landing(target), Report(), USUAL)
        return True

    def send(self, jobs: Iterable[Job], report: Report, how: Moving = USUAL) -> None:
        def move(job: Job) -> None:
            self._copy(job.local, self._landing(job.path), report, how)

        run_jobs(jobs, report, how.workers or _WORKERS, move)

    def fetch(self, jobs: Iterable[Job], report: Report, how: Moving = USUAL) -> None:
        def move(job: Job) -> None:
            copy_file(self._local(job.path), job.local, report, how)

        run_jobs(jobs, report, how.workers or _WORKERS, move)

    @staticmethod
    def _copy(source: str, target: str, report: Report, how: Moving) -> None:
        make_folders(os.path.dirname(target))
        copy_file(source, target, report, how)

    def _local(self, path: str) -> str:
        """Where a path of the tree lies; `RequestError` when that would be outside the folder."""
        relative = path[len(self._lead) :]
        if not relative:
            return self._root
        if "\0" in relative or any(name in ("", ".", "..") for name in relative.split("/")):
            raise RequestError("%s cannot be a file: a folder plays %s" % (self._name(path), self.url))
        local = join(self._root, relative)
        self._check(os.path.realpath(os.path.dirname(local)), path)
        if os.path.islink(local):
            self._check(os.path.realpath(local), path)
        return local

    def _landing(self, path: str) -> str:
        """Where a file will be written."""
        local = self._local(path)
        if os.path.isdir(local):
            raise RequestError("%s cannot be written: a folder of that name is there" % self._name(path))
        return local

    def _check(self, real: str, path: str) -> None:
        if real != self._real and not is_below(real, self._real):
            raise RequestError("%s is refused: a link leads out of %s" % (self._name(path), shown(self._root)))

    def _shown(self, item: Item, path: str) -> Optional[Item]:
        """An item of the disk as the tree shows it; None for a link that leads to nothing."""
        if item.kind != LINK:
            return item._replace(path=path)
        self._check(os.path.realpath(item.path), path)
        try:
            found = os.stat(item.path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise explain(error, item.path) from None
        if os.path.isdir(item.path):
            return Item(path, 0, found.st_mtime_ns, FOLDER)
        return Item(path, found.st_size, found.st_mtime_ns, FILE)

    def _name(self, path: str) -> str:
        return shown("%s/%s" % (self.url, path.lstrip("/")))
