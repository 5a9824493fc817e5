"""OBS through the platform's own MoXing, where that is all there is.

In a ModelArts container MoXing may know keys that nobody gave us. It is asked only when no access is known, and never
when it is our own drop-in for scripts, which would ask us back.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from typing import Any, Iterable, Iterator, Optional, Sequence

from ..errors import Changed, Damaged, NotFound, PlaceError
from .aside import Aside
from .base import FILE, FOLDER, USUAL, Item, Job, Moving, Report, Tree, run_jobs

_PIECE_BYTES = 4 << 20
_AT_ONCE = 16


def find_moxing() -> Optional[Any]:
    """The `file` module of an installed MoXing, or None. The unrelated package of that name has none."""
    try:
        module = importlib.import_module("moxing")
    except Exception:  # noqa: BLE001 - it drags in frameworks that may fail in their own ways
        return None
    if os.sep + os.path.join("outlast", "inside", "mox") + os.sep in str(getattr(module, "__file__", "")):
        return None
    file = getattr(module, "file", None)
    return file if hasattr(file, "copy") and hasattr(file, "list_directory") else None


class MoxTree(Tree):
    """One bucket as MoXing shows it."""

    def __init__(self, file: Any, bucket: str) -> None:
        self._file = file
        self.url = "obs://" + bucket

    def _at(self, path: str) -> str:
        return "%s/%s" % (self.url, path) if path else self.url

    def stat(self, path: str) -> Optional[Item]:
        url = self._at(path)
        if not self._ask("look at", path, self._file.exists, url):
            return None
        if not path or self._ask("look at", path, self._file.is_directory, url):
            return Item(path, 0, 0, FOLDER)
        found = self._ask("look at", path, self._file.stat, url)
        return Item(path, int(found.length), int(found.mtime_nsec))

    def walk(self, path: str) -> Iterator[Item]:
        return self._listed(path, recursive=True)

    def children(self, path: str) -> Iterator[Item]:
        return self._listed(path, recursive=False)

    def _listed(self, path: str, recursive: bool) -> Iterator[Item]:
        if not self._ask("list", path, self._file.exists, self._at(path)):
            return
        names = self._ask("list", path, self._file.list_directory, self._at(path), recursive=recursive)
        lead = path + "/" if path else ""
        found = [lead + str(name).strip("/") for name in sorted(names)]
        full = {each.rpartition("/")[0] for each in found}
        for each in found:
            item = self.stat(each)
            # A folder counts only when nothing in it is listed, or when only this level is wanted.
            if item is not None and (item.kind == FILE or not recursive or each not in full):
                yield item

    def read(self, path: str, start: int = 0, length: Optional[int] = None) -> Iterator[bytes]:
        if self.stat(path) is None:
            raise NotFound(path)
        file = self._ask("read", path, self._file.File, self._at(path), "rb")
        with file:
            if start:
                file.seek(start)
            while length is None or length > 0:
                size = _PIECE_BYTES if length is None else min(length, _PIECE_BYTES)
                piece = self._ask("read", path, file.read, size)
                if not piece:
                    return
                length = None if length is None else length - len(piece)
                yield piece

    def write(self, path: str, pieces: Iterable[bytes], size_bytes: int) -> None:
        # Aside first: what MoXing has opened for writing appears when it is closed, whole or not.
        with tempfile.NamedTemporaryFile(prefix="outlast-") as aside:
            total = 0
            for piece in pieces:
                aside.write(piece)
                total += len(piece)
            aside.flush()
            if total != size_bytes:
                raise Changed("a stream of %d bytes gave %d" % (size_bytes, total))
            self._send(aside.name, path, size_bytes)

    def remove(self, paths: Sequence[str]) -> None:
        for path in paths:
            if self._ask("remove", path, self._file.exists, self._at(path)):
                folder = self._ask("remove", path, self._file.is_directory, self._at(path))
                if not folder or not self._ask("remove", path, self._file.list_directory, self._at(path)):
                    self._ask("remove", path, self._file.remove, self._at(path), recursive=bool(folder))

    def make_folder(self, path: str) -> None:
        self._ask("make", path, self._file.make_dirs, self._at(path))

    def send(self, jobs: Iterable[Job], report: Report, how: Moving = USUAL) -> None:
        run_jobs(jobs, report, how.workers or _AT_ONCE, lambda job: self.send_one(job, report, how))

    def fetch(self, jobs: Iterable[Job], report: Report, how: Moving = USUAL) -> None:
        run_jobs(jobs, report, how.workers or _AT_ONCE, lambda job: self.fetch_one(job, report, how))

    def send_one(self, job: Job, report: Report, how: Moving) -> None:
        self._check_same(job)
        self._send(job.local, job.path, job.size_bytes)
        self._check_same(job)
        report.moved(job.size_bytes)

    def fetch_one(self, job: Job, report: Report, how: Moving) -> None:
        with Aside(job.local) as aside:
            self._ask("fetch", job.path, self._file.copy, self._at(job.path), aside.path)
            size = os.path.getsize(aside.path)
            if size != job.size_bytes:
                raise Damaged("%s has %d bytes instead of %d" % (job.path, size, job.size_bytes))
            report.moved(size)
            if job.modified_ns:
                # By name: MoXing may have put another file there.
                os.utime(aside.path, ns=(job.modified_ns, job.modified_ns))
            aside.commit()

    def _send(self, local: str, path: str, size_bytes: int) -> None:
        self._ask("write", path, self._file.copy, local, self._at(path))
        found = self.stat(path)
        if found is None or found.size_bytes != size_bytes:
            raise Damaged("%s did not arrive whole" % self._at(path))

    @staticmethod
    def _check_same(job: Job) -> None:
        try:
            status = os.stat(job.local)
        except OSError as error:
            raise PlaceError("cannot read %s: %s" % (job.local, error.strerror)) from None
        if status.st_size != job.size_bytes or (job.modified_ns and status.st_mtime_ns != job.modified_ns):
            raise Changed("%s changed while it was copied; copy it again" % job.local)

    def _ask(self, what: str, path: str, call: Any, *arguments: Any, **words: Any) -> Any:
        """Call MoXing; whatever it raises becomes one of ours."""
        try:
            return call(*arguments, **words)
        except Exception as error:  # noqa: BLE001 - MoXing's exceptions differ from version to version
            text = "MoXing cannot %s %s: %s" % (what, self._at(path), error or type(error).__name__)
            raise PlaceError(text) from None
