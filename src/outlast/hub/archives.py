"""A revision as one file, made while it is read: what `git archive` says, with LFS files as what they stand for."""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
import tarfile
from collections.abc import Generator, Iterator
from typing import IO, Literal, cast

from outlast.errors import NotFoundError, PlatformError, StoreError, UsageError
from outlast.hub.bare import SYMLINK
from outlast.hub.gitprocess import git_environment
from outlast.hub.hub import Hub
from outlast.hub.objects import Objects
from outlast.hub.packing import TarGz, Zip
from outlast.hub.pointers import POINTER_BYTES, Pointer, read_pointer
from outlast.hub.repository import Repository

Form = Literal["zip", "tar.gz"]
FORMS: tuple[Form, ...] = ("zip", "tar.gz")
Pieces = Generator[bytes, None, None]
_PIECE_BYTES = 1 << 20
_TAR_BYTES = 1 << 18  # tarfile wants whole blocks of 512


def split_form(file: str) -> tuple[str, Form]:
    """What is before a known ending, and the ending: `v1.tar.gz` is `v1` as a tar.gz."""
    for form in FORMS:
        if file.lower().endswith(f".{form}"):
            return file[: -len(form) - 1], form
    raise UsageError(f"{file!r} is no archive that can be made", hint=f"it ends in .{' or .'.join(FORMS)}")


def archive_name(repository: Repository, revision: str, commit: str) -> str:
    """What an archive and the one folder in it are called: `lenet-v1`."""
    called = commit[:12] if revision in ("", "HEAD") else revision
    return f"{repository.name}-{called.replace('/', '-')}"


def open_archive(hub: Hub, repository: Repository, revision: str, form: Form, *, lfs: bool) -> tuple[str, Pieces]:
    """The commit that a revision means, and the archive of it in pieces; never more than a few are in memory.

    With `lfs` the content of files in LFS stands where git has only their pointers; `NotFoundError` when some of it
    was never uploaded. An iterator that breaks off has raised: what came until then is no archive.
    """
    bare = hub.bare(repository)
    commit = bare.commit("" if revision == "HEAD" else revision)
    name = archive_name(repository, revision, commit)
    if not lfs or not _needs_lfs(hub, repository, commit):
        return commit, _git_archive(bare.folder.as_posix(), commit, name, form)
    return commit, _filled(bare.folder.as_posix(), commit, name, form, hub.objects(repository))


def _needs_lfs(hub: Hub, repository: Repository, commit: str) -> bool:
    """Whether any file of a revision is in LFS; all that are must be there before the first byte goes out."""
    bare = hub.bare(repository)
    items = [each for each in bare.items(commit, recursive=True) if each.mode != SYMLINK]
    pointers = bare.pointers(items)
    known = set(hub.objects(repository).all()) if pointers else set()
    lost = next((each.path for each in items if pointers.get(each.oid, None) not in known | {None}), None)
    if lost is not None:
        raise NotFoundError(
            f"the content of {lost} in {repository.path} was never uploaded", hint="send it: git lfs push --all origin"
        )
    return bool(pointers)


@contextlib.contextmanager
def _running(folder: str, commit: str, name: str, form: str) -> Iterator[IO[bytes]]:
    """What `git archive` writes; it is ended when nobody reads on."""
    words = ["archive", f"--format={form}", f"--prefix={name}/", commit]
    process = subprocess.Popen(
        ["git", "--git-dir", folder, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env=git_environment(),
    )  # fmt: skip
    try:
        yield cast(IO[bytes], process.stdout)
        if process.wait():
            raise PlatformError(f"git archive ended with {process.returncode}")
    finally:
        process.kill()
        cast(IO[bytes], process.stdout).close()
        process.wait()


def _git_archive(folder: str, commit: str, name: str, form: Form) -> Pieces:
    with _running(folder, commit, name, form) as out:
        while piece := out.read(_PIECE_BYTES):
            yield piece


def _filled(folder: str, commit: str, name: str, form: Form, objects: Objects) -> Pieces:
    writer = Zip() if form == "zip" else TarGz(commit)
    with _running(folder, commit, name, "tar") as out, tarfile.open(fileobj=out, mode="r|", bufsize=_TAR_BYTES) as tar:
        for info in tar:
            tar.members.clear()  # type: ignore[attr-defined]  # tarfile would remember every one
            for piece in _content(tar, info, objects, writer):
                writer.write(piece)
                yield from writer.taken()
            writer.end()
            yield from writer.taken()
        writer.close()
        yield from writer.taken()
        while out.read(_PIECE_BYTES):  # git pads its end; a pipe that is closed too early would make it fail
            pass


def _content(tar: tarfile.TarFile, info: tarfile.TarInfo, objects: Objects, writer: Zip | TarGz) -> Iterator[bytes]:
    """The bytes of one entry, whose head has been written when the first of them comes."""
    source = tar.extractfile(info) if info.isreg() else None
    first = source.read(_PIECE_BYTES) if source is not None else b""
    pointer = read_pointer(first) if info.size < POINTER_BYTES else None
    if pointer is not None:
        info.size = pointer.size_bytes
        writer.begin(info, packed=False)
        yield from _verified(objects, pointer)
        return
    writer.begin(info, packed=True)
    while source is not None and first:
        yield first
        first = source.read(_PIECE_BYTES)


def _verified(objects: Objects, pointer: Pointer) -> Iterator[bytes]:
    digest, place = hashlib.sha256(), 0
    while place < pointer.size_bytes:
        piece = objects.read(pointer, place, min(_PIECE_BYTES, pointer.size_bytes - place))
        digest.update(piece)
        place += len(piece)
        if not piece:
            break
        yield piece
    if digest.hexdigest() != pointer.oid:
        raise StoreError(f"blob {pointer.oid} does not match its digest", retryable=False)
