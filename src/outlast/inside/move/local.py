"""This machine as a tree: files, folders and links below absolute paths."""

from __future__ import annotations

import errno
import os
import stat
from typing import Iterable, Iterator, List, Optional, Sequence

from ..errors import Damaged, NotFound, RequestError
from ..faults import explain
from .aside import PART, Aside, is_part, make_folders
from .base import FOLDER, LINK, USUAL, Item, Job, Moving, Report, Tree, run_jobs
from .copying import copy_file

_PIECE_BYTES = 1 << 20
# They hide the latency of network disks; on a local one its file system is the limit.
_WORKERS = 4


class LocalTree(Tree):
    """Files of this machine. Names that are no UTF-8 keep their bytes as surrogates, as everywhere in Python."""

    url = "file://"

    def stat(self, path: str) -> Optional[Item]:
        try:
            found = os.lstat(path)
            return _item(path, found)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise explain(error, path) from None

    def walk(self, path: str) -> Iterator[Item]:
        return scan(path, [])

    def children(self, path: str) -> Iterator[Item]:
        return iter(_entries(path, []))

    def read(self, path: str, start: int = 0, length: Optional[int] = None) -> Iterator[bytes]:
        left = length
        try:
            with open(path, "rb") as file:
                file.seek(start)
                while left is None or left > 0:
                    piece = file.read(_PIECE_BYTES if left is None else min(_PIECE_BYTES, left))
                    if not piece:
                        return
                    left = None if left is None else left - len(piece)
                    yield piece
        except FileNotFoundError:
            raise NotFound(path) from None
        except OSError as error:
            raise explain(error, path) from None

    def write(self, path: str, pieces: Iterable[bytes], size_bytes: int) -> None:
        make_folders(os.path.dirname(path))
        written = 0
        with Aside(path) as aside:
            for piece in pieces:
                try:
                    aside.write(piece)
                except OSError as error:
                    raise explain(error, path) from None
                written += len(piece)
            if written != size_bytes:
                raise Damaged("%s: %d bytes arrived instead of %d" % (path, written, size_bytes))
            try:
                aside.commit()
            except OSError as error:
                raise explain(error, path) from None

    def remove(self, paths: Sequence[str]) -> None:
        for path in paths:
            try:
                _remove(path)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                    raise RequestError("%s is not empty" % path) from None
                raise explain(error, path) from None

    def make_folder(self, path: str) -> None:
        make_folders(path)

    def make_link(self, path: str, target: str) -> None:
        """Make a link, replacing a file or link that is there."""
        make_folders(os.path.dirname(path))
        aside = os.path.join(os.path.dirname(path), PART + os.urandom(6).hex())
        try:
            os.symlink(target, aside)
            try:
                os.replace(aside, path)
            except OSError:
                os.unlink(aside)
                raise
        except OSError as error:
            raise explain(error, path) from None

    def copy_within(self, source: str, target: str, size_bytes: int) -> bool:
        make_folders(os.path.dirname(target))
        copy_file(source, target, Report(), USUAL)
        return True

    def send(self, jobs: Iterable[Job], report: Report, how: Moving = USUAL) -> None:
        run_jobs(jobs, report, how.workers or _WORKERS, lambda job: copy_file(job.local, job.path, report, how))

    def fetch(self, jobs: Iterable[Job], report: Report, how: Moving = USUAL) -> None:
        run_jobs(jobs, report, how.workers or _WORKERS, lambda job: copy_file(job.path, job.local, report, how))


def scan(path: str, others: List[str]) -> Iterator[Item]:
    """What `Tree.walk` promises. Pipes, sockets and devices are not walked; their paths are added to `others`."""
    ahead = [iter(_entries(path, others))]
    while ahead:
        item = next(ahead[-1], None)
        if item is None:
            ahead.pop()
        elif item.kind != FOLDER:
            yield item
        else:
            below = _entries(item.path, others)
            if below:
                ahead.append(iter(below))
            else:
                yield item


def _entries(folder: str, others: List[str]) -> List[Item]:
    found = []
    prefix = folder if folder.endswith("/") else folder + "/"
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if is_part(name):
                    continue
                try:
                    item = _item(prefix + name, entry.stat(follow_symlinks=False))
                except FileNotFoundError:
                    continue  # removed since the folder was read
                if item is None:
                    others.append(prefix + name)
                else:
                    found.append((name + "/" if item.kind == FOLDER else name, item))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise explain(error, str(error.filename or folder)) from None
    # A folder sorts as if its slash were written, which makes the whole walk sorted by path.
    found.sort()
    return [item for _, item in found]


def _item(path: str, found: os.stat_result) -> Optional[Item]:
    """None for what is neither file, folder nor link."""
    if stat.S_ISREG(found.st_mode):
        return Item(path, found.st_size, found.st_mtime_ns)
    if stat.S_ISDIR(found.st_mode):
        return Item(path, 0, found.st_mtime_ns, FOLDER)
    if stat.S_ISLNK(found.st_mode):
        return Item(path, 0, found.st_mtime_ns, LINK, target=os.readlink(path))
    return None


def _remove(path: str) -> None:
    if stat.S_ISDIR(os.lstat(path).st_mode):
        os.rmdir(path)
    else:
        os.unlink(path)
