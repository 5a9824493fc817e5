"""Whether a repository may grow: what its owner's groups were given, runs and repositories together."""

from __future__ import annotations

from typing import NamedTuple

from outlast.errors import NotFoundError
from outlast.hub.hub import Hub
from outlast.hub.repository import Repository
from outlast.model.visitor import Visitor
from outlast.server.accounts import quotas, usage
from outlast.server.accounts.people import Group
from outlast.server.state import ServerState

_EVERYBODY = Visitor("", sees_all=True)


class Room(NamedTuple):
    """What a group may still store."""

    free_bytes: int
    group: str


def require_room(state: ServerState, hub: Hub, repository: Repository, more_bytes: int) -> Room | None:
    """`QuotaExceeded` when a group of the owner has no room for so many bytes more.

    Returns the least room that a group has; None when nothing was counted, because there is no quota or no need.
    """
    groups = [each for each in _groups(state, repository) if each.quota.stored_bytes is not None]
    if not groups or more_bytes <= 0:
        return None
    everything = hub.list(_EVERYBODY)
    measured = []
    for group, use in usage.measure(state.settings, groups):
        kept = sum(hub.stored_bytes(each) for each in everything if _counts(each, group))
        measured.append((group, use._replace(stored_bytes=use.stored_bytes + kept)))
    quotas.check(measured, quotas.Use(stored_bytes=more_bytes), what="push")
    return min(Room((group.quota.stored_bytes or 0) - use.stored_bytes, group.name) for group, use in measured)


def _groups(state: ServerState, repository: Repository) -> list[Group]:
    try:
        if repository.group:
            return [state.accounts.groups.get(repository.owner)]
        return state.accounts.groups.of(state.accounts.users.get(repository.owner).id)
    except NotFoundError:
        return []  # made from the terminal for an owner without an account


def _counts(repository: Repository, group: Group) -> bool:
    return repository.owner == group.name if repository.group else repository.owner in group.members
