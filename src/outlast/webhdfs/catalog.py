"""What is at a path of the served folder: the file as this machine has it, and the note that goes with it."""

from __future__ import annotations

import contextlib
import functools
import grp
import os
import posixpath
import pwd
import re
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

from outlast.webhdfs.filesystem import FILE, FOLDER, LINK, Status, Summary
from outlast.webhdfs.ground import RESERVED, Ground
from outlast.webhdfs.notes import Note, Notes
from outlast.webhdfs.refusals import Refusal, absent, no_file

BLOCK_BYTES = 128 << 20
REPLICATION = 1
_NAME_BYTES = 255
_BY_NUMBER = re.compile(r"/\.reserved/\.inodes/([0-9]{1,18})(/.*)?")


class Catalog:
    """Shared by all users of a folder. While `at` is held, names and notes fit together.

    With a `keeper`, what nobody has told permissions of is that one's alone, whatever this machine says of the file.
    """

    def __init__(self, root: str | Path, notes: Notes, keeper: str = "") -> None:
        self.ground = Ground(root)
        self.notes = notes
        self.lock = threading.RLock()
        self._keeper = keeper

    @contextlib.contextmanager
    def at(self, path: str) -> Iterator[str]:
        """Hold names still, and give the real path of one that goes by number (`/.reserved/.inodes/16386/x`)."""
        with self.lock:
            match = _BY_NUMBER.fullmatch(path)
            yield path if match is None else self._numbered(int(match[1]), path).rstrip("/") + (match[2] or "") or "/"

    def look(self, path: str, *, count: bool = True) -> Status | None:
        """What is at a path; without `count`, what a folder holds is not counted, which takes time in a large one."""
        with self.at(path) as place:
            found = self.ground.stat(place)
            return None if found is None else self._status(place, found, self.notes.of(place, found.st_ino), count)

    def kind(self, path: str) -> str | None:
        """What sort of thing is at a path: all that most rules ask, and quicker than `look` in a large folder."""
        with self.at(path) as place:
            found = self.ground.stat(place)
            return None if found is None else _kind_of(found.st_mode)

    def entries(self, path: str) -> list[Status]:
        """What a folder holds, sorted by the bytes of the names."""
        with self.at(path) as place:
            entries = sorted(self.ground.entries(place), key=lambda entry: entry[0].encode())
            notes = self.notes.of_all(place, {name: found.st_ino for name, found in entries})
            return [
                self._status(posixpath.join(place, name), found, notes[name])._replace(name=name)
                for name, found in entries
            ]

    def summary(self, path: str) -> Summary:
        """Counted while others go on: what comes or goes meanwhile may be in it or not."""
        with self.at(path) as place:
            if self.ground.stat(place) is None:
                raise absent(path)
            replicas = self.notes.replications(place)
        total = Summary(0, 0, 0, 0)
        ahead = [place]
        while ahead:
            current = ahead.pop()
            found = self.ground.stat(current)
            if found is not None and stat.S_ISDIR(found.st_mode):
                total = total._replace(folders=total.folders + 1)
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    ahead += [posixpath.join(current, name) for name, _ in self.ground.entries(current)]
            elif found is not None and stat.S_ISREG(found.st_mode):
                size, space = found.st_size, found.st_size * replicas.get(current, REPLICATION)
                total = Summary(total.folders, total.files + 1, total.size_bytes + size, total.space_bytes + space)
        return total

    def need_file(self, path: str) -> Status:
        status = self.look(path)
        if status is None:
            raise absent(path)
        if status.kind != FILE:
            raise no_file(path)
        return status

    def note_of(self, path: str, missing: str) -> Note:
        """The note of what is there; `missing` is what to say when nothing is."""
        with self.at(path) as place:
            found = self.ground.stat(place)
            if found is None:
                raise Refusal("FileNotFoundException", missing)
            return self.notes.of(place, found.st_ino)

    def change(self, path: str, missing: str, **values: object) -> None:
        """Note other values for a file that stays the same one."""
        with self.at(path) as place:
            self.notes.keep(place, self.note_of(place, missing)._replace(**values))  # type: ignore[arg-type]

    def make_folder(self, path: str, permission: int, user: str) -> str | None:
        """Make a folder and what is missing above it; returns the kind of what was there to begin with, or None."""
        there = self.kind(path)
        if there is not None:
            return there
        above, name = posixpath.split(path)
        check_creatable(path)
        if self.make_folder(above, permission, user) not in (None, FOLDER):
            raise Refusal("FileAlreadyExistsException", f"Parent path is not a directory: {above} {name}")
        with self.ground.parent(path) as (fd, name):
            os.mkdir(name, dir_fd=fd)
            inode = os.stat(name, dir_fd=fd, follow_symlinks=False).st_ino
        self.notes.begin(path, Note(inode, 0, user, self.note_of(above, above).group, permission))
        return None

    def _numbered(self, number: int, path: str) -> str:
        place = self.notes.path_of(number)
        found = None if place is None else self.ground.stat(place)
        if place is None or found is None or self.notes.of(place, found.st_ino).id != number:
            raise Refusal("FileNotFoundException", f"File for given inode path does not exist: {path}")
        return place

    def _status(self, path: str, found: os.stat_result, note: Note, count: bool = True) -> Status:
        kind = _kind_of(found.st_mode)
        is_file, is_folder = kind == FILE, kind == FOLDER
        return Status(
            kind,
            found.st_size if is_file else 0,
            note.owner or self._keeper or _user_name(found.st_uid),
            note.group or self._keeper or _group_name(found.st_gid),
            self._told_by(found.st_mode) if note.permission is None else note.permission,
            0 if is_folder else found.st_atime_ns // 1_000_000,
            found.st_mtime_ns // 1_000_000,
            (note.block_bytes or BLOCK_BYTES) if is_file else 0,
            (note.replication or REPLICATION) if is_file else 0,
            note.id,
            sum(1 for _ in self.ground.entries(path)) if is_folder and count else 0,
            link="" if is_file or is_folder else self.ground.link_target(path),
        )

    def _told_by(self, mode: int) -> int:
        """The permission of what has no note."""
        return mode & (0o700 if self._keeper else 0o777)


def _kind_of(mode: int) -> str:
    return FILE if stat.S_ISREG(mode) else FOLDER if stat.S_ISDIR(mode) else LINK


def check_creatable(path: str) -> None:
    """`Refusal` for a name that no file may get."""
    above, _, name = path.rpartition("/")
    top = path.split("/")[1]
    size = len(name.encode("utf-8", "surrogatepass"))
    if top in RESERVED:
        raise Refusal("HadoopIllegalArgumentException", f'File name "{top}" is reserved and cannot be created.')
    if size > _NAME_BYTES:
        raise Refusal(
            "PathComponentTooLongException",
            f"The maximum path component name limit of {name} in directory {above or '/'} is exceeded: "
            f"limit={_NAME_BYTES} length={size}",
        )


@functools.lru_cache(maxsize=1024)
def _user_name(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


@functools.lru_cache(maxsize=1024)
def _group_name(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
