"""Which models and data sets a repository names as its own: by their ids, so that a new name changes nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from outlast.errors import NotFoundError, UsageError
from outlast.hub.hub import Hub, TakenError
from outlast.hub.names import Kind
from outlast.hub.repository import Repository
from outlast.model.visitor import Visitor

#: What a kind may name, and how many of each.
RELATED: dict[Kind, tuple[Kind, ...]] = {"project": ("model", "dataset"), "model": ("dataset",), "dataset": ()}
MOST_RELATED = 5
_EVERYBODY = Visitor("", sees_all=True)


class TooManyRelated(UsageError):
    """A sixth one."""


def relate(hub: Hub, repository: Repository, other: Repository) -> Repository:
    """Let a repository name another one; the caller has made sure that both may be seen."""
    if other.kind not in RELATED[repository.kind]:
        raise UsageError(f"a {repository.kind} names no {other.kind}", hint="projects name models and data sets")
    known = {each.id: each.kind for each in hub.list(_EVERYBODY)}

    def related(now: Repository) -> Repository:
        if other.id in now.related:
            raise TakenError(f"{now.path} names {other.path} already")
        kept = tuple(each for each in now.related if each in known)  # without those that are gone
        if sum(known[each] == other.kind for each in kept) >= MOST_RELATED:
            raise TooManyRelated(f"{now.path} names {MOST_RELATED} {other.kind}s, and no more are possible")
        return dataclasses.replace(now, related=(*kept, other.id))

    return hub.edit(repository, related)


def unrelate(hub: Hub, repository: Repository, id: str) -> Repository:
    """Let a repository name another one no more."""

    def unrelated(now: Repository) -> Repository:
        if id not in now.related:
            raise NotFoundError(f"{now.path} names no {id[:40]!r}")
        return dataclasses.replace(now, related=tuple(each for each in now.related if each != id))

    return hub.edit(repository, unrelated)


def related_of(repository: Repository, visible: Iterable[Repository]) -> dict[Kind, list[Repository]]:
    """What it names, and what names it, of those that somebody may see."""
    found: dict[Kind, list[Repository]] = {"project": [], "model": [], "dataset": []}
    for each in visible:
        if each.id in repository.related or repository.id in each.related:
            found[each.kind].append(each)
    return found
