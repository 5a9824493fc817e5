"""Changing files of a repository over REST, without a clone: texts, what was uploaded, removals; one commit each time.

The rules are those of a push: nothing above 200 KB outside LFS, no LFS in a project. Where LFS is possible large
files go there by themselves.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from outlast.errors import NotFoundError, UsageError
from outlast.hub.bare import Bare
from outlast.hub.changes import branch_tip, check_file_path, commit_changes, lfs_paths
from outlast.hub.gitprocess import PLAIN_LIMIT_BYTES
from outlast.hub.objects import Objects
from outlast.hub.pointers import Pointer, read_pointer, write_pointer
from outlast.hub.repository import Repository
from outlast.model.quantities import format_size
from outlast.operations.cards import attributes
from outlast.server.answers import answer
from outlast.server.auth import Member
from outlast.server.bodies import Sha256
from outlast.server.holding import Held
from outlast.server.hub.api import State
from outlast.server.hub.room import require_room
from outlast.server.hub.visits import Opened, visitor_of

router = APIRouter(prefix="/repositories/{owner}/{name}", tags=["repositories"])

ATTRIBUTES = ".gitattributes"
_PIECE_BYTES = 1 << 20
#: More at once is for git: all of it but large files is in memory for a moment.
_MOST_FILES = 10_000
_MOST_BYTES = 256 << 20

RepositoryFile = Annotated[str, Field(max_length=1024)]


class TextFile(BaseModel):
    """A file by its text."""

    model_config = ConfigDict(extra="forbid")
    path: RepositoryFile
    text: Annotated[str, Field(max_length=PLAIN_LIMIT_BYTES)]


class CommitBody(BaseModel):
    """One commit: any of texts, an upload and removals."""

    model_config = ConfigDict(extra="forbid")
    message: Annotated[str, Field(max_length=5000)] = ""
    branch: Annotated[str, Field(max_length=200, description="the default branch when left out")] = ""
    parent: Annotated[str, Field(max_length=64, description="the commit you looked at; refused if it moved on")] = ""
    files: Annotated[list[TextFile], Field(max_length=100)] = []
    upload: Sha256 | None = Field(None, description="what was uploaded: its files join the repository")
    folder: Annotated[str, Field(max_length=1024, description="where the upload goes; the top when left out")] = ""
    remove: Annotated[list[RepositoryFile], Field(max_length=1000, description="files and folders to take away")] = []


class _Change:
    """The files of one commit on their way in: contents for git, and large ones for LFS."""

    def __init__(self, repository: Repository, bare: Bare, objects: Objects) -> None:
        self._repository = repository
        self._bare = bare
        self._objects = objects
        self.files: dict[str, tuple[bytes, int]] = {}
        self.large: dict[str, tuple[Path, Pointer]] = {}
        self._held_bytes = 0

    def add_text(self, path: str, text: str, tip: str | None) -> None:
        """A text in place of what was there; a script that could be started still can."""
        data = text.encode()
        if len(data) > PLAIN_LIMIT_BYTES:
            raise UsageError(f"{path} has {format_size(len(data))}; at most 200 KB are edited here", hint="upload it")
        self._add_plain(check_file_path(path), data, self._mode(path, tip))

    def add_upload(self, content: Path, folder: str, tip: str | None) -> None:
        """Everything below `content`; what `.gitattributes` give to LFS goes there whatever its size."""
        found = {check_file_path(f"{folder}/{name}" if folder else name): path for name, path in _walk(content)}
        chosen = lfs_paths(self._bare, tip, found) if self._repository.takes_lfs else set()
        for path, source in found.items():
            size_bytes = source.stat().st_size
            if size_bytes > PLAIN_LIMIT_BYTES and not self._repository.takes_lfs:
                raise UsageError(
                    f"{path} has {format_size(size_bytes)}, and a project holds code only: at most 200 KB each",
                    hint="keep it in a model or dataset repository, and name that one as an input of the run",
                )
            mode = 0o755 if source.stat().st_mode & 0o100 else 0o644
            if size_bytes > PLAIN_LIMIT_BYTES or path in chosen:
                pointer = Pointer(_digest(source), size_bytes)
                self.large[path] = source, pointer
                self.files[path] = write_pointer(pointer), mode
            else:
                self._add_plain(path, source.read_bytes(), mode)
        self._name_large([path for path in self.large if path not in chosen], tip)

    def _add_plain(self, path: str, data: bytes, mode: int) -> None:
        pointer = read_pointer(data)
        if pointer is not None and not (self._repository.takes_lfs and self._objects.has(pointer)):
            raise UsageError(f"{path} stands for a file in LFS that is not here", hint="upload the file itself")
        self.files[path] = data, mode
        self._held_bytes += len(data)
        if self._held_bytes > _MOST_BYTES:
            raise UsageError(f"more than {format_size(_MOST_BYTES)} of small files at once", hint="push them with git")

    def _mode(self, path: str, tip: str | None) -> int:
        try:
            found = self._bare.items(tip, path) if tip else []
        except NotFoundError:
            return 0o644
        return 0o755 if len(found) == 1 and found[0].mode == "100755" else 0o644

    def _name_large(self, paths: list[str], tip: str | None) -> None:
        """Let git clients know too that LFS keeps these."""
        if not paths:
            return
        before = self.files[ATTRIBUTES][0] if ATTRIBUTES in self.files else self._attributes(tip)
        gap = b"\n" if before and not before.endswith(b"\n") else b""
        self.files[ATTRIBUTES] = before + gap + attributes(paths), 0o644

    def _attributes(self, tip: str | None) -> bytes:
        items = self._bare.items(tip) if tip else []
        found = next((each for each in items if each.path == ATTRIBUTES and not each.is_folder), None)
        return self._bare.read(found.oid) if found is not None else b""

    @property
    def size_bytes(self) -> int:
        known = sum(len(data) for data, _ in self.files.values())
        return known + sum(each.size_bytes for _, each in self.large.values() if not self._objects.has(each))

    def send_large(self) -> None:
        for source, pointer in self.large.values():
            receiving = self._objects.receive(pointer)
            try:
                with source.open("rb") as content:
                    while piece := content.read(_PIECE_BYTES):
                        receiving.write(piece)
                receiving.finish()
            finally:
                receiving.abort()


@router.post("/commits", status_code=201, summary="Change files of a repository")
def commit_files(
    actor: Member, shared: Opened, held: Held, state: State, owner: str, name: str, body: CommitBody
) -> Response:
    """Write texts, take in an upload, remove files: one commit, as a whole or not at all.

    Large files of an upload go to LFS by themselves; in a project they are refused.
    """
    repository = shared.hub.find_own(visitor_of(actor), owner, name)
    bare, objects = shared.hub.bare(repository), shared.hub.objects(repository)
    branch, tip = branch_tip(bare, body.branch, body.parent)
    change = _Change(repository, bare, objects)
    for each in body.files:
        change.add_text(each.path, each.text, tip)
    if body.upload is not None:
        change.add_upload(held.uploads.folder(actor.name, body.upload), body.folder.strip("/"), tip)
    if not change.files and not body.remove:
        raise UsageError("there is nothing to commit", hint="name files, an upload, or what to remove")
    require_room(state, shared.hub, repository, change.size_bytes)
    change.send_large()
    message = body.message.replace("\0", "").strip() or _usual_message(list(change.files), body.remove)
    removed = [path.strip("/") for path in body.remove]
    commit = commit_changes(bare, change.files, removed, message, actor.name, branch=branch, tip=tip)
    state.accounts.audit.add(actor.name, "repository.commit", repository.path, commit=commit)
    told = {"commit": commit, "branch": branch, "files": len(change.files), "lfs": sorted(change.large)}
    return answer(told, 201)


def _walk(content: Path) -> Iterator[tuple[str, Path]]:
    count = 0
    for folder, _, names in os.walk(content):
        for each in names:
            path = Path(folder, each)
            relative = path.relative_to(content).as_posix()
            count += 1
            if path.is_symlink() or not path.is_file():
                raise UsageError(f"{relative} is a link", hint="upload the file that it leads to")
            if count > _MOST_FILES:
                raise UsageError(f"more than {_MOST_FILES} files at once", hint="push them with git")
            yield relative, path


def _digest(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _usual_message(added: list[str], removed: list[str]) -> str:
    names = [path for path in added if path != ATTRIBUTES] or added
    verb, paths = ("Add", names) if names else ("Remove", removed)
    return f"{verb} {paths[0]}" if len(paths) == 1 else f"{verb} {len(paths)} files"
