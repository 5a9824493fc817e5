"""Who there is, as OpenPAI tells it: users and groups of this server."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from outlast.errors import NotFoundError
from outlast.server.accounts.people import Role, User
from outlast.server.answers import answer
from outlast.server.gateways.openpai.asked import Asked
from outlast.server.gateways.openpai.clusters import DEFAULT, clusters_of
from outlast.server.gateways.openpai.refusing import no_group, no_user


def users(asked: Asked) -> Response:
    asked.require(Role.ADMIN)
    return answer([_user(asked, user) for user in asked.state.accounts.users.list() if user.active])


def user(asked: Asked) -> Response:
    """Oneself, or for admins anybody: who else has an account is nobody's business."""
    name = asked.path["user"]
    if asked.actor.id == 0:
        return answer(_told(name, True, [DEFAULT], []))
    if name != asked.actor.name and asked.actor.role is not Role.ADMIN:
        asked.require_self(name)
    return answer(_user(asked, find_user(asked, name)))


def groups(asked: Asked) -> Response:
    asked.require(Role.ADMIN)
    return answer([_group(group.name) for group in asked.state.accounts.groups.list()])


def group(asked: Asked) -> Response:
    name = asked.path["group"]
    if asked.actor.role is not Role.ADMIN and name not in asked.actor.groups:
        raise no_group(name)
    try:
        return answer(_group(asked.state.accounts.groups.get(name).name))
    except NotFoundError:
        raise no_group(name) from None


def find_user(asked: Asked, name: str) -> User:
    """The account of that name; a removed one counts as none."""
    try:
        return asked.state.accounts.users.get_active(name)
    except NotFoundError:
        raise no_user(name) from None


def _user(asked: Asked, found: User) -> dict[str, Any]:
    return _told(found.name, found.role is Role.ADMIN, clusters_of(asked, found.groups), list(found.groups))


def _told(name: str, is_admin: bool, clusters: list[str], groups: list[str]) -> dict[str, Any]:
    return {
        "username": name, "email": "", "grouplist": groups, "extension": {}, "admin": is_admin,
        "virtualCluster": clusters, "storageConfig": [],
    }  # fmt: skip


def _group(name: str) -> dict[str, Any]:
    return {"groupname": name, "description": "", "externalName": name, "extension": {}}
