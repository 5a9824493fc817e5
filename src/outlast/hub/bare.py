"""A bare git repository as something to look into: revisions, files, history."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from outlast.errors import NotFoundError, UsageError
from outlast.hub.gitprocess import GitFailed, git_environment, run_git
from outlast.hub.names import check_revision
from outlast.hub.pointers import POINTER_BYTES, Pointer, read_pointer

_ENTRY = re.compile(
    rb"(?P<mode>\d{6}) (?P<kind>\w+) (?P<oid>[0-9a-f]{40,64}) +(?P<size>\d+|-)\t(?P<path>.+)", re.DOTALL
)
SYMLINK, SUBMODULE = "120000", "160000"
MAIN = "refs/heads/main"


@dataclass(frozen=True)
class Item:
    """One name in a revision."""

    path: str
    is_folder: bool
    mode: str
    oid: str
    size_bytes: int | None  # None for folders and submodules


@dataclass(frozen=True)
class Commit:
    """One step of the history."""

    id: str
    author: str
    at: str
    message: str


class Bare:
    """A repository of the hub. Reading runs git; what strangers have pushed is never run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def make(cls, folder: Path) -> Bare:
        """An empty repository: no hooks, no template, no description."""
        folder.mkdir(mode=0o700, parents=True)
        run_git(folder, "init", "--quiet", "--bare", "--initial-branch=main", "--template=")
        return cls(folder)

    def head(self) -> str:
        """The branch that a clone checks out: main, or the only one there is."""
        branches = self.refs("heads")
        if "main" in branches or not branches:
            return "main"
        return "master" if "master" in branches else min(branches)

    def settle_head(self) -> None:
        """Let HEAD name a branch that exists, so that the first push of `master` can be cloned too."""
        run_git(self.folder, "symbolic-ref", "HEAD", f"refs/heads/{self.head()}")

    def refs(self, kind: str) -> dict[str, str]:
        """Name → commit of the branches (`heads`) or the `tags`."""
        form = "--format=%(refname:strip=2) %(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)"
        lines = run_git(self.folder, "for-each-ref", form, f"refs/{kind}").decode("utf-8", "replace").splitlines()
        pairs = [line.rpartition(" ") for line in lines]
        return {name: commit for name, _, commit in pairs}

    def commit(self, revision: str = "") -> str:
        """The commit that a branch, a tag or the beginning of a commit means; the default branch's without any."""
        wanted = check_revision(revision) if revision else f"refs/heads/{self.head()}"
        try:
            found = run_git(self.folder, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted + "^{commit}")
        except GitFailed:
            if not revision:
                raise NotFoundError("the repository is empty", hint="push something first") from None
            raise NotFoundError(f"no revision {revision!r}", hint=self._near()) from None
        return found.decode().strip()

    def items(self, commit: str, path: str = "", *, recursive: bool = False) -> list[Item]:
        """What lies in a folder of a revision, or the one file that `path` is; folders first."""
        path = inside(path)
        deep = ["-r"] if recursive else []
        where = f"{commit}:{path}" if path else commit
        try:
            kind = run_git(self.folder, "cat-file", "-t", where).strip()
        except GitFailed:
            raise NotFoundError(f"there is no {path!r} in {commit[:12]}") from None
        words = ["-r", "--full-tree", commit, "--", path] if kind == b"blob" else [*deep, where]
        before = "" if kind == b"blob" or not path else path + "/"
        listed = run_git(self.folder, "--literal-pathspecs", "ls-tree", "--long", "-z", *words)
        found = [_item(row, before) for row in listed.split(b"\0") if row]
        return sorted(found, key=lambda item: (not item.is_folder, item.path))

    def read(self, oid: str) -> bytes:
        """A file's content as git keeps it; small, by the rule for pushes."""
        return run_git(self.folder, "cat-file", "blob", oid)

    def pointer(self, item: Item) -> Pointer | None:
        """What a file stands for when it is kept in LFS."""
        if item.size_bytes is None or item.size_bytes >= POINTER_BYTES or item.mode == SYMLINK:
            return None
        return read_pointer(self.read(item.oid))

    def pointers(self, items: list[Item]) -> dict[str, Pointer]:
        """The same for many files at once, by their git id."""
        small = [each for each in items if each.size_bytes is not None and each.size_bytes < POINTER_BYTES]
        oids = list({each.oid for each in small if each.mode != SYMLINK})
        found = zip(oids, self.contents(oids), strict=True)
        return {oid: pointer for oid, data in found if (pointer := read_pointer(data)) is not None}

    def contents(self, oids: list[str]) -> Iterator[bytes]:
        """The contents of many small files, one process for all."""
        if not oids:
            return
        data = run_git(self.folder, "cat-file", "--batch", data="".join(f"{oid}\n" for oid in oids).encode())
        place = 0
        for _ in oids:
            end = data.index(b"\n", place)
            size = int(data[place:end].rsplit(b" ", 1)[1])
            yield data[end + 1 : end + 1 + size]
            place = end + size + 2

    def log(self, commit: str, path: str = "", limit: int = 50, skip: int = 0) -> list[Commit]:
        """The newest steps that lead to a commit, or those that touched `path`; the first `skip` are left out."""
        form = "--format=%H%x1f%an%x1f%aI%x1f%B%x1e"
        words = ["log", form, f"--max-count={limit}", f"--skip={skip}", commit, "--", *([inside(path)] if path else [])]
        text = run_git(self.folder, "--literal-pathspecs", *words).decode("utf-8", "replace")
        rows = [row.strip("\n").split("\x1f", 3) for row in text.split("\x1e") if row.strip()]
        return [Commit(id, author, at, message.strip()) for id, author, at, message in rows]

    def size_bytes(self) -> int:
        """What git itself takes on disk; without starting it, since every upload asks."""
        total = 0
        for path in (self.folder / "objects").glob("*/*"):
            with contextlib.suppress(FileNotFoundError):  # packed away since
                total += path.stat().st_size
        return total

    def write_commit(self, files: dict[str, tuple[bytes, int]], message: str, author: str) -> str:
        """Make `files` (path → content, mode) the whole content of main, as one commit; returns it."""
        from outlast.hub.fastimport import stream

        parent = self.refs("heads").get("main")
        data = stream(files, message, author, parent)
        run_git(
            self.folder, "fast-import", "--quiet", "--done", "--date-format=now", data=data, environ=git_environment()
        )
        self.settle_head()
        return self.commit("main")

    def _near(self) -> str:
        names = [*self.refs("heads"), *self.refs("tags")]
        return f"there are: {', '.join(names[:8])}" if names else "the repository is empty"


def inside(path: str) -> str:
    """A path within a repository, without slashes around it; `UsageError` when it leads out."""
    plain = path.strip("/")
    parts = PurePosixPath(plain).parts if plain else ()
    if ".." in parts or "\0" in plain or (parts and parts[0] == ".git"):
        raise UsageError(f"{path!r} leads out of the repository")
    return "/".join(part for part in parts if part != ".")


def _item(row: bytes, before: str) -> Item:
    match = _ENTRY.fullmatch(row)
    assert match is not None, row
    kind, size = match["kind"], match["size"]
    return Item(
        path=before + match["path"].decode("utf-8", "surrogateescape"),
        is_folder=kind == b"tree",
        mode=match["mode"].decode(),
        oid=match["oid"].decode(),
        size_bytes=int(size) if kind == b"blob" else None,
    )
