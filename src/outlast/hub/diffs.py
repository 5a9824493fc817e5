"""What one commit changed: the files, and the lines of those that are text and not too many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from outlast.hub.bare import Bare
from outlast.hub.gitprocess import run_git
from outlast.inside.move.names import as_text

#: Files that are named, and lines that are shown of all of them together.
MOST_FILES = 300
MOST_LINES = 20_000
_MOST_BYTES = 1 << 20
#: The tree that every git knows to be empty: what the first commit is compared with.
_EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_STATUSES = {"A": "added", "D": "removed", "R": "renamed", "C": "copied"}
_POINTER = "version https://git-lfs.github.com/spec/v1"
_SIZE = re.compile(r"([-+ ])size (\d+)")

Kind = Literal["text", "binary", "lfs", "large"]


@dataclass(frozen=True)
class FileChange:
    """One file of a commit. `lines` are those of a patch without its head; empty unless it is a text."""

    path: str
    old_path: str
    status: str
    kind: Kind = "text"
    added: int = 0
    removed: int = 0
    lines: tuple[str, ...] = ()
    size_bytes: int | None = None  # of an LFS file's content, now and before
    old_size_bytes: int | None = None


@dataclass(frozen=True)
class _Row:
    status: str
    old: str
    new: str
    old_path: str
    path: str


def read_changes(bare: Bare, commit: str) -> dict[str, Any]:
    """What a commit changed against its first parent: `parents`, `files` (`FileChange`), and how many are left off."""
    parents = run_git(bare.folder, "rev-list", "--parents", "-n", "1", commit).decode().split()[1:]
    before = parents[0] if parents else _EMPTY
    rows = list(_rows(run_git(bare.folder, "diff-tree", "-r", "-M", "-z", "--no-abbrev", before, commit)))
    shown = rows[:MOST_FILES]
    small = _small(bare, shown)
    patches = _patches(bare, before, commit, [row for row in shown if row in small])
    files, left = [], MOST_LINES
    for row in shown:
        change = _change(row, patches.get(row))
        if len(change.lines) > left:
            change = FileChange(change.path, change.old_path, change.status, "large", change.added, change.removed)
        left -= len(change.lines)
        files.append(change)
    return {"parents": parents, "files": files, "left_off": len(rows) - len(shown)}


def _rows(listed: bytes) -> Iterator[_Row]:
    """`:100644 100644 OLD NEW R90\\0before\\0after\\0`, again and again."""
    words = iter(listed.split(b"\0"))
    for head in words:
        if not head:
            return
        _, _, old, new, status = head.decode("ascii").split(" ")
        first = next(words).decode("utf-8", "surrogateescape")
        moved = status[0] in "RC"
        second = next(words).decode("utf-8", "surrogateescape") if moved else first
        yield _Row(status[0], old, new, first, second)


def _small(bare: Bare, rows: list[_Row]) -> set[_Row]:
    """Those whose patch can be made without much memory; submodules have none at all."""
    oids = list({oid for row in rows for oid in (row.old, row.new) if oid.strip("0")})
    asked = "".join(f"{oid}\n" for oid in oids).encode()
    told = run_git(bare.folder, "cat-file", "--batch-check=%(objecttype) %(objectsize)", data=asked) if oids else b""
    sizes = dict(zip(oids, told.decode().splitlines(), strict=True))
    found = set()
    for row in rows:
        facts = [sizes[oid].split(" ") for oid in (row.old, row.new) if oid in sizes]
        # A patch of a changed kind of file has two heads; it is named only.
        if row.status != "T" and all(kind == "blob" and int(size) <= _MOST_BYTES for kind, size in facts):
            found.add(row)
    return found


def _patches(bare: Bare, before: str, commit: str, rows: list[_Row]) -> dict[_Row, list[str]]:
    """The patch of each row, by one process; as many as fit into memory a few times over."""
    if not rows:
        return {}
    paths = list(dict.fromkeys(path for row in rows for path in (row.old_path, row.path)))
    words = ("diff-tree", "-r", "-M", "-p", "--no-color", "--no-ext-diff", "--no-textconv", before, commit, "--")
    text = run_git(bare.folder, "--literal-pathspecs", *words, *paths).decode("utf-8", "replace")
    heads = re.split(r"(?m)^diff --git .*\n", text)[1:]
    return {row: head.split("\n") for row, head in zip(rows, heads, strict=False)}


def _change(row: _Row, patch: list[str] | None) -> FileChange:
    status = _STATUSES.get(row.status, "changed")
    named = as_text(row.path), as_text(row.old_path), status
    if patch is None:
        return FileChange(*named, kind="large")
    if any(line.startswith(("Binary files ", "GIT binary patch")) for line in patch[:8]):
        return FileChange(*named, kind="binary")
    first = next((number for number, line in enumerate(patch) if line.startswith("@@")), len(patch))
    lines = tuple(patch[first:-1] if patch[-1] == "" else patch[first:])
    if len(lines) < 20 and any(line[1:] == _POINTER for line in lines):
        sizes = {match[1]: int(match[2]) for match in map(_SIZE.fullmatch, lines) if match is not None}
        same = sizes.get(" ")
        return FileChange(*named, kind="lfs", size_bytes=sizes.get("+", same), old_size_bytes=sizes.get("-", same))
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return FileChange(*named, added=added, removed=removed, lines=lines)
