"""A client of one HDFS: every operation that the store and the tree need, retried where repeating is harmless."""

from __future__ import annotations

import contextlib
import json
import os
import posixpath
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional

from ..errors import Changed, InsideError, NotFound, PlaceError, RequestError, StoreFull
from ..move.aside import PART
from ..net.http import Unreachable
from ..net.retry import Again, Patience, Policy, retrying
from ..stores.access import Access
from . import wire
from .nodes import Nodes
from .wire import Exists, Parameter, Status

PATIENT = Policy()
#: What makes the pieces of a file, afresh for every try.
Source = Callable[[], Iterator[bytes]]


class Part(NamedTuple):
    """A file that is whole, but has no name yet that anybody looks for."""

    path: str
    inode: int
    size_bytes: int


class HdfsClient:
    """Paths are absolute and unquoted. Safe to use from several threads."""

    def __init__(self, access: Access, authority: str, policy: Policy = PATIENT) -> None:
        self.url = "hdfs://" + authority
        self._nodes = Nodes(access, authority)
        self._policy = policy

    def status(self, path: str) -> Optional[Status]:
        """What is at a path, or None."""
        try:
            return wire.status_from(self._document("GET", path, "GETFILESTATUS")["FileStatus"])
        except NotFound:
            return None

    def list(self, path: str) -> List[Status]:
        """What lies in a folder, in the server's order; a file lists itself, with an empty name."""
        found = self._document("GET", path, "LISTSTATUS")["FileStatuses"]["FileStatus"]
        return [wire.status_from(each) for each in found]

    def summary(self, path: str) -> Dict[str, int]:
        """Totals below a path: `length`, `fileCount`, `directoryCount`, `quota`, `spaceConsumed`, `spaceQuota`."""
        found: Dict[str, int] = self._document("GET", path, "GETCONTENTSUMMARY")["ContentSummary"]
        return found

    def make_folders(self, path: str) -> None:
        """Make a folder and what is missing above it; one that is there already is fine."""
        self._document("PUT", path, "MKDIRS", permission="755")

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Remove a file or folder; False when there was none. `NotEmpty` for a full folder unless recursive."""
        return bool(self._document("DELETE", path, "DELETE", recursive=recursive)["boolean"])

    def rename(self, source: str, target: str, overwrite: bool = False) -> None:
        """Give a file another name in one step. `Exists` when the target does and may not be replaced.

        With `overwrite` a file there is replaced: readers find the old one or the new one at every moment.
        """
        # Without an option HDFS would move the file *into* a folder that has the target's name.
        option = "OVERWRITE" if overwrite else "NONE"
        if self._call("PUT", source, "RENAME", destination=wire.check_path(target), renameoptions=option):
            raise RequestError(
                "%s cannot rename in one step (it ignores renameoptions, as HttpFS does); "
                "use the address of the name node itself" % self.url
            )

    def set_permission(self, path: str, mode: int) -> None:
        """Set the mode bits of a file or folder that is ours."""
        self._call("PUT", path, "SETPERMISSION", permission="%o" % mode)

    def set_owner(self, path: str, owner: str = "", group: str = "") -> None:
        """Give a file or folder away; what is empty stays. Only the superuser may change the owner."""
        given = {name: value for name, value in (("owner", owner), ("group", group)) if value}
        self._call("PUT", path, "SETOWNER", **given)

    def set_modified(self, path: str, modified_ms: int) -> None:
        """Set the time of the last change."""
        self._call("PUT", path, "SETTIMES", modificationtime=modified_ms)

    def checksum(self, path: str) -> str:
        """HDFS's own checksum; equal bytes have equal ones only where the block size is the same."""

        def attempt() -> str:
            with self._nodes.transfer("GET", self._place(path), "GETFILECHECKSUM", {}) as answer:
                found = json.loads(answer.read().decode("utf-8"))["FileChecksum"]
            return "%s:%s" % (found["algorithm"], found["bytes"])

        return retrying(self._policy, attempt)

    def append(self, path: str, pieces: Iterable[bytes]) -> None:
        """Add bytes to a file, in one try: repeating what may have worked could add them twice."""
        try:
            with self._nodes.transfer("POST", self._place(path), "APPEND", {}, iter(pieces)):
                return
        except Again as again:
            raise again.error from None

    def write(self, path: str, source: Source, overwrite: bool = True, tries: int = 0) -> bool:
        """Write a whole file in one step. False when it is there already and may not be replaced."""
        return self.settle(self.put_aside(posixpath.dirname(path), source, tries), path, overwrite)

    def put_aside(self, folder: str, source: Source, tries: int = 0) -> Part:
        """Write a file under a hidden name of its own in `folder`, which is made when missing.

        A try that broke is repeated under another name: the data node of the first may still be writing. What arrived
        is counted: Hadoop 2 reports success even for bytes that found no space.
        """
        tried: List[str] = []
        came_short: List[int] = []

        def attempt() -> Part:
            path = posixpath.join(folder, PART + os.urandom(12).hex())
            tried.append(path)
            try:
                sent = self._create(path, source())
                found = self.status(path)
                if found is not None and found.size_bytes == sent:
                    tried.remove(path)
                    return Part(path, found.inode, sent)
            except BaseException:
                self.discard(path)
                raise
            self.discard(path)
            came_short.append(found.size_bytes if found else 0)
            error = StoreFull(
                "HDFS kept only %d of %d bytes in %s%s; its quota or its disks are probably full"
                % (came_short[-1], sent, self.url, folder)
            )
            raise Again(error) if len(came_short) == 1 else error

        try:
            return retrying(self._policy._replace(tries=tries or self._policy.tries), attempt)
        finally:
            # Once more: where a connection broke, the data node may have begun the file after it was discarded.
            for path in tried:
                self.discard(path)

    def settle(self, part: Part, target: str, overwrite: bool) -> bool:
        """Give a part its name; False when something has it already. The part is used up either way."""
        settled = False
        try:
            settled = self._settle(part, target, overwrite)
        finally:
            if not settled:
                self.discard(part.path)
        return settled

    def discard(self, path: str) -> None:
        """Remove a part that is of no use; when even that fails, it stays until it is old."""
        with contextlib.suppress(InsideError, Again):
            self._nodes.answer("DELETE", path, "DELETE", {})

    def read(self, path: str, start: int = 0, length: Optional[int] = None, tag: str = "") -> Iterator[bytes]:
        """The bytes of a file, in pieces; nothing past its end.

        A connection that breaks is taken up where it broke. All pieces are of one file: `Changed` when it was replaced
        meanwhile, or is no longer the one with that `tag` (see `Status`).
        """
        found = self.status(path)
        if found is None or not found.is_file:
            raise NotFound(path)
        if tag and found.tag != tag:
            raise self._replaced(path)
        end = found.size_bytes if length is None else min(found.size_bytes, start + length)
        place = wire.inode_path(found.inode) if found.inode else path
        patience = Patience(self._policy)
        while start < end:
            try:
                for piece in self._pieces(place, start, end - start):
                    start += len(piece)
                    patience = Patience(self._policy)  # patience is for standing still
                    yield piece
            except NotFound:
                raise self._replaced(path) from None
            except Again as again:
                time.sleep(patience.pause_s(again))

    def _create(self, path: str, pieces: Iterator[bytes]) -> int:
        """One try at a new file; returns how many bytes were sent."""
        sent = _Sent(pieces)
        parameters: Dict[str, Parameter] = {"overwrite": False, "permission": "644"}
        with self._nodes.transfer("PUT", self._place(path, new=True), "CREATE", parameters, sent):
            if sent.error is not None:
                raise sent.error
            return sent.count

    def _pieces(self, place: str, start: int, length: int) -> Iterator[bytes]:
        """One try at some bytes; `Again` when it breaks or ends early."""
        with self._nodes.transfer("GET", place, "OPEN", {"offset": start, "length": length}) as answer:
            try:
                for piece in answer.pieces():
                    length -= len(piece)
                    yield piece
            except Unreachable as error:
                raise Again(error) from None
        if length:
            raise Again(PlaceError("%s%s ended %d bytes too early" % (self.url, place, length)))

    def _settle(self, part: Part, target: str, overwrite: bool) -> bool:
        for _ in range(20):
            try:
                self.rename(part.path, target, overwrite)
                return True
            except (Exists, NotFound) as error:
                # The answer to a rename may be lost, and repeating it then finds no part: the inode tells.
                there = self.status(target)
                if there is not None and there.inode == part.inode != 0:
                    return True
                if isinstance(error, Exists):
                    return False
                if self.status(part.path) is None:
                    raise PlaceError("%s%s was removed by somebody else" % (self.url, part.path)) from None
            # The folder is missing; a concurrent delete may have pruned it since it was last made.
            self.make_folders(posixpath.dirname(target))
        raise PlaceError("the folder of %s%s vanishes again and again" % (self.url, target))

    def _place(self, path: str, new: bool = False) -> str:
        """The path as a data node understands it. Those of Hadoop 2 decode it twice, which spoils a percent sign."""
        if "%" not in path:
            return path
        above, name = posixpath.split(path) if new else (path, "")
        if new:
            self.make_folders(above)
        found = self.status(above)
        if found is None:
            raise NotFound(path)
        return wire.inode_path(found.inode, name) if found.inode else path  # a server without numbers is no Hadoop 2

    def _replaced(self, path: str) -> Changed:
        return Changed("%s%s was changed or removed meanwhile; try again" % (self.url, path))

    def _document(self, method: str, path: str, operation: str, **parameters: Parameter) -> Dict[str, Any]:
        try:
            found: Dict[str, Any] = json.loads(self._call(method, path, operation, **parameters).decode("utf-8"))
            return found
        except ValueError:
            raise RequestError("%s does not answer as WebHDFS does; check host and port" % self.url) from None

    def _call(self, method: str, path: str, operation: str, **parameters: Parameter) -> bytes:
        return retrying(self._policy, lambda: self._nodes.answer(method, path, operation, parameters))


class _Sent:
    """Pieces on their way: how many bytes they were, and what broke their source.

    A body whose source breaks is ended properly, and the error raised after that: a connection that is cut instead
    leaves a data node that makes the file at some later moment.
    """

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self.count = 0
        self.error: Optional[Exception] = None

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            piece = next(self._pieces)
        except StopIteration:
            raise
        except Exception as error:  # noqa: BLE001 - raised again by the writer
            self.error = error
            raise StopIteration from None
        self.count += len(piece)
        return piece
