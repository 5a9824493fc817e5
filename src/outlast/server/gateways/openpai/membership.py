"""Accounts and memberships as the OpenPAI door changes them; each change is in the audit log.

A virtual cluster is a queue, and somebody belongs to it through a group that waits in it. Joining one makes, or uses,
the group of the cluster's own name, as OpenPAI has it; leaving one leaves every group that waits there.
"""

from __future__ import annotations

from collections.abc import Collection

from outlast.server.accounts.people import Quota, Role, User, is_name
from outlast.server.gateways.openpai.asked import Asked
from outlast.server.gateways.openpai.clusters import DEFAULT
from outlast.server.gateways.openpai.people import find_user
from outlast.server.gateways.openpai.refusing import PaiRefusal, no_cluster
from outlast.server.gateways.openpai.tokens import end_tokens
from outlast.server.refusals import Conflict, NotAllowed


def add_user(asked: Asked, name: str, password: str, is_admin: bool) -> None:
    if not is_name(name):
        raise PaiRefusal(400, "InvalidParametersError", f"{name!r} cannot be the name of a user")
    accounts, role = asked.state.accounts, Role.ADMIN if is_admin else Role.MEMBER
    if not is_admin and not accounts.users.exist():
        raise NotAllowed("the first account must be an admin's")  # nobody could make another one
    try:
        accounts.users.add(name, role, password)
    except Conflict as error:
        raise PaiRefusal(409, "ConflictUserError", error.message) from None
    accounts.audit.add(asked.actor.name, "user.add", name, role=role)


def role_of(found: User, is_admin: bool) -> Role:
    """Who is no admin stays a viewer if they were one: OpenPAI knows no viewers."""
    if is_admin:
        return Role.ADMIN
    return Role.MEMBER if found.role is Role.ADMIN else found.role


def change_user(asked: Asked, found: User, role: Role | None, password: str | None) -> None:
    if role is None and password is None:
        return
    accounts = asked.state.accounts
    accounts.users.change(found.name, role=role, password=password)
    accounts.audit.add(asked.actor.name, "user.change", found.name, role=role, password=password is not None)
    if password is not None:
        end_tokens(asked, found.id)


def change_own_password(asked: Asked, old: str, fresh: str) -> None:
    accounts, name = asked.state.accounts, asked.actor.name
    accounts.attempts.begin(name, asked.address)
    if accounts.users.check_password(name, old) is None:
        raise NotAllowed("Pls input the correct password.")
    accounts.attempts.succeeded(name, asked.address)
    accounts.users.change(name, password=fresh)
    accounts.audit.add(name, "user.password", name)
    end_tokens(asked, asked.actor.id)


def remove_user(asked: Asked, name: str) -> None:
    asked.require(Role.ADMIN)
    found = find_user(asked, name)
    if found.role is Role.ADMIN:
        raise PaiRefusal(403, "RemoveAdminError", f"Admin {found.name} is not allowed to be removed.")
    asked.state.accounts.users.remove(found.name)
    asked.state.accounts.audit.add(asked.actor.name, "user.remove", found.name)


def require_clusters(asked: Asked, wanted: Collection[str]) -> None:
    """400 for a cluster that does not exist, 409 for one whose group means something else."""
    accounts = asked.state.accounts
    queues = {DEFAULT, *(queue.name for queue in accounts.queues.list())}
    missing = next((name for name in wanted if name not in queues), None)
    if missing is not None:
        raise no_cluster(missing, 400)
    other = next(
        (group for group in accounts.groups.list() if group.name in wanted and group.queue != group.name), None
    )
    if other is not None:  # its members would come along
        where = f"in the queue {other.queue}" if other.queue else "in no queue"
        words = f"the group {other.name} waits {where}; change that with: outlast group set {other.name} --queue"
        raise PaiRefusal(409, "ConflictVcError", f"{words} {other.name}")


def move_user(asked: Asked, found: User, wanted: Collection[str]) -> None:
    """Let a user belong to these clusters and to no other. Everybody is in `default`, in a group or not."""
    groups = {group.name: group for group in asked.state.accounts.groups.list()}
    waits = {name for name in found.groups if groups[name].queue is not None}
    kept = {name for name in waits if groups[name].queue in wanted}
    served = {DEFAULT, *(groups[name].queue for name in kept)}
    join = [name for name in wanted if name not in served]
    for name in (each for each in join if each not in groups):
        asked.state.accounts.groups.put(name, Quota(), name)
        asked.state.accounts.audit.add(asked.actor.name, "group.set", name, queue=name)
    regroup(asked, found, join=join, leave=waits - kept)


def regroup(asked: Asked, found: User, *, join: Collection[str], leave: Collection[str]) -> None:
    accounts = asked.state.accounts
    for name in sorted(set(join) - set(found.groups)):
        accounts.groups.join(name, found.name)
        accounts.audit.add(asked.actor.name, "group.join", name, user=found.name)
    for name in sorted(leave):
        accounts.groups.leave(name, found.name)
        accounts.audit.add(asked.actor.name, "group.leave", name, user=found.name)
