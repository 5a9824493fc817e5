"""All repositories of one home.

hub/<owner>/<name>/
  about.json     kind, owner, visibility, words; replaced as a whole
  repository.git the bare repository: objects and refs, nothing that a user wrote as configuration
  locks.json     LFS file locks
hub/.hooks/      the one hook, ours, for all repositories
hub/.moved.json  names that repositories had before, as long as they lead to them
hub/.names.json  who was called what, and when, of names that changed hands
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import secrets
import shutil
import stat
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from outlast.errors import CredentialError, HomeError, NotFoundError, UsageError
from outlast.hub import names
from outlast.hub.bare import Bare
from outlast.hub.locks import Locks
from outlast.hub.objects import Objects
from outlast.hub.redirects import Redirects
from outlast.hub.repository import Repository
from outlast.hub.tenures import Tenure, Tenures
from outlast.inside.records import now_text
from outlast.inside.stores.base import Store
from outlast.model.visitor import Visitor

#: Puts the first content into a repository that nobody sees yet.
Fill = Callable[[Repository, Bare], None]
_ABOUT, _NEXT = "about.json", "about.next.json"
_HOOK = '#!/bin/sh\nexec "$OUTLAST_PYTHON" -P -m outlast.hub.checking\n'


class Hub:
    """The repositories below one folder; their LFS objects are in `store`. Any number of processes may use it."""

    def __init__(self, root: Path, store: Store) -> None:
        self.root = root
        self.store = store
        self._tenures = Tenures(root)
        self._redirects = Redirects(root)

    def create(
        self, visitor: Visitor, path: str, kind: str, *, group: bool = False, fill: Fill | None = None, **words: Any
    ) -> Repository:
        """Make a repository, empty or as `fill` leaves it, whole or not at all.

        `words` are visibility, description, tags, licence.
        """
        owner, name = names.read_path(path)
        made = Repository(
            id=secrets.token_hex(8), owner=owner, name=name, kind=names.check_kind(kind), group=group,
            created_at=now_text(), **_checked(words),
        )  # fmt: skip
        if not made.may_change(visitor):
            raise NotYours(f"you cannot make repositories of {owner}", hint=f"make it yours: {visitor.name}/{name}")
        self._refuse_taken(owner, name)  # before the work; what counts is the second look
        self.hooks()
        aside = self.root / f".new-{uuid.uuid4().hex}"
        try:
            bare = Bare.make(aside / "repository.git")
            if fill is not None:
                fill(made, bare)
            _write(aside / _ABOUT, made)
            with self._alone(owner):
                self._refuse_taken(owner, name)
                self._redirects.release(made.path)
                self._tenures.begin(made)
                aside.rename(self.root / owner / name)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return made

    def find(self, visitor: Visitor, owner: str, name: str) -> Repository:
        """A repository that `visitor` may see, by its name or one that it had before.

        One that they may not see does not exist.
        """
        found = self._read(owner, name) or self._read_moved(owner, name)
        if found is None or not found.may_see(visitor):
            raise NotFoundError(f"no repository {owner}/{name}", hint="see them with: outlast repo list")
        return found

    def find_own(self, visitor: Visitor, owner: str, name: str) -> Repository:
        """A repository that `visitor` may change; `NotYours` for one that they may only see."""
        found = self.find(visitor, owner, name)
        if not found.may_change(visitor):
            raise NotYours(f"{found.path} belongs to {found.owner}", hint="ask them, or make a repository of your own")
        return found

    def list(self, visitor: Visitor) -> list[Repository]:
        """All that `visitor` may see, by name."""
        files = self.root.glob("[A-Za-z0-9]*/[A-Za-z0-9]*/" + _ABOUT)
        found = [self._read(path.parent.parent.name, path.parent.name) for path in files]
        return sorted((each for each in found if each and each.may_see(visitor)), key=lambda each: each.path)

    def change(self, repository: Repository, **words: Any) -> Repository:
        """Give a repository another visibility, description, licence or other tags; what is None stays."""
        given = {name: value for name, value in words.items() if value is not None}

        def changed(now: Repository) -> Repository:
            kept = {name: getattr(now, name) for name in ("visibility", "description", "tags", "licence")}
            return dataclasses.replace(now, **_checked(kept | given))

        return self.edit(repository, changed)

    def edit(self, repository: Repository, step: Callable[[Repository], Repository]) -> Repository:
        """Replace what is known of a repository by what `step` makes of it; nobody else changes it meanwhile."""
        with self._alone(repository.owner):
            now = self._now(repository)
            changed = step(now)
            _write(self.folder(now) / _ABOUT, changed)
        return changed

    def rename(self, visitor: Visitor, repository: Repository, path: str, *, group: bool = False) -> Repository:
        """Give a repository another name; the old one leads to it until it is taken again.

        Another owner is given by those who see everything; `group` says that it is one. A process that is killed here
        leaves the repository under one of its names, whole.
        """
        owner, name = names.read_path(path)
        is_given = owner != repository.owner
        if is_given and not visitor.sees_all:
            raise NotYours(
                "only an admin gives a repository another owner",
                hint=f"they may make their own: outlast repo fork {repository.path} {path}",
            )
        with contextlib.ExitStack() as stack:
            for each in sorted({owner, repository.owner}):
                stack.enter_context(self._alone(each))
            now = self._now(repository)
            if path.lower() != now.path.lower():
                self._refuse_taken(owner, name)
            renamed = dataclasses.replace(now, owner=owner, name=name, group=group if is_given else now.group)
            _write(self.folder(now) / _NEXT, renamed)
            self._redirects.move(now, renamed)
            self._tenures.change(now, renamed)
            self.folder(now).rename(self.folder(renamed))
            (self.folder(renamed) / _NEXT).replace(self.folder(renamed) / _ABOUT)
        return renamed

    def remove(self, repository: Repository) -> None:
        """Remove a repository; bytes that only it had go with the next cleaning."""
        gone = self.root / f".gone-{uuid.uuid4().hex}"
        with self._alone(repository.owner):
            try:
                self.folder(repository).rename(gone)
            except FileNotFoundError:
                raise NotFoundError(f"no repository {repository.path}") from None
            self._redirects.forget(repository)
            self._tenures.end(repository)
        objects = self.objects(repository)
        objects.remove(objects.all())
        shutil.rmtree(gone)

    def tenures(self, repository: Repository) -> tuple[Tenure, ...]:
        """The names that a repository has and had, each with its time: runs record the name of their day."""
        return tuple(self._tenures.of(repository, self._redirects.of(repository)))

    def folder(self, repository: Repository) -> Path:
        return self.root / repository.owner / repository.name

    def bare(self, repository: Repository) -> Bare:
        return Bare(self.folder(repository) / "repository.git")

    def objects(self, repository: Repository) -> Objects:
        return Objects(self.store, repository.id)

    def locks(self, repository: Repository) -> Locks:
        return Locks(self.folder(repository) / "locks.json")

    def stored_bytes(self, repository: Repository) -> int:
        """What a repository takes: its LFS objects and what git keeps."""
        return sum(each.size_bytes for each in self.objects(repository).all()) + self.bare(repository).size_bytes()

    def hooks(self) -> Path:
        """The folder of the one hook, written when it is missing or of another version."""
        folder = self.root / ".hooks"
        hook = folder / "pre-receive"
        with contextlib.suppress(OSError):
            if hook.read_text() == _HOOK and hook.stat().st_mode & stat.S_IXUSR:
                return folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = folder / f".{uuid.uuid4().hex}"
        aside.write_text(_HOOK)
        aside.chmod(0o700)
        aside.replace(hook)
        return folder

    def _read(self, owner: str, name: str) -> Repository | None:
        try:
            names.check_owner(owner)
            names.check_repository_name(name)
            path = self.root / owner / name / _ABOUT
            found = Repository.from_json(json.loads(path.read_bytes()))
            if (found.owner, found.name) == (owner, name):
                return found
            path = path.with_name(_NEXT)  # a renaming was killed after its decisive step
            return Repository.from_json(json.loads(path.read_bytes()))
        except (UsageError, FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            raise HomeError(f"{path} cannot be read: {error}", hint="bring it back from a backup") from None

    def _read_moved(self, owner: str, name: str) -> Repository | None:
        moved = self._redirects.find(owner, name)
        found = self._read(*moved[1]) if moved else None
        return found if found and moved and found.id == moved[0] else None

    def _now(self, repository: Repository) -> Repository:
        """A repository as it is by now; `NotFoundError` when it is gone or called otherwise."""
        now = self._read(repository.owner, repository.name)
        if now is None or now.id != repository.id:
            raise NotFoundError(f"no repository {repository.path}")
        return now

    def _refuse_taken(self, owner: str, name: str) -> None:
        """Names that differ only in case would be one on many machines where they are cloned."""
        folder = self.root / owner
        there = [each.name for each in folder.iterdir()] if folder.is_dir() else []
        twin = next((each for each in there if each.lower() == name.lower()), None)
        if twin is not None:
            raise TakenError(f"{owner}/{twin} is there already", hint="choose another name, or remove that one first")

    @contextlib.contextmanager
    def _alone(self, owner: str) -> Iterator[None]:
        """Of several who make, change or remove repositories of one owner, one at a time."""
        folder = self.root / owner
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


class NotYours(CredentialError):
    """It can be seen, but belongs to somebody else."""

    code = "not_allowed"
    http_status = 403


class TakenError(UsageError):
    """There is one of this name already."""

    code = "conflict"
    http_status = 409


def _checked(words: dict[str, Any]) -> dict[str, Any]:
    words = {**words, "tags": tuple(words.get("tags") or ())}
    names.check_words(words.get("description", ""), words["tags"], words.get("licence", ""))
    if words.get("visibility", "private") not in ("public", "private"):
        raise UsageError(f"{words['visibility']!r} is no visibility", hint="public or private")
    return words


def _write(path: Path, repository: Repository) -> None:
    aside = path.with_name(f".about-{uuid.uuid4().hex}")
    with aside.open("w", encoding="utf-8") as out:
        json.dump(repository.to_json(), out)
        out.flush()
        os.fsync(out.fileno())
    aside.replace(path)
