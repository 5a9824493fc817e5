"""Changing users in OpenPAI's words, in both generations: accounts, passwords, the admin flag, clusters, groups.

Everything but one's own password is for admins, and a body is read whole before anything is changed.
"""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from outlast.server.accounts.people import Role
from outlast.server.answers import answer
from outlast.server.gateways.openpai.asked import Asked
from outlast.server.gateways.openpai.membership import (
    add_user,
    change_own_password,
    change_user,
    move_user,
    regroup,
    remove_user,
    require_clusters,
    role_of,
)
from outlast.server.gateways.openpai.people import find_user
from outlast.server.gateways.openpai.refusing import PaiRefusal, no_group
from outlast.server.refusals import NotAllowed

# ---- the second generation


def create_user(asked: Asked) -> Response:
    asked.require(Role.ADMIN)
    fields = asked.fields
    clusters, is_admin = _clusters(fields), _flag(fields, "admin", False)
    require_clusters(asked, clusters)
    add_user(asked, _text(fields, "username"), _text(fields, "password"), is_admin)
    move_user(asked, find_user(asked, fields["username"]), clusters)
    return _done(asked, "User is created successfully")


def update_user(asked: Asked) -> Response:
    """`PUT /users`: what `data` names changes, the rest stays."""
    asked.require(Role.ADMIN)
    data = _data(asked)
    found = find_user(asked, _text(data, "username"))
    password = _text(data, "password") if "password" in data else None
    role = role_of(found, _flag(data, "admin", False)) if "admin" in data else None
    clusters = _clusters(data) if "virtualCluster" in data else None
    if clusters is not None:
        require_clusters(asked, clusters)
    change_user(asked, found, role, password)
    if clusters is not None:
        move_user(asked, found, clusters)
    return _done(asked, f"Update user {found.name} successfully")


def update_self(asked: Asked) -> Response:
    """`PUT /users/me`: one's own password, for the old one."""
    data = _data(asked)
    if _text(data, "username") != asked.actor.name:
        raise NotAllowed("Can't update other user's data")
    if "password" in data:
        change_own_password(asked, str(data.get("oldPassword", "")), _text(data, "password"))
    return _done(asked, f"Update user {asked.actor.name} successfully")


def set_password(asked: Asked) -> Response:
    """One's own for the old one; admins set anybody's."""
    name, fields = asked.path["user"], asked.fields
    fresh = _text(fields, "newPassword")
    if asked.actor.role is Role.ADMIN:
        change_user(asked, find_user(asked, name), None, fresh)
    else:
        asked.require_self(name)
        change_own_password(asked, str(fields.get("oldPassword", "")), fresh)
    return _done(asked, "update user password successfully.")


def set_admin(asked: Asked) -> Response:
    asked.require(Role.ADMIN)
    fields = asked.fields
    if "admin" not in fields:
        raise _invalid('"admin" is required')
    found = find_user(asked, asked.path["user"])
    change_user(asked, found, role_of(found, _flag(fields, "admin", False)), None)
    return _done(asked, "Update user admin permission successfully.")


def set_clusters(asked: Asked) -> Response:
    asked.require(Role.ADMIN)
    fields = asked.fields
    if "virtualCluster" not in fields:
        raise _invalid('"virtualCluster" is required')
    _set_clusters(asked, _clusters(fields))
    return _done(asked, "Update user virtualCluster data successfully.")


def set_groups(asked: Asked) -> Response:
    asked.require(Role.ADMIN)
    found, wanted = find_user(asked, asked.path["user"]), _names(asked.fields, "grouplist")
    known = {group.name for group in asked.state.accounts.groups.list()}
    missing = next((name for name in wanted if name not in known), None)
    if missing is not None:
        raise no_group(missing)
    regroup(asked, found, join=wanted, leave=set(found.groups) - set(wanted))
    return _done(asked, "update user grouplist successfully.")


