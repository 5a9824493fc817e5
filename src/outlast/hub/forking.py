"""A repository of one's own with all that another has. Nothing is shared but blobs, so each may be removed alone."""

from __future__ import annotations

from typing import Any

from outlast.hub.bare import Bare
from outlast.hub.gitprocess import pipe_git, run_git
from outlast.hub.hub import Hub
from outlast.hub.pruning import named_objects
from outlast.hub.repository import Repository
from outlast.model.visitor import Visitor


def fork(hub: Hub, visitor: Visitor, source: Repository, path: str, **words: Any) -> Repository:
    """Make `path` with the branches, the tags and the LFS objects that `source` has now, whole or not at all.

    The caller has made sure that `visitor` may see the source. `words` are those of `Hub.create`; description, tags
    and licence are the source's unless they are said.
    """
    given: list[Repository] = []

    def fill(made: Repository, bare: Bare) -> None:
        copy_refs(hub.bare(source), bare)
        given.append(made)
        hub.objects(made).add(named_objects(bare) & set(hub.objects(source).all()))

    # A private name must not come to light through a fork that others may see.
    origin = source.path if source.visibility == "public" else ""
    kept = {"description": source.description, "tags": source.tags, "licence": source.licence}
    said = {name: value for name, value in words.items() if value is not None}
    try:
        return hub.create(visitor, path, source.kind, fill=fill, forked_from=origin, **(kept | said))
    except BaseException:
        for made in given:
            objects = hub.objects(made)
            objects.remove(objects.all())
        raise


def copy_refs(source: Bare, target: Bare) -> None:
    """Copy branches and tags with everything that they lead to. A push or a cleaning meanwhile does no harm."""
    form = "--format=%(objectname) %(refname)"
    lines = run_git(source.folder, "for-each-ref", form, "refs/heads", "refs/tags").splitlines()
    if not lines:
        return
    wanted = b"".join(line.split(b" ", 1)[0] + b"\n" for line in lines)
    pipe_git(
        (source.folder, ["pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset"]),
        (target.folder, ["index-pack", "--stdin", "--strict"]),
        wanted,
    )
    orders = [b"create %s %s\n" % (ref, oid) for oid, ref in (line.split(b" ", 1) for line in lines)]
    run_git(target.folder, "update-ref", "--stdin", data=b"".join(orders))
    target.settle_head()
