"""The cluster as its users see it: what it is, its virtual clusters (our queues), its storages."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from outlast.inside.errors import InsideError
from outlast.keeper.index import RunRow
from outlast.keeper.observe import read_spec
from outlast.operations.locate import open_index
from outlast.platforms.local.machine import Machine
from outlast.server.accounts.people import Role
from outlast.server.answers import answer
from outlast.server.gateways.openpai.asked import Asked
from outlast.server.gateways.openpai.refusing import PaiRefusal, no_cluster

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
        raise no_cluster(name)
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
        raise no_cluster(name)
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


def storages(asked: Asked) -> Response:
    """There are none: jobs of this generation bring data with them or fetch it."""
    return answer({"storages": []})


def storage(asked: Asked) -> Response:
    raise PaiRefusal(404, "NoStorageError", f"Storage {asked.path['name']} is not found.")
