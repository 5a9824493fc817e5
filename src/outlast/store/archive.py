"""A pack as one file: an archive that has the same bytes on every machine."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tarfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

from outlast.errors import OutlastError, SpecError, StoreError
from outlast.model.spec import CodePack


@dataclass(frozen=True)
class PackFile:
    """One member of a pack."""

    path: str  # relative to the folder, with forward slashes
    size_bytes: int
    executable: bool = False
    link: str | None = None  # where a symbolic link leads, relative and inside the folder
    is_folder: bool = False  # only folders that would otherwise be missing


@dataclass(frozen=True)
class PackPlan:
    """What a pack will hold."""

    folder: Path
    files: tuple[PackFile, ...]
    notices: tuple[str, ...] = ()

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)


def write_pack(plan: PackPlan, target: Path) -> CodePack:
    """Write a plan's archive to `target`. The same files give the same bytes, whoever packs them, wherever and when."""
    for attempt in (1, 2):
        try:
            return _write(plan, target)
        except _ChangedWhilePackingError as changed:
            if attempt == 2:
                raise _changed(str(changed)) from None
            plan = _look_again(plan)
        except OSError as error:
            raise _unpackable(error, target) from None
    raise AssertionError("unreachable")


def _unpackable(error: OSError, target: Path) -> OutlastError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreError(
            f"no space left to pack the code in {target.parent.parent}",
            hint="free some space (outlast gc), then try again",
            retryable=False,
        )
    return SpecError(
        f"cannot pack {error.filename or target}: {error.strerror}",
        hint="make it readable, or leave it out with --exclude PATTERN",
    )


def _changed(what: str) -> SpecError:
    return SpecError(f"{what} while it was being packed", hint="run the command again")


class _ChangedWhilePackingError(Exception):
    pass


def _look_again(plan: PackPlan) -> PackPlan:
    files = []
    for file in plan.files:
        if file.link is None and not file.is_folder:
            try:
                found = (plan.folder / file.path).stat()
            except OSError:
                raise _changed(f"{file.path} vanished") from None
            file = replace(file, size_bytes=found.st_size, executable=bool(found.st_mode & stat.S_IXUSR))  # noqa: PLW2901
        files.append(file)
    return replace(plan, files=tuple(files))


def _write(plan: PackPlan, target: Path) -> CodePack:
    with target.open("wb") as raw:
        sink = _HashingFile(raw)
        with tarfile.open(
            fileobj=cast(BinaryIO, sink),
            mode="w",
            format=tarfile.PAX_FORMAT,
            encoding="utf-8",
        ) as archive:
            for file in plan.files:
                _add(archive, plan.folder, file)
    return CodePack(sha256=sink.hash.hexdigest(), size_bytes=sink.size_bytes, files=len(plan.files))


def _add(archive: tarfile.TarFile, folder: Path, file: PackFile) -> None:
    member = tarfile.TarInfo(file.path)  # owner 0 and time 0 unless said otherwise
    member.mode = 0o755 if file.executable or file.is_folder else 0o644
    if file.is_folder:
        member.type = tarfile.DIRTYPE
        archive.addfile(member)
        return
    if file.link is not None:
        member.type, member.linkname, member.mode = tarfile.SYMTYPE, file.link, 0o777
        archive.addfile(member)
        return
    member.size = file.size_bytes
    try:
        with (folder / file.path).open("rb") as source:
            before = os.fstat(source.fileno())
            if before.st_size != file.size_bytes:
                raise _ChangedWhilePackingError(f"{file.path} changed")
            archive.addfile(member, source)
            after = os.fstat(source.fileno())
    except FileNotFoundError:
        raise _ChangedWhilePackingError(f"{file.path} vanished") from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise _ChangedWhilePackingError(f"{file.path} became shorter") from None  # tarfile's "unexpected end of data"
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise _ChangedWhilePackingError(f"{file.path} changed")


class _HashingFile:
    """Where the archive goes: into the file and through the digest, in one pass."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.hash = hashlib.sha256()
        self.size_bytes = 0

    def write(self, data: bytes) -> int:
        self.hash.update(data)
        self.size_bytes += len(data)
        return self._file.write(data)

    def tell(self) -> int:
        return self.size_bytes
