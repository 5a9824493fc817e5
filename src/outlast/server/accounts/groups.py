"""Groups with their quotas, and the queues that groups wait in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from outlast.errors import NotFoundError, UsageError
from outlast.server.accounts.people import Group, Queue, Quota, check_name
from outlast.server.database import Database
from outlast.server.refusals import Conflict
from outlast.server.schema import groups, members, queues, users


class Groups:
    """Groups by name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, name: str, quota: Quota, queue: str | None = None) -> Group:
        """Make a group, or give the one that is there another quota and queue."""
        check_name(name, "group")
        _check_quota(quota)
        values = {
            "max_stints": quota.stints, "max_accelerators": quota.accelerators,
            "max_stored_bytes": quota.stored_bytes, "queue": queue,
        }  # fmt: skip
        with self._database.write() as connection:
            if queue is not None and not _queue_is_there(connection, queue):
                raise NotFoundError(f"no queue {queue}", hint=f"make it with: outlast queue set {queue} --weight 1")
            if not connection.execute(sa.update(groups).where(groups.c.name == name).values(values)).rowcount:
                connection.execute(sa.insert(groups).values(name=name, **values))
        return self.get(name)

    def get(self, name: str) -> Group:
        with self._database.read() as connection:
            found = _groups(connection, groups.c.name == name)
        if not found:
            raise _no_group(name)
        return found[0]

    def of(self, user_id: int) -> list[Group]:
        """The groups that a user belongs to, with all their members."""
        mine = sa.select(members.c.group_id).where(members.c.user_id == user_id)
        with self._database.read() as connection:
            return _groups(connection, groups.c.id.in_(mine))

    def remove(self, name: str) -> None:
        """Dissolve a group; its members and their runs stay."""
        with self._database.write() as connection:
            if not connection.execute(sa.delete(groups).where(groups.c.name == name)).rowcount:
                raise _no_group(name)

    def join(self, name: str, user: str) -> Group:
        """Let a user belong to a group; nothing happens when they do already."""
        with self._database.write() as connection:
            pair = _pair(connection, name, user)
            here = (members.c.group_id == pair["group_id"], members.c.user_id == pair["user_id"])
            if connection.execute(sa.select(members).where(*here)).first() is None:
                connection.execute(sa.insert(members).values(pair))
        return self.get(name)

    def leave(self, name: str, user: str) -> Group:
        with self._database.write() as connection:
            pair = _pair(connection, name, user)
            here = (members.c.group_id == pair["group_id"], members.c.user_id == pair["user_id"])
            if not connection.execute(sa.delete(members).where(*here)).rowcount:
                raise NotFoundError(f"{user} is not in the group {name}", hint="see them with: outlast group list")
        return self.get(name)

    def list(self) -> list[Group]:
        with self._database.read() as connection:
            return _groups(connection)


class Queues:
    """Queues by name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, name: str, weight: float) -> Queue:
        """Make a queue, or give the one that is there another weight."""
        check_name(name, "queue")
        if not 0 < weight < math.inf:
            raise UsageError(f"{weight:g} cannot be a weight", hint="a weight is a number above 0")
        with self._database.write() as connection:
            if not connection.execute(sa.update(queues).where(queues.c.name == name).values(weight=weight)).rowcount:
                connection.execute(sa.insert(queues).values(name=name, weight=weight))
        return next(queue for queue in self.list() if queue.name == name)

    def list(self) -> list[Queue]:
        waiting: dict[str, list[str]] = {}
        with self._database.read() as connection:
            for group in _groups(connection):
                waiting.setdefault(group.queue or "", []).append(group.name)
            rows = connection.execute(sa.select(queues).order_by(queues.c.name)).all()
        return [Queue(row.name, row.weight, tuple(waiting.get(row.name, ()))) for row in rows]

    def remove(self, name: str) -> None:
        """Take away a queue that no group waits in."""
        with self._database.write() as connection:
            used = connection.execute(sa.select(groups.c.name).where(groups.c.queue == name)).scalars().all()
            if used:
                raise Conflict(f"the queue {name} is used by {', '.join(used)}", hint="give them another queue first")
            if not connection.execute(sa.delete(queues).where(queues.c.name == name)).rowcount:
                raise NotFoundError(f"no queue {name}", hint="see them with: outlast queue list")


def shares(all_queues: Sequence[Queue], all_groups: Sequence[Group]) -> Mapping[str, float]:
    """User → weight, so that busy queues get time in proportion to theirs: members share their queue's evenly.

    Whoever is in several queues gets the largest share; who is in none weighs 1, as a queue of one's own would.
    """
    waiting: dict[str, set[str]] = {}
    for group in all_groups:
        if group.queue is not None:
            waiting.setdefault(group.queue, set()).update(group.members)
    weights: dict[str, float] = {}
    for queue in all_queues:
        people = waiting.get(queue.name, set())
        for user in people:
            weights[user] = max(weights.get(user, 0.0), queue.weight / len(people))
    return dict(sorted(weights.items()))


def _groups(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> list[Group]:
    joined = sa.select(members.c.group_id, users.c.name).join(users, users.c.id == members.c.user_id)
    people: dict[int, list[str]] = {}
    for group, user in connection.execute(joined.order_by(users.c.name)):
        people.setdefault(group, []).append(user)
    rows = connection.execute(sa.select(groups).where(*conditions).order_by(groups.c.name))
    return [
        Group(row.name, Quota(row.max_stints, row.max_accelerators, row.max_stored_bytes), row.queue,
              tuple(people.get(row.id, ())))
        for row in rows
    ]  # fmt: skip


def _pair(connection: sa.Connection, group: str, user: str) -> dict[str, int]:
    group_id = connection.execute(sa.select(groups.c.id).where(groups.c.name == group)).scalar()
    user_id = connection.execute(sa.select(users.c.id).where(users.c.name == user, users.c.active)).scalar()
    if group_id is None:
        raise _no_group(group)
    if user_id is None:
        raise NotFoundError(f"no user {user}", hint="see them with: outlast user list")
    return {"group_id": group_id, "user_id": user_id}


def _queue_is_there(connection: sa.Connection, name: str) -> bool:
    return connection.execute(sa.select(queues.c.name).where(queues.c.name == name)).first() is not None


def _check_quota(quota: Quota) -> None:
    for what, value in (("stints", quota.stints), ("accelerators", quota.accelerators), ("bytes", quota.stored_bytes)):
        if value is not None and not 0 <= value < 2**31 * (2**31 if what == "bytes" else 1):
            raise UsageError(f"a quota of {value} {what} is not possible", hint="a quota is a whole number from 0")


def _no_group(name: str) -> NotFoundError:
    return NotFoundError(f"no group {name}", hint="see them with: outlast group list")
