"""LFS objects that no revision needs any more: those of refused pushes, and of history that was rewritten."""

from __future__ import annotations

import time

from outlast.hub.bare import Bare
from outlast.hub.gitprocess import run_git
from outlast.hub.hub import Hub
from outlast.hub.pointers import POINTER_BYTES, Pointer, read_pointer
from outlast.model.visitor import Visitor

#: As long as git itself keeps what no branch leads to.
GRACE_S = 14 * 86400.0
_AT_ONCE = 2000
_EVERYBODY = Visitor("", sees_all=True)


def prune(hub: Hub, *, dry_run: bool = False, now: float | None = None) -> list[Pointer]:
    """Let every repository forget objects that were sent long ago and that none of its revisions names."""
    gone = []
    oldest = (time.time() if now is None else now) - GRACE_S
    for repository in hub.list(_EVERYBODY):
        objects = hub.objects(repository)
        old = objects.older_than(oldest)
        lost = sorted(old - named_objects(hub.bare(repository))) if old else []
        if not dry_run:
            objects.remove(lost)
        gone += lost
    return gone


def named_objects(bare: Bare) -> set[Pointer]:
    """Every object that any revision of a repository names."""
    listed = run_git(bare.folder, "rev-list", "--objects", "--all")
    form = "--batch-check=%(objecttype) %(objectsize) %(objectname)"
    names = b"".join(line[:40] + b"\n" for line in listed.splitlines())
    rows = [row.split() for row in run_git(bare.folder, "cat-file", form, data=names).splitlines()]
    small = [oid.decode() for kind, size, oid in rows if kind == b"blob" and int(size) < POINTER_BYTES]
    found: set[Pointer] = set()
    for start in range(0, len(small), _AT_ONCE):
        read = map(read_pointer, bare.contents(small[start : start + _AT_ONCE]))
        found.update(pointer for pointer in read if pointer is not None)
    return found
