"""The check before a push is taken: `python -m outlast.hub.checking`, started by git as its pre-receive hook.

What was pushed still lies apart; nobody sees it unless this ends with 0. Only new objects are looked at: an old large
file must not block every later push. Standard library only, since every push waits for it to start.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from outlast.hub.pointers import POINTER_BYTES, Pointer, read_pointer

_SHOWN = 10


class New(NamedTuple):
    """A file that came with the push."""

    path: str
    size_bytes: int
    pointer: Pointer | None


def main() -> int:
    """Check what standard input says was pushed; words on standard error reach the user's terminal."""
    lines = [line.split() for line in sys.stdin.read().splitlines()]
    said = list(_refused_refs(ref for _, _, ref in lines))
    wanted = {ref: new for _, new, ref in lines if new.strip("0")}
    if wanted and not said:
        limit = int(os.environ["OUTLAST_HUB_LIMIT_BYTES"])
        new = _new_files(list(wanted.values()))
        said = list(judge(new, os.environ["OUTLAST_HUB_KIND"], limit, _known(), _pushing(wanted)))
        said += _beyond_room(os.environ.get("OUTLAST_HUB_ROOM", ""))
    for line in said:
        sys.stderr.write(line + "\n")
    return 1 if said else 0


def judge(files: Iterable[New], kind: str, limit_bytes: int, known: set[Pointer], again: str) -> Iterator[str]:
    """What is wrong with a push, in lines for the terminal; nothing when all is well. `again` is the push itself."""
    large, pointers, lost = [], [], []
    for file in files:
        if file.pointer is not None:
            pointers.append(file)
            if file.pointer not in known:
                lost.append(file)
        elif file.size_bytes > limit_bytes:
            large.append(file)
    if large:
        yield f"refused: {_count(large)} larger than {limit_bytes // 1024} KB and not in LFS"
        yield from _some(large)
        yield from _remedy(large, kind, again)
    if pointers and kind == "project":
        yield f"refused: a project holds code only, and {_count(pointers)} kept in LFS"
        yield from _some(pointers)
        yield "move them to a model or dataset repository, and name that one as an input of the run"
    elif lost:
        yield f"refused: the content of {_count(lost)} not here; size and digest must be those of what was uploaded"
        yield from _some(lost)
        yield "send it with: git lfs push --all origin, then push again"


def _pushing(refs: Iterable[str]) -> str:
    """The same push as a command. A refused first push has left no upstream, so a bare `git push` would not do."""
    return f"git push -u origin {' '.join(shlex.quote(_plain(ref.split('/', 2)[2])) for ref in refs)}"


def _remedy(large: list[New], kind: str, again: str) -> Iterator[str]:
    first = shlex.quote(_plain(large[0].path))
    if kind == "project":
        yield "a project holds code only; keep the file in a model or dataset repository, and take it out here with:"
        yield f"  git rm --cached {first} && git commit --amend --no-edit && {again}"
        return
    names = shlex.quote(",".join(_plain(file.path) for file in large[:_SHOWN]))
    yield "move it to LFS with:" if len(large) == 1 else "move them to LFS with:"
    yield f"  git lfs install && git lfs migrate import --yes --include={names} && {again}"


def _refused_refs(refs: Iterable[str]) -> Iterator[str]:
    for ref in refs:
        if not ref.startswith(("refs/heads/", "refs/tags/")):
            yield f"refused: {_plain(ref)} is neither a branch nor a tag"


def _beyond_room(room: str) -> Iterator[str]:
    """`room` is what the owner may still store, in bytes, and the name of the group that may not store more."""
    free, _, group = room.partition(" ")
    aside = Path(os.environ.get("GIT_QUARANTINE_PATH", os.devnull))
    needed = sum(each.stat().st_size for each in aside.rglob("*") if each.is_file())
    if free and needed > int(free):
        left = f"the group {group} has room for {int(free) / 1024:,.0f} KB"
        yield f"refused: this push needs {needed / 1024:,.0f} KB, and {left}"
        yield "remove runs with outlast rm, old checkpoints with outlast gc, or repositories with outlast repo remove"


def _new_files(commits: list[str]) -> Iterator[New]:
    """Every file that no ref of the repository led to before."""
    listed = _git(["rev-list", "--objects", "--stdin", "--not", "--all"], "\n".join([*commits, ""]).encode())
    form = "--batch-check=%(objecttype) %(objectsize) %(objectname) %(rest)"
    rows = [row.split(b" ", 3) for row in _git(["cat-file", form], listed).splitlines()]
    blobs = [(oid, int(size), path) for kind, size, oid, path in rows if kind == b"blob"]
    small = [oid for oid, size, _ in blobs if size < POINTER_BYTES]
    pointers = dict(zip(small, map(read_pointer, _contents(small)), strict=True))
    for oid, size, path in blobs:
        yield New(path.decode("utf-8", "replace"), size, pointers.get(oid))


def _contents(oids: list[bytes]) -> Iterator[bytes]:
    data = _git(["cat-file", "--batch"], b"".join(oid + b"\n" for oid in oids)) if oids else b""
    place = 0
    for _ in oids:
        end = data.index(b"\n", place)
        size = int(data[place:end].rsplit(b" ", 1)[1])
        yield data[end + 1 : end + 1 + size]
        place = end + 1 + size + 1


def _git(words: list[str], data: bytes) -> bytes:
    return subprocess.run(["git", *words], input=data, stdout=subprocess.PIPE, check=True).stdout


def _known() -> set[Pointer]:
    """The objects that were uploaded for this repository, as the server listed them: `oid-size` in each line."""
    lines = Path(os.environ["OUTLAST_HUB_KNOWN"]).read_text("ascii").split()
    pairs = [line.split("-") for line in lines]
    return {Pointer(oid, int(size)) for oid, size in pairs}


def _some(files: list[New]) -> Iterator[str]:
    for file in files[:_SHOWN]:
        size = file.pointer.size_bytes if file.pointer else file.size_bytes
        yield f"  {_plain(file.path)}  {size / 1024:,.0f} KB"
    if len(files) > _SHOWN:
        yield f"  and {len(files) - _SHOWN} more"


def _count(files: list[New]) -> str:
    return "1 file is" if len(files) == 1 else f"{len(files)} files are"


def _plain(text: str) -> str:
    """What a name shows in a terminal: letters that would steer it are left out."""
    return "".join(char if char.isprintable() else "?" for char in text)[:200]


if __name__ == "__main__":
    sys.exit(main())
