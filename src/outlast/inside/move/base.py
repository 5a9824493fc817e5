"""What the mover asks of a kind of store: a tree of files under one authority, and moving many of them at once.

A `Store` (see `stores.base`) keeps a run folder: strict keys, conditional writes. A `Tree` shows what people keep in
buckets and folders: any name, folders, links, times. The two share their clients.

Paths are whole: keys without a leading slash in a bucket, absolute paths on this machine and in HDFS.
"""

from __future__ import annotations

import abc
from typing import Callable, Iterable, Iterator, NamedTuple, Optional, Sequence

from ..errors import InsideError

FILE, FOLDER, LINK = "file", "folder", "link"


class Item(NamedTuple):
    """One thing in a tree."""

    path: str
    size_bytes: int
    modified_ns: int  # since 1970; 0 when the tree does not know
    kind: str = FILE
    digest: str = ""  # `md5:…` or `crc32:…` (lower-case hex) when the tree knows it without reading the file
    tag: str = ""  # changes whenever the bytes do: an entity tag; empty when there is none
    target: str = ""  # of a link: where it leads, as it is written there


class Job(NamedTuple):
    """One file to move between this machine and a tree."""

    local: str  # absolute path on this machine
    path: str  # in the tree
    size_bytes: int
    modified_ns: int = 0  # of the source; a fetched file is given this time
    digest: str = ""  # what the source is known to be, as in `Item`
    tag: str = ""  # of the source, as in `Item`


class Report:
    """What happens while jobs are moved. Called from several threads; the default listens to nothing."""

    def moved(self, count: int) -> None:
        """So many bytes went over since the last call. Negative when a failed try is taken back."""

    def done(self, job: Job) -> None:
        """The file is there, whole and verified."""

    def failed(self, job: Job, error: InsideError) -> None:
        """The file is not there; what was there before is untouched. The other jobs go on."""

    def stopping(self) -> bool:
        """True when the user wants no more: jobs under way end as soon as they can, without `done` or `failed`."""
        return False


class Moving(NamedTuple):
    """How jobs are moved; every field may be left alone."""

    workers: int = 0  # connections or threads at once; 0: as the tree thinks best
    part_bytes: int = 0  # size of the parts of a large file; 0: chosen for the file
    full_check: bool = False  # compare checksums even where that means reading everything once more
    journal: str = ""  # folder that remembers half-sent large files, so that a later try goes on; empty: none


#: As each tree thinks best.
USUAL = Moving()


class Tree(abc.ABC):
    """Files under one authority: this machine, one bucket, one HDFS name node. Safe to use from several threads.

    Errors: `NotFound`, `AccessDenied`, `RequestError`, `PlaceError` (after the client's own retries), `StoreFull`,
    `Damaged` when bytes arrived that are not what they should be, `Changed` when a source was rewritten meanwhile.
    """

    #: How messages call the root, without credentials: `s3://bucket`, `hdfs://host:9870`, `file://`.
    url: str = ""

    @abc.abstractmethod
    def stat(self, path: str) -> Optional[Item]:
        """The file or link at a path, or a folder when there is something below it; None for nothing at all."""

    @abc.abstractmethod
    def walk(self, path: str) -> Iterator[Item]:
        """All files and links below a folder, at any depth, and the folders that are empty; sorted by path.

        Nothing for a folder that does not exist. `path` itself is not among them.
        """

    @abc.abstractmethod
    def children(self, path: str) -> Iterator[Item]:
        """What lies directly in a folder, folders included; sorted by path."""

    @abc.abstractmethod
    def read(self, path: str, start: int = 0, length: Optional[int] = None) -> Iterator[bytes]:
        """The bytes of a file, in pieces of at most a few MiB."""

    @abc.abstractmethod
    def write(self, path: str, pieces: Iterable[bytes], size_bytes: int) -> None:
        """Write a file from pieces whose total is known. It appears whole or not at all."""

    @abc.abstractmethod
    def remove(self, paths: Sequence[str]) -> None:
        """Remove files, links and empty folders. Removing what is not there is not an error."""

    @abc.abstractmethod
    def make_folder(self, path: str) -> None:
        """Make an empty folder and what is missing above it."""

    def copy_within(self, source: str, target: str, size_bytes: int) -> bool:
        """Copy a file without its bytes passing through this machine; False when this tree cannot do that."""
        return False

    def send(self, jobs: Iterable[Job], report: Report, how: Moving = USUAL) -> None:
        """Copy files of this machine into the tree. Ends when every job is done or failed, or on `stopping`.

        The jobs may come from a generator that is still scanning. Only a fault that makes every job pointless (bad
        credentials, no such bucket, a generator that raises) is raised; the rest goes to `report.failed`.
        """
        run_jobs(jobs, report, how.workers or 8, lambda job: self.send_one(job, report, how))

    def fetch(self, jobs: Iterable[Job], report: Report, how: Moving = USUAL) -> None:
        """The other way round. The folders above `local` exist; a partial file never has its final name."""
        run_jobs(jobs, report, how.workers or 8, lambda job: self.fetch_one(job, report, how))

    def send_one(self, job: Job, report: Report, how: Moving) -> None:
        """Move one file; used by the default `send`."""
        raise NotImplementedError

    def fetch_one(self, job: Job, report: Report, how: Moving) -> None:
        """Move one file; used by the default `fetch`."""
        raise NotImplementedError


def run_jobs(jobs: Iterable[Job], report: Report, workers: int, move: Callable[[Job], None]) -> None:
    """Call `move` for every job from a few threads; at most a few jobs ahead of them are taken from the iterator."""
    # Only here, and not for everything that moves otherwise: it takes five milliseconds to load.
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

    def one(job: Job) -> None:
        if report.stopping():
            return
        try:
            move(job)
        except InsideError as error:
            report.failed(job, error)
        else:
            report.done(job)

    with ThreadPoolExecutor(workers) as pool:
        under_way = set()
        for job in jobs:
            if report.stopping():
                break
            under_way.add(pool.submit(one, job))
            if len(under_way) >= 4 * workers:
                finished, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
        for future in under_way:
            future.result()
