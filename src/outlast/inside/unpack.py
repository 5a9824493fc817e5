"""Unpacking an archive that a stranger may have made: nothing is written outside its own folder.

`tarfile` got filters only in later Pythons, so the rules are spelled out here.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tarfile
from typing import List, Set

from .errors import Damaged, InsideError, RequestError
from .faults import explain

_READ_FAULTS = (tarfile.TarError, EOFError, ValueError, ArithmeticError, UnicodeError)


def unpack(data_path: str, into: str) -> int:
    """Put the files of a tar archive below `into` and return how many there were.

    `RequestError` names the member that would leave the folder: absolute or `..` paths, links that lead out, paths
    through links, devices. The whole archive is checked before the first byte is written. `Damaged` when it is not
    an archive or is cut short. Set-user-id bits are dropped; the owner can always read and write.
    """
    try:
        with tarfile.open(data_path, "r:*") as archive:
            members = _checked(archive.getmembers())
            os.makedirs(into, exist_ok=True)
            for member in members:
                _extract(archive, member, into)
            _restore_folder_modes(members, into)
    except InsideError:
        raise
    except _READ_FAULTS as error:
        raise Damaged("%s is not a whole tar archive: %s" % (data_path, error)) from None
    except OSError as error:
        if error.errno is None:  # how the decompressors say that their input is not theirs
            raise Damaged("%s is not a whole tar archive: %s" % (data_path, error)) from None
        raise explain(error, str(error.filename or into)) from None
    return sum(1 for member in members if not member.isdir())


def _checked(members: List[tarfile.TarInfo]) -> List[tarfile.TarInfo]:
    links: Set[str] = set()
    kept = []
    for member in members:
        name = member.name.rstrip("/")
        if name in ("", "."):
            continue
        member.name = _safe_name(name)
        if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
            raise RequestError("archive member %r is a device or a pipe; refused" % name)
        for above in _folders_above(member.name):
            if above in links:
                raise RequestError("archive member %r goes through the link %r; refused" % (name, above))
        if member.issym():
            _check_link(member)
            links.add(member.name)
        elif member.islnk():
            member.linkname = _safe_name(member.linkname)
            if member.linkname in links or any(above in links for above in _folders_above(member.linkname)):
                raise RequestError("archive member %r is a hard link through a link; refused" % name)
        kept.append(member)
    return kept


def _safe_name(name: str) -> str:
    parts = [part for part in name.split("/") if part != "."]
    if name.startswith("/") or "\0" in name or not parts or any(part in ("", "..") for part in parts):
        raise RequestError("archive member %r leaves its folder; refused" % name)
    return "/".join(parts)


def _check_link(member: tarfile.TarInfo) -> None:
    """A link may climb only at its beginning, and not above the folder.

    `a/../..` would be judged by its letters while the kernel judges by where `a` leads, hence "beginning only".
    """
    parts = [part for part in member.linkname.split("/") if part not in ("", ".")]
    climbs = 0
    while climbs < len(parts) and parts[climbs] == "..":
        climbs += 1
    is_outside = climbs > member.name.count("/") or ".." in parts[climbs:]
    if member.linkname.startswith("/") or "\0" in member.linkname or not member.linkname or is_outside:
        raise RequestError("archive link %r leads out to %r; refused" % (member.name, member.linkname))


def _folders_above(name: str) -> List[str]:
    parts = name.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, into: str) -> None:
    target = os.path.join(into, member.name)
    _make_folders(into, member.name)
    if member.isdir():
        _make_folder(target)
        return
    if os.path.islink(target) or os.path.isfile(target):
        os.unlink(target)
    if member.issym():
        os.symlink(member.linkname, target)
    elif member.islnk():
        source = os.path.join(into, member.linkname)
        if os.path.islink(source) or not os.path.isfile(source):
            raise Damaged("archive member %r is a hard link to nothing: %r" % (member.name, member.linkname))
        os.link(source, target)
    else:
        _write_file(archive, member, target)


def _write_file(archive: tarfile.TarFile, member: tarfile.TarInfo, target: str) -> None:
    source = archive.extractfile(member)
    # O_EXCL and O_NOFOLLOW: never through something that is there already.
    fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as file:
        if source is not None:
            with contextlib.closing(source):
                shutil.copyfileobj(source, file, 1 << 20)
        if file.tell() != member.size:
            raise Damaged("archive member %r has %d of %d bytes" % (member.name, file.tell(), member.size))
        os.fchmod(fd, (member.mode & 0o777) | 0o600)


def _make_folders(into: str, name: str) -> None:
    for above in _folders_above(name):
        _make_folder(os.path.join(into, above))


def _make_folder(path: str) -> None:
    try:
        os.mkdir(path)
    except FileExistsError:
        if os.path.islink(path) or not os.path.isdir(path):
            raise RequestError("cannot unpack: %s is in the way and is not a folder" % path) from None


def _restore_folder_modes(members: List[tarfile.TarInfo], into: str) -> None:
    """Last and deepest first: a folder that its owner may not write to could not have been filled."""
    for member in sorted(members, key=lambda each: each.name, reverse=True):
        if member.isdir():
            os.chmod(os.path.join(into, member.name), (member.mode & 0o777) | 0o700)
