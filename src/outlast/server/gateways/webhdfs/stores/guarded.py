"""One store as one user may use it: what the API refuses of it is refused here, and what changes is put on record."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

from outlast.inside.move.names import is_below
from outlast.server.fences import check_address
from outlast.server.gateways.webhdfs.stores.naming import Spot
from outlast.server.gateways.webhdfs.stores.plain import PlainFileSystem
from outlast.webhdfs.filesystem import FileSystem, NewFile, Opened, Status, Summary
from outlast.webhdfs.refusals import Refusal, absent

#: (what was done, the address, more about it)
Record = Callable[[str, str, dict[str, str]], None]


class StoreFileSystem(PlainFileSystem):
    """A store at its place among the paths. `walls` are the stores of runs, which nobody but an admin enters.

    Files have no numbers here: the numbers of the tree beside it lead to other files.
    """

    def __init__(self, spot: Spot, files: FileSystem, walls: Iterable[str] | None, record: Record) -> None:
        self._spot = spot
        self._files = files
        self._walls = walls
        self._record = record
        self.lock = threading.RLock()

    def look(self, path: str) -> Status | None:
        found = self._files.look(self._at(path))
        return found and found._replace(file_id=0)

    def kind(self, path: str) -> str | None:
        return self._files.kind(self._at(path))

    def list(self, path: str) -> Sequence[Status]:
        return [each._replace(file_id=0) for each in self._files.list(self._at(path))]

    def summary(self, path: str) -> Summary:
        return self._files.summary(self._at(path, deep=True))

    def check_access(self, path: str, action: str) -> None:
        self._files.check_access(self._at(path, deep="w" in action), action)

    def open(self, path: str) -> Opened:
        return self._files.open(self._at(path))

    def create(self, path: str, pieces: Iterable[bytes], how: NewFile) -> None:
        self._files.create(self._at(path, deep=True), pieces, how)
        self._note("store.write", path)

    def append(self, path: str, pieces: Iterable[bytes]) -> None:
        self._files.append(self._at(path, deep=True), pieces)
        self._note("store.write", path)

    def concat(self, path: str, sources: Sequence[str]) -> None:
        target, inner = self._at(path, deep=True), [self._at(source, deep=True) for source in sources]
        self._files.concat(target, inner)
        self._note("store.write", path)

    def truncate(self, path: str, size_bytes: int) -> None:
        self._files.truncate(self._at(path, deep=True), size_bytes)
        self._note("store.write", path)

    def make_folders(self, path: str, permission: int) -> None:
        self._files.make_folders(self._at(path, deep=True), permission)

    def delete(self, path: str, recursive: bool) -> bool:
        place = self._at(path, deep=True)
        if place == "/":
            raise Refusal("AccessControlException", f"{path} is a whole store; remove what is in it")
        is_gone = self._files.delete(place, recursive)
        if is_gone:
            self._note("store.remove", path)
        return is_gone

    def rename(self, source: str, target: str) -> bool:
        is_moved = self._files.rename(self._at(source, deep=True), self._at(target, deep=True))
        if is_moved:
            self._note("store.rename", source, to=self._address(target))
        return is_moved

    def rename_exactly(self, source: str, target: str, overwrite: bool) -> None:
        self._files.rename_exactly(self._at(source, deep=True), self._at(target, deep=True), overwrite)
        self._note("store.rename", source, to=self._address(target))

    def _at(self, path: str, *, deep: bool = False) -> str:
        """The path within the store. `deep` for what would reach everything below it, the runs too."""
        base = self._spot.base
        if path != base and not is_below(path, base):
            raise Refusal("IOException", f"{path} is not in {base}: copy it, then remove the original")
        inner = path.removeprefix(base) or "/"
        if inner.split("/")[1] == ".reserved":  # by number, every file of an HDFS has a second path past the walls
            raise absent(path)
        if self._walls is not None:
            check_address(self._spot.address(inner), self._walls, deep=deep)
        return inner

    def _address(self, path: str) -> str:
        return self._spot.address(path.removeprefix(self._spot.base) or "/")

    def _note(self, action: str, path: str, **more: str) -> None:
        self._record(action, self._address(path), more)