def add_group(asked: Asked) -> Response:
    asked.require(Role.ADMIN)
    name, found = _text(asked.fields, "groupname"), find_user(asked, asked.path["user"])
    if name not in {group.name for group in asked.state.accounts.groups.list()}:
        raise no_group(name)
    regroup(asked, found, join=[name], leave=())
    return _done(asked, f"User {found.name} is added into group {name}")


def drop_group(asked: Asked) -> Response:
    asked.require(Role.ADMIN)
    name, found = _text(asked.fields, "groupname"), find_user(asked, asked.path["user"])
    regroup(asked, found, join=(), leave={name} & set(found.groups))
    return _done(asked, f"User {found.name} is removed from group {name}")


def refuse_email(asked: Asked) -> Response:
    raise _not_kept(asked, "e-mail addresses of users; they can be notified: outlast notify")


def refuse_extension(asked: Asked) -> Response:
    raise _not_kept(asked, "extensions of users")


def delete_user(asked: Asked) -> Response:
    remove_user(asked, asked.path["user"])
    return _done(asked, "user is removed successfully", 200)


# ---- the first generation


def put_user(asked: Asked) -> Response:
    """`PUT /user`: with `modify` somebody changes, without it there is somebody new."""
    asked.require(Role.ADMIN)
    fields = asked.fields
    name, password = _text(fields, "username"), _text(fields, "password")
    is_admin = _flag(fields, "admin", False)
    if _flag(fields, "modify", False):
        found = find_user(asked, name)
        change_user(asked, found, role_of(found, is_admin) if "admin" in fields else None, password)
    else:
        add_user(asked, name, password, is_admin)
    return _done(asked, "update successfully")


def delete_user_v1(asked: Asked) -> Response:
    asked.require(Role.ADMIN)
    remove_user(asked, _text(asked.fields, "username"))
    return _done(asked, "remove successfully", 200)


def set_clusters_v1(asked: Asked) -> Response:
    """`virtualClusters` is one text here, with commas."""
    asked.require(Role.ADMIN)
    names = str(asked.fields.get("virtualClusters", "")).split(",")
    _set_clusters(asked, [name.strip() for name in names if name.strip()])
    return _done(asked, "update user virtual clusters successfully")


# ---- what a body says


def _data(asked: Asked) -> dict[str, Any]:
    data = asked.fields.get("data")
    if not isinstance(data, dict):
        raise _invalid('"data" must be an object')
    return data


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise _invalid(f'"{name}" is required')
    return value


def _flag(fields: dict[str, Any], name: str, usual: bool) -> bool:
    """Forms have every value as a text."""
    value = fields.get(name, usual)
    text = str(value).lower()
    if text not in ("true", "false"):
        raise _invalid(f'"{name}" must be a boolean')
    return text == "true"


def _names(fields: dict[str, Any], name: str) -> list[str]:
    value = fields.get(name)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise _invalid(f'"{name}" must be a list of names')
    return list(dict.fromkeys(value))


def _clusters(fields: dict[str, Any]) -> list[str]:
    return _names(fields, "virtualCluster") if "virtualCluster" in fields else []


def _invalid(words: str) -> PaiRefusal:
    return PaiRefusal(400, "InvalidParametersError", words)


def _not_kept(asked: Asked, what: str) -> Exception:
    if asked.actor.role is not Role.ADMIN:
        asked.require_self(asked.path["user"])
    find_user(asked, asked.path["user"])
    return PaiRefusal(501, "NotImplementedError", f"this server keeps no {what}")


def _set_clusters(asked: Asked, wanted: list[str]) -> None:
    found = find_user(asked, asked.path["user"])
    if found.role is Role.ADMIN:
        raise NotAllowed("Admin's virtual clusters cannot be updated.")
    require_clusters(asked, wanted)
    move_user(asked, found, wanted)


def _done(asked: Asked, words: str, status: int = 201) -> Response:
    asked.state.recent.clear()
    return answer({"message": words}, status)
