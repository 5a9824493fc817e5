"""What HDFS knows about a file and a folder of this machine does not: a number of its own, an owner by name, replicas.

Kept in a small database beside the served folder, never in it. A note belongs to a path and to the inode that was
there: a file that other programs put in its place starts without one. Losing the notes loses no bytes.
"""

from __future__ import annotations

import contextlib
import json
import posixpath
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

_SCHEMA = """
CREATE TABLE IF NOT EXISTS notes (
    folder TEXT NOT NULL, name TEXT NOT NULL, inode INTEGER NOT NULL, id INTEGER NOT NULL UNIQUE,
    owner TEXT, team TEXT, permission INTEGER, replication INTEGER, block_bytes INTEGER, attributes TEXT,
    PRIMARY KEY (folder, name)
) WITHOUT ROWID
"""
_COLUMNS = "inode, id, owner, team, permission, replication, block_bytes, attributes"


class Note(NamedTuple):
    """None is what nobody told: the file itself is asked then."""

    inode: int
    id: int
    owner: str | None = None
    group: str | None = None
    permission: int | None = None
    replication: int | None = None
    block_bytes: int | None = None
    attributes: str | None = None  # JSON: name to hex, or to null

    def xattrs(self) -> dict[str, bytes | None]:
        found = json.loads(self.attributes or "{}")
        return {name: None if value is None else bytes.fromhex(value) for name, value in found.items()}


def xattrs_text(values: Mapping[str, bytes | None]) -> str:
    return json.dumps({name: None if value is None else value.hex() for name, value in values.items()})


class Notes:
    """The notes of one folder, in a file or, without one, for as long as this object lives."""

    def __init__(self, file: Path | None = None) -> None:
        self._lock = threading.Lock()
        try:
            self._base = _open(file)
        except sqlite3.DatabaseError:
            if file is None or not file.is_file():
                raise
            file.replace(file.with_name(file.name + ".damaged"))
            self._base = _open(file)
        self._last_id = 0

    def close(self) -> None:
        with self._lock:
            self._base.close()

    def of(self, path: str, inode: int) -> Note:
        """The note of what is at a path now; made when there is none of that inode."""
        folder, name = posixpath.split(path)
        return self._found(folder, {name: inode}, " AND name=?", (folder, name))[name]

    def of_all(self, folder: str, inodes: Mapping[str, int]) -> dict[str, Note]:
        """The same for the entries of a folder, in one go."""
        return self._found(folder, inodes, "", (folder,))

    def _found(self, folder: str, inodes: Mapping[str, int], only: str, values: tuple[str, ...]) -> dict[str, Note]:
        def fitting() -> dict[str, Note]:
            rows = self._base.execute(f"SELECT name, {_COLUMNS} FROM notes WHERE folder=?{only}", values)
            known = {name: Note(*rest) for name, *rest in rows}
            return {name: note for name, note in known.items() if inodes.get(name) == note.inode}

        with self._lock:
            found = fitting()
            if len(found) < len(inodes):
                with self._at_once():
                    # Again, now that nobody else writes: another process may just have noted whose it is.
                    found = fitting()
                    made = {name: Note(inodes[name], self._next_id()) for name in inodes if name not in found}
                    self._insert([(folder, name, *note) for name, note in made.items()])
                found |= made
            return found

    def begin(self, path: str, note: Note) -> None:
        """Note a new file, under a number that no file had before."""
        with self._lock, self._at_once():
            self._insert([(*posixpath.split(path), *note._replace(id=self._next_id()))])

    def keep(self, path: str, note: Note) -> None:
        """Replace the note of a file that stays the same one."""
        with self._lock, self._at_once():
            self._insert([(*posixpath.split(path), *note)])

    def moved(self, source: str, target: str) -> None:
        """The notes go along with what was renamed, all that is below it included."""
        with self._lock, self._at_once():
            self._forget(target)
            self._base.execute(
                "UPDATE notes SET folder=?, name=? WHERE folder=? AND name=?",
                (*posixpath.split(target), *posixpath.split(source)),
            )
            self._base.execute(
                "UPDATE notes SET folder = ? || substr(folder, ?) WHERE folder=? OR (folder > ? AND folder < ?)",
                (target, len(source) + 1, source, source + "/", source + "0"),
            )

    def removed(self, path: str) -> None:
        with self._lock, self._at_once():
            self._forget(path)

    def path_of(self, file_id: int) -> str | None:
        """Where the file with that number was seen last."""
        with self._lock:
            row = self._base.execute("SELECT folder, name FROM notes WHERE id=?", (file_id,)).fetchone()
        return None if row is None else posixpath.join(*row)

    def replications(self, path: str) -> dict[str, int]:
        """Path to replicas, of all below a path for which a number was given."""
        with self._lock:
            rows = self._base.execute(
                "SELECT folder, name, replication FROM notes WHERE replication IS NOT NULL "
                "AND ((folder=? AND name=?) OR folder=? OR (folder > ? AND folder < ?))",
                (*posixpath.split(path), path, path.rstrip("/") + "/", path.rstrip("/") + "0"),
            )
            return {posixpath.join(folder, name): number for folder, name, number in rows}

    def _forget(self, path: str) -> None:
        self._base.execute("DELETE FROM notes WHERE folder=? AND name=?", posixpath.split(path))
        self._base.execute(
            "DELETE FROM notes WHERE folder=? OR (folder > ? AND folder < ?)", (path, path + "/", path + "0")
        )

    def _insert(self, rows: list[tuple[object, ...]]) -> None:
        self._base.executemany(f"INSERT OR REPLACE INTO notes VALUES ({','.join('?' * 10)})", rows)

    def _next_id(self) -> int:
        """While nobody else writes: other processes may share the file."""
        # Microseconds since 1970: also after the notes were lost, no number comes twice, and JavaScript can hold it.
        highest = self._base.execute("SELECT max(id) FROM notes").fetchone()[0] or 0
        self._last_id = max(self._last_id + 1, highest + 1, time.time_ns() // 1000)
        return self._last_id

    @contextlib.contextmanager
    def _at_once(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            self._base.execute("ROLLBACK")
            raise


def _open(file: Path | None) -> sqlite3.Connection:
    base = sqlite3.connect(str(file or ":memory:"), check_same_thread=False, isolation_level=None, timeout=30)
    # Notes are a comfort: they need not survive a power cut, and must not slow every file down.
    base.execute("PRAGMA journal_mode=WAL")
    base.execute("PRAGMA synchronous=OFF")
    base.execute(_SCHEMA)
    return base
