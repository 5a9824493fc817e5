"""Bring results home: outputs, a checkpoint, the output of the script. Verified, and never over a different file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from outlast.errors import NotFoundError, StoreError, UsageError
from outlast.inside import layout
from outlast.inside.errors import NotFound
from outlast.inside.records import Manifest
from outlast.keeper.observe import RunFolder
from outlast.operations.faults import spoken
from outlast.operations.locate import locate
from outlast.settings import Settings

What = Literal["outputs", "checkpoint", "logs", "all"]
WHATS: tuple[What, ...] = ("outputs", "checkpoint", "logs", "all")


@dataclass
class Fetched:
    """What landed where. Paths are relative to `folder`."""

    run: str
    folder: Path
    new: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)  # were there already, byte for byte
    replaced: list[str] = field(default_factory=list)  # differed, and force was given
    size_bytes: int = 0
    notices: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Wanted:
    """One file to fetch: where to, and which bytes."""

    path: str
    sha256: str
    size_bytes: int
    mode: int


def fetch_run(settings: Settings, ref: str, to: Path, what: What = "outputs", *, force: bool = False) -> Fetched:
    """Put a run's files below `to`, each verified by its digest. Identical files are skipped.

    A file that is there and differs is a `UsageError` before anything is written, unless `force`. A run without
    final outputs gives those inside its last checkpoint, and says so.
    """
    if what not in WHATS:
        raise UsageError(f"cannot fetch {what!r}; choose one of {', '.join(WHATS)}")
    found = locate(settings, ref)
    folder = found.folder()
    fetched = Fetched(found.run, to)
    with spoken(f"fetching {found.run}"):
        wanted = list(_wanted(folder, what, fetched))
        if what in ("logs", "all"):
            _check_logs(folder, what, to, force)
        _fetch_files(folder, wanted, fetched, force)
        if what in ("logs", "all"):
            _fetch_logs(folder, what, fetched)
    return fetched


def _wanted(folder: RunFolder, what: What, fetched: Fetched) -> Iterator[_Wanted]:
    # Alone, a kind of file lands in the folder itself; with `all` each kind has its own folder below.
    if what in ("outputs", "all"):
        place = folder.spec.get("output")
        files = _outputs(folder, place, fetched, needed=what == "outputs")
        yield from _placed(files, place, "outputs" if what == "all" else "")
    if what in ("checkpoint", "all"):
        files = _checkpoint(folder, fetched, needed=what == "checkpoint")
        yield from _placed(files, folder.spec.get("checkpoint"), "checkpoint" if what == "all" else "")


def _outputs(folder: RunFolder, place: str | None, fetched: Fetched, *, needed: bool) -> dict[str, dict[str, Any]]:
    try:
        files = Manifest.from_bytes(folder.store.get(layout.outputs_key(folder.run))).files
    except NotFound:
        pass
    else:
        if needed and not files:
            raise _nothing_kept(folder, place)
        return files
    if place is None and needed:
        raise _nothing_kept(folder, place)
    last = folder.checkpoints[-1] if folder.checkpoints else None
    files = _read_manifest(folder, last).files if last and place else {}
    files = {path: file for path, file in files.items() if place and _below(path, place)}
    if not files and needed:
        raise NotFoundError(
            f"run {folder.run} has no outputs yet", hint=f"see how far it is with: outlast show {folder.run}"
        )
    if files:
        fetched.notices.append(f"the run has no final outputs; these are from its last checkpoint, {last}")
    return files


def _nothing_kept(folder: RunFolder, place: str | None) -> NotFoundError:
    """Why a run has no outputs, and where its results are instead."""
    run = folder.run
    why = f"run {run} names no output place" if place is None else f"the script of run {run} left nothing in {place!r}"
    targets = [output["target"] for output in folder.spec.get("outputs", ()) if output["target"]]
    if targets:
        return NotFoundError(why, hint=f"its results were brought to {', '.join(targets)}")
    if folder.checkpoints:
        return NotFoundError(why, hint=f"fetch its checkpoint: outlast fetch {run} --what checkpoint")
    return NotFoundError(why, hint="say what to bring home when you start it: outlast run … --output PATH")


def _checkpoint(folder: RunFolder, fetched: Fetched, *, needed: bool) -> dict[str, dict[str, Any]]:
    if not folder.checkpoints:
        if needed:
            raise NotFoundError(f"run {folder.run} has no checkpoint yet")
        return {}
    place = folder.spec.get("checkpoint", "")
    files = _read_manifest(folder, folder.checkpoints[-1]).files
    return {path: file for path, file in files.items() if _below(path, place)}


def _read_manifest(folder: RunFolder, checkpoint: str) -> Manifest:
    return Manifest.from_bytes(folder.store.get(layout.checkpoint_key(folder.run, checkpoint)))


def _below(path: str, place: str) -> bool:
    return path == place or path.startswith(place + "/")


def _placed(files: dict[str, dict[str, Any]], place: str | None, below: str) -> Iterator[_Wanted]:
    """`out/model.npz` of the output place `out` lands as `model.npz`."""
    for path, file in sorted(files.items()):
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts or not pure.parts:
            raise StoreError(f"a manifest names {path!r}, which is no path inside a folder", retryable=False)
        if place and path.startswith(place + "/"):
            pure = pure.relative_to(place)
        elif place == path:
            pure = PurePosixPath(pure.name)
        yield _Wanted(str(PurePosixPath(below) / pure), file["sha256"], int(file["size"]), int(file.get("mode", 0o644)))


def _fetch_files(folder: RunFolder, wanted: list[_Wanted], fetched: Fetched, force: bool) -> None:
    from outlast.inside.blobs import Blobs

    states = {file.path: _compare(_target(fetched.folder, file.path), file) for file in wanted}
    _refuse_overwriting([path for path, state in states.items() if state == "differs"], fetched.folder, force)
    blobs = Blobs(folder.store)
    for file in wanted:
        state = states[file.path]
        if state == "same":
            fetched.same.append(file.path)
            continue
        target = _target(fetched.folder, file.path)
        _make_parent(target)
        blobs.get_file(file.sha256, file.size_bytes, str(target), file.mode)
        fetched.size_bytes += file.size_bytes
        (fetched.replaced if state == "differs" else fetched.new).append(file.path)


def _target(folder: Path, path: str) -> Path:
    """The place of a file; a link on the way that leads out of the folder is refused."""
    target = folder / path
    root = folder.resolve()
    if not target.parent.resolve().is_relative_to(root):
        raise UsageError(f"{target.parent} leads out of {folder}", hint="choose another folder with --to")
    return target


def _make_parent(target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make {target.parent}: {error.strerror}", hint="choose another folder") from None


def _compare(target: Path, file: _Wanted) -> str:
    if target.is_symlink() or target.is_dir():
        return "differs"
    if not target.exists():
        return "absent"
    if target.stat().st_size != file.size_bytes:
        return "differs"
    with target.open("rb") as data:
        return "same" if hashlib.file_digest(data, "sha256").hexdigest() == file.sha256 else "differs"


def _refuse_overwriting(paths: list[str], folder: Path, force: bool) -> None:
    folders = [path for path in paths if (folder / path).is_dir() and not (folder / path).is_symlink()]
    if paths and (folders or not force):
        several = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        raise UsageError(
            f"{folder / (folders or paths)[0]}{several} is there already and differs",
            hint="fetch to another folder, or overwrite with --force",
        )


def _log_path(what: What, number: int) -> str:
    return f"logs/stint-{number:04d}.log" if what == "all" else f"stint-{number:04d}.log"


def _check_logs(folder: RunFolder, what: What, to: Path, force: bool) -> None:
    if what == "logs" and not folder.orders:
        raise NotFoundError(f"run {folder.run} has no stint yet")
    # A log that grew since it was fetched is not a different file.
    paths = [_log_path(what, number) for number in folder.orders]
    different = [path for path in paths if _target(to, path).exists() and not _is_beginning(folder, path, to)]
    _refuse_overwriting(different, to, force)


def _is_beginning(folder: RunFolder, path: str, to: Path) -> bool:
    from outlast.track.logs import read_log

    number = int(path[-8:-4])
    target = to / path
    if not target.is_file() or target.is_symlink():
        return False
    left = target.stat().st_size
    with target.open("rb") as data:
        for piece in read_log(folder.store, folder.run, number):
            if data.read(min(left, len(piece))) != piece[:left]:
                return False
            left -= min(left, len(piece))
    return left == 0


def _fetch_logs(folder: RunFolder, what: What, fetched: Fetched) -> None:
    from outlast.track.logs import read_log

    for number in sorted(folder.orders):
        path = _log_path(what, number)
        target = _target(fetched.folder, path)
        _make_parent(target)
        before = target.stat().st_size if target.exists() else None
        part = target.with_name(target.name + ".part")
        with part.open("wb") as out:
            for piece in read_log(folder.store, folder.run, number):
                out.write(piece)
        size = part.stat().st_size
        part.replace(target)
        if before == size:
            fetched.same.append(path)
            continue
        fetched.size_bytes += size
        (fetched.new if before is None else fetched.replaced).append(path)
