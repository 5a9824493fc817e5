"""Revisions of repositories as files, for inputs of runs: written once, whole, and never through a link.

<root>/<repository id>/<commit>/<digest of the path>/<name>
"""

from __future__ import annotations

import hashlib
import os
import shutil
import uuid
from pathlib import Path, PurePosixPath
from typing import Protocol

from outlast.errors import NotFoundError, UsageError
from outlast.hub.bare import SUBMODULE, SYMLINK, Bare, Item, inside
from outlast.hub.pointers import Pointer
from outlast.hub.repository import Repository

_AT_ONCE = 200  # plain files read by one git process: 40 MB by the rule for pushes


class Contents(Protocol):
    """The LFS objects of a repository."""

    def has(self, pointer: Pointer) -> bool: ...

    def fetch(self, pointer: Pointer, target: str) -> None:
        """Write an object to a file, verified."""


class Origin(Protocol):
    """Where revisions come from: a hub, or what was brought from another one."""

    def bare(self, repository: Repository) -> Bare: ...

    def objects(self, repository: Repository) -> Contents: ...


class Checkouts:
    """The checked-out revisions below one folder."""

    def __init__(self, hub: Origin, root: Path) -> None:
        self._hub = hub
        self._root = root

    def bring(self, repository: Repository, commit: str, path: str = "") -> Path:
        """Where a file or folder of a revision lies, or all of it; it is written unless it is there.

        `NotFoundError` for what the revision does not have or was never uploaded, `UsageError` for a link that leads
        out. What is written is read-only.
        """
        path = inside(path)
        folder = self._root / repository.id / commit / hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
        target = folder / (PurePosixPath(path).name or repository.name)
        if target.exists():
            os.utime(folder)  # cleaning counts from the last run that asked
            return target
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = folder.with_name(f".{uuid.uuid4().hex}")
        try:
            self._write(repository, commit, path, aside / target.name)
            try:
                aside.rename(folder)
            except OSError:
                if not target.exists():  # somebody else was faster otherwise
                    raise
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return target

    def _write(self, repository: Repository, commit: str, path: str, target: Path) -> None:
        bare = self._hub.bare(repository)
        items = [each for each in bare.items(commit, path, recursive=True) if each.mode != SUBMODULE]
        pointers = bare.pointers(items)
        target.parent.mkdir(mode=0o700)
        is_file = len(items) == 1 and items[0].path == path
        if not is_file:
            target.mkdir()
        places = {each: target if is_file else target / _below(each.path, path) for each in items}
        for place in places.values():
            place.parent.mkdir(parents=True, exist_ok=True)
        plain = [each for each in items if each.oid not in pointers]
        for start in range(0, len(plain), _AT_ONCE):
            some = plain[start : start + _AT_ONCE]
            for item, data in zip(some, bare.contents([each.oid for each in some]), strict=True):
                _put(item, data, places[item], target)
        for item in items:
            if item.oid in pointers:
                self._fetch(repository, item, pointers[item.oid], places[item])

    def _fetch(self, repository: Repository, item: Item, pointer: Pointer, place: Path) -> None:
        objects = self._hub.objects(repository)
        if not objects.has(pointer):
            raise NotFoundError(f"the content of {item.path} in {repository.path} was never uploaded")
        objects.fetch(pointer, str(place))
        place.chmod(0o444)


def _below(path: str, folder: str) -> str:
    """A path as seen from a folder of the repository. Names come from strangers: each part must be a plain name."""
    inner = path[len(folder) :].lstrip("/") if folder else path
    if any(part in ("", ".", "..", ".git") for part in inner.split("/")) or "\0" in inner:
        raise UsageError(f"{path!r} leads out of the repository")
    return inner


def _put(item: Item, data: bytes, place: Path, root: Path) -> None:
    if item.mode == SYMLINK:
        _check_link(item, os.fsdecode(data), place, root)
        place.symlink_to(os.fsdecode(data))
        return
    mode = 0o555 if item.mode == "100755" else 0o444
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(data)
        os.fchmod(handle, mode)


def _check_link(item: Item, leads_to: str, place: Path, root: Path) -> None:
    """A link may climb only at its beginning, and not above what is checked out."""
    parts = [part for part in leads_to.split("/") if part not in ("", ".")]
    climbs = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
    depth = len(place.relative_to(root).parts) - 1
    if not leads_to or leads_to.startswith("/") or "\0" in leads_to or climbs > depth or ".." in parts[climbs:]:
        raise UsageError(f"the link {item.path} leads out of the repository", hint="take it out, and push again")
