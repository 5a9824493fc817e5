"""`outlast publish`: the outputs of a run as a model repository. Bytes that the store has are only named again."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from outlast.errors import NotFoundError, UsageError
from outlast.hub.gitprocess import PLAIN_LIMIT_BYTES
from outlast.hub.hub import Hub
from outlast.hub.names import read_path
from outlast.hub.pointers import Pointer, write_pointer
from outlast.hub.repository import Repository
from outlast.inside.blobs import Blobs
from outlast.model.view import RunView
from outlast.model.visitor import Visitor
from outlast.operations.cards import CARD, attributes, model_card
from outlast.operations.faults import spoken
from outlast.operations.hubs import open_hub
from outlast.operations.locate import Located, locate
from outlast.operations.runs import show_run
from outlast.settings import Settings

_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class Published:
    """What a publication made."""

    run: str
    path: str  # owner/name
    commit: str
    files: int
    size_bytes: int
    copied_bytes: int  # 0 when run and hub share a store
    new: bool  # the repository was made for this


@dataclass(frozen=True)
class _Result:
    """One output and what becomes of it."""

    path: str
    pointer: Pointer
    mode: int


def publish_run(settings: Settings, ref: str, path: str, visitor: Visitor, **words: Any) -> Published:
    """Make the outputs of a run the content of a model repository, as one commit on main.

    The repository is made with `words` unless it is there. Files up to 200 KB of text are kept by git, all others by
    LFS; a README.md of one's own stays, otherwise a model card is written.
    """
    owner, name = read_path(path)
    found = locate(settings, ref)
    view = show_run(settings, found.run)
    results = _results(view)
    hub = open_hub(settings)
    repository, is_new = _open_repository(hub, visitor, owner, name, words)
    shares = found.url == settings.store
    with spoken(f"publishing {found.run}"):
        files, large = _files(found, results)
        if shares:
            hub.objects(repository).add(each.pointer for each in large)
        else:
            _carry(hub, repository, found, large)
    files[".gitattributes"] = (attributes(each.path for each in large), 0o644)
    if CARD not in files:
        files[CARD] = (model_card(view, repository, [(each.path, each.pointer.size_bytes) for each in results]), 0o644)
    commit = hub.bare(repository).write_commit(files, f"Outputs of run {found.run}", visitor.name)
    copied = 0 if shares else sum(each.pointer.size_bytes for each in large)
    total = sum(each.pointer.size_bytes for each in results)
    return Published(found.run, repository.path, commit, len(results), total, copied, is_new)


def _results(view: RunView) -> list[_Result]:
    outputs = view.outputs or {}
    if not outputs:
        raise NotFoundError(
            f"run {view.id} has no outputs to publish", hint="it is over when they are there; name them with --output"
        )
    folder = _folder_of(outputs, str(view.spec.get("output") or ""))
    found = []
    for path, file in sorted(outputs.items()):
        inner = path.removeprefix(folder)
        parts = inner.split("/")
        if ".git" in (part.lower() for part in parts) or inner == ".gitattributes" or ".." in parts:
            continue  # git's own names cannot be content
        found.append(_Result(inner, Pointer(file["sha256"], int(file["size"])), int(file.get("mode", 0o644))))
    return found


def _folder_of(outputs: Iterable[str], place: str) -> str:
    """Outputs of one folder are that folder's content: of the output place, or of what they have in common."""
    for folder in (f"{place}/", PurePosixPath(next(iter(outputs))).parts[0] + "/"):
        if all(path.startswith(folder) for path in outputs):
            return folder
    return ""


def _open_repository(
    hub: Hub, visitor: Visitor, owner: str, name: str, words: dict[str, Any]
) -> tuple[Repository, bool]:  # fmt: skip
    try:
        found = hub.find_own(visitor, owner, name)
    except NotFoundError:
        return hub.create(visitor, f"{owner}/{name}", "model", **words), True
    if found.kind != "model":
        raise UsageError(f"{found.path} is a {found.kind}, and outputs become a model", hint="choose another name")
    return found, False


def _files(found: Located, results: Iterable[_Result]) -> tuple[dict[str, tuple[bytes, int]], list[_Result]]:
    """What git keeps of each output, and those that LFS keeps."""
    blobs = Blobs(found.store)
    files: dict[str, tuple[bytes, int]] = {}
    large = []
    for each in results:
        data = blobs.get_bytes(each.pointer.oid) if each.pointer.size_bytes <= PLAIN_LIMIT_BYTES else None
        if data is None or not _is_text(data):
            large.append(each)
            data = write_pointer(each.pointer)
        files[each.path] = (data, each.mode)
    return files, large


def _carry(hub: Hub, repository: Repository, found: Located, large: Iterable[_Result]) -> None:
    """Copy outputs of a run whose store is not the hub's, each verified on both ends."""
    objects, blobs = hub.objects(repository), Blobs(found.store)
    for each in large:
        with tempfile.TemporaryDirectory() as folder:
            aside = Path(folder) / "object"
            blobs.get_file(*each.pointer, str(aside))
            receiving = objects.receive(each.pointer)
            try:
                with aside.open("rb") as source:
                    while piece := source.read(_PIECE_BYTES):
                        receiving.write(piece)
                receiving.finish()
            finally:
                receiving.abort()


def _is_text(data: bytes) -> bool:
    try:
        return b"\0" not in data and data.decode("utf-8") is not None
    except UnicodeDecodeError:
        return False
