"""The cluster as its users see it: what it is, its virtual clusters (our queues), users and groups."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from outlast.errors import NotFoundError
from outlast.inside.errors import InsideError
from outlast.keeper.index import RunRow
from outlast.keeper.observe import read_spec
from outlast.operations.locate import open_index
from outlast.platforms.local.machine import Machine
from outlast.server.accounts.people import Role, User, is_name
from outlast.server.answers import answer
from outlast.server.gateways.openpai.asked import Asked
from outlast.server.gateways.openpai.refusing import PaiRefusal, no_user
from outlast.server.refusals import Conflict

DEFAULT = "default"
#: The release whose answers ours look like.
VERSION = "v1.8.0"


def info(launcher: str) -> Response:
    return answer(
        {"name": "PAI RESTful API", "version": VERSION, "launcherType": launcher, "authnMethod": "basic"},
    )


# ---- virtual clusters


def require_cluster(asked: Asked, name: str) -> None:
    """404 for a virtual cluster that does not exist, 403 for one that the user does not belong to."""
    if name not in _weights(asked):
        raise PaiRefusal(404, "NoVirtualClusterError", f"Virtual cluster {name} is not found.")
    if asked.actor.role is not Role.ADMIN and name not in clusters_of(asked, asked.actor.groups):
        words = f"User {asked.actor.name} is not allowed to do operation in {name}"
        raise PaiRefusal(403, "ForbiddenUserError", words)


def clusters_of(asked: Asked, groups: tuple[str, ...]) -> list[str]:
    """`default`, and the queues of somebody's groups."""
    queues = asked.state.accounts.queues.list()
    return [DEFAULT, *(queue.name for queue in queues if set(queue.groups) & set(groups) and queue.name != DEFAULT)]


def _weights(asked: Asked) -> dict[str, float]:
    return {DEFAULT: 1.0} | {queue.name: queue.weight for queue in asked.state.accounts.queues.list()}


def virtual_clusters(asked: Asked) -> Response:
    return answer(_clusters(asked))


def virtual_cluster(asked: Asked) -> Response:
    found = _clusters(asked)
    name = asked.path["vc"]
    if name not in found:
        raise PaiRefusal(404, "NoVirtualClusterError", f"Virtual cluster {name} is not found.")
    return answer(found[name])


def _clusters(asked: Asked) -> dict[str, Any]:
    """Every queue has its share of one machine, which all of them may use up when the others leave it."""
    weights = _weights(asked)
    index = open_index(asked.held.settings)
    try:
        rows = index.open_runs()
    finally:
        index.close()
    have = Machine.look(asked.held.settings.home / "local" / "machine.json", remember=False).capacity
    total = _resources(have.cpus, have.memory_bytes, have.gpus)
    members = _members(asked)
    found = {}
    for name, weight in weights.items():
        theirs = [row for row in rows if members.get(row.user, DEFAULT) == name]
        running = [row for row in theirs if row.state == "running"]
        used = _used(asked, running)
        share = 100 * weight / sum(weights.values())
        found[name] = {
            "capacity": share, "maxCapacity": 100, "usedCapacity": 100 * used["cpu"] / max(1, total["cpu"]),
            "dedicated": False, "numActiveJobs": len(running), "numJobs": len(theirs),
            "numPendingJobs": len(theirs) - len(running), "resourcesUsed": used, "resourcesTotal": total,
            "resourcesGuaranteed": total, "nodeList": ["local"], "status": "RUNNING",
        }  # fmt: skip
    return found


def _members(asked: Asked) -> dict[str, str]:
    """User → the queue that they wait in."""
    queued = {group: queue.name for queue in asked.state.accounts.queues.list() for group in queue.groups}
    found: dict[str, str] = {}
    for group in asked.state.accounts.groups.list():
        if group.name in queued:
            found |= dict.fromkeys(group.members, queued[group.name])
    return found


def _used(asked: Asked, rows: list[RunRow]) -> dict[str, float]:
    cpus = memory_bytes = gpus = 0
    for row in rows:
        try:
            needs = read_spec(asked.held.located(row).store, row.id).get("resources") or {}
        except InsideError:
            continue
        cpus += int(needs.get("cpus") or 0)
        gpus += int(needs.get("gpus") or 0)
        memory_bytes += int(needs.get("memory_bytes") or 0)
    return _resources(cpus, memory_bytes, gpus)


def _resources(cpus: int, memory_bytes: int, gpus: int) -> dict[str, float]:
    return {"cpu": cpus, "vCores": cpus, "memory": memory_bytes >> 20, "gpu": gpus, "GPUs": gpus}


# ---- users and groups


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
    return answer(_user(asked, _find(asked, name)))


def create_user(asked: Asked) -> Response:
    asked.require(Role.ADMIN)
    body = asked.fields
    name, password = str(body.get("username", "")), body.get("password")
    if not is_name(name):
        raise PaiRefusal(400, "InvalidParametersError", f"{name!r} cannot be the name of a user")
    role = Role.ADMIN if str(body.get("admin", "false")).lower() == "true" else Role.MEMBER
    accounts = asked.state.accounts
    try:
        accounts.users.add(name, role, None if password is None else str(password))
    except Conflict as error:
        raise PaiRefusal(409, "ConflictUserError", error.message) from None
    accounts.audit.add(asked.actor.name, "user.add", name, role=role)
    asked.state.recent.clear()
    return answer({"message": "User is created successfully"}, 201)


def delete_user(asked: Asked) -> Response:
    asked.require(Role.ADMIN)
    found = _find(asked, asked.path["user"])
    if found.role is Role.ADMIN:
        raise PaiRefusal(403, "RemoveAdminError", f"Admin {found.name} is not allowed to be removed.")
    asked.state.accounts.users.remove(found.name)
    asked.state.accounts.audit.add(asked.actor.name, "user.remove", found.name)
    asked.state.recent.clear()
    return answer({"message": "user is removed successfully"})


def groups(asked: Asked) -> Response:
    asked.require(Role.ADMIN)
    return answer([_group(group.name) for group in asked.state.accounts.groups.list()])


def group(asked: Asked) -> Response:
    name = asked.path["group"]
    if asked.actor.role is not Role.ADMIN and name not in asked.actor.groups:
        raise PaiRefusal(404, "NoGroupError", f"Group {name} is not found.")
    try:
        return answer(_group(asked.state.accounts.groups.get(name).name))
    except NotFoundError:
        raise PaiRefusal(404, "NoGroupError", f"Group {name} is not found.") from None


def storages(asked: Asked) -> Response:
    """There are none: jobs of this generation bring data with them or fetch it."""
    return answer({"storages": []})


def storage(asked: Asked) -> Response:
    raise PaiRefusal(404, "NoStorageError", f"Storage {asked.path['name']} is not found.")


def _find(asked: Asked, name: str) -> User:
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
