"""The accounts themselves."""

from __future__ import annotations

import time
from collections.abc import Callable

import sqlalchemy as sa

from outlast.errors import NotFoundError, UsageError
from outlast.server.accounts.passwords import hash_password, is_password
from outlast.server.accounts.people import Actor, Role, User, check_name
from outlast.server.database import Database
from outlast.server.refusals import Conflict
from outlast.server.schema import groups, keys, members, users


class Users:
    """Accounts by name. The last active admin can neither be removed nor lose the role."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def exist(self) -> bool:
        """Whether anybody has an account: then nobody is let in without one."""
        with self._database.read() as connection:
            return connection.execute(sa.select(users.c.id).limit(1)).first() is not None

    def add(self, name: str, role: Role = Role.MEMBER, password: str | None = None, *, restore: bool = False) -> User:
        """Make an account. With `restore` bring back a removed one: with its name come its runs."""
        check_name(name, "user")
        hashed = hash_password(password) if password is not None else None
        with self._database.write() as connection:
            # Names that differ only in case would be mistaken for each other.
            same = sa.func.lower(users.c.name) == name.lower()
            there = connection.execute(sa.select(users).where(same)).first()
            if there is None:
                connection.execute(
                    sa.insert(users).values(name=name, role=role, password=hashed, created_at=self._clock())
                )
            elif there.active or there.name != name:
                raise Conflict(f"there is a user {there.name} already", hint="see them with: outlast user list")
            elif not restore:
                raise Conflict(
                    f"{name} was removed, and runs carry that name",
                    hint=f"choose another one, or bring the account back with: outlast user add {name} --restore",
                )
            else:
                back = sa.update(users).where(users.c.id == there.id)
                connection.execute(back.values(role=role, password=hashed, active=True))
        return self.get(name)

    def list(self) -> list[User]:
        with self._database.read() as connection:
            return _users(connection)

    def get(self, name: str) -> User:
        """The account of that name, removed or not."""
        with self._database.read() as connection:
            found = _users(connection, users.c.name == name)
        if not found:
            raise NotFoundError(f"no user {name}", hint="see them with: outlast user list")
        return found[0]

    def get_active(self, name: str) -> User:
        """The account of that name; a removed one counts as none."""
        user = self.get(name)
        if not user.active:
            raise NotFoundError(
                f"the account {name} was removed", hint=f"bring it back: outlast user add {name} --restore"
            )
        return user

    def change(self, name: str, *, role: Role | None = None, password: str | None = None) -> User:
        """Give an account another role or password. A new password ends all its sessions."""
        values: dict[str, str] = {} if role is None else {"role": role}
        if password is not None:
            values["password"] = hash_password(password)
        with self._database.write() as connection:
            user = _active(connection, name)
            if values:
                connection.execute(sa.update(users).where(users.c.id == user.id).values(**values))
            if password is not None:
                _end_keys(connection, user.id, keys.c.kind.in_(("session", "link")))
            _require_admin(connection)
        return self.get(name)

    def remove(self, name: str) -> User:
        """Shut an account: tokens, sessions, links and memberships go; runs stay, and so does the name."""
        with self._database.write() as connection:
            user = _active(connection, name)
            connection.execute(sa.update(users).where(users.c.id == user.id).values(active=False, password=None))
            _end_keys(connection, user.id, sa.true())
            connection.execute(sa.delete(members).where(members.c.user_id == user.id))
            _require_admin(connection)
        return self.get(name)

    def check_password(self, name: str, password: str) -> User | None:
        """The account that name and password belong to. Takes as long when there is no such account."""
        with self._database.read() as connection:
            found = connection.execute(sa.select(users).where(users.c.name == name, users.c.active)).first()
        # Outside the transaction: the work takes a tenth of a second.
        return self.get(name) if is_password(password, found.password if found else None) and found else None

    def actor(self, user_id: int, via: str) -> Actor | None:
        """An active account as the one who asks, with what it sees."""
        with self._database.read() as connection:
            found = _users(connection, users.c.id == user_id, users.c.active)
            if not found:
                return None
            user = found[0]
            sees = None if user.role is Role.ADMIN else frozenset(_seen(connection, user_id)) | {user.name}
        return Actor(user.id, user.name, user.role, user.groups, via, sees)


def _users(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> list[User]:
    joined = sa.select(members.c.user_id, groups.c.name).join(groups, groups.c.id == members.c.group_id)
    belongs: dict[int, list[str]] = {}
    for user, group in connection.execute(joined.order_by(groups.c.name)):
        belongs.setdefault(user, []).append(group)
    rows = connection.execute(sa.select(users).where(*conditions).order_by(users.c.name))
    return [
        User(row.id, row.name, Role(row.role), row.active, row.password is not None, row.created_at,
             tuple(belongs.get(row.id, ())))
        for row in rows
    ]  # fmt: skip


def _active(connection: sa.Connection, name: str) -> sa.Row[tuple[int]]:
    chosen = sa.select(users.c.id).where(users.c.name == name, users.c.active)
    found = connection.execute(chosen).first()
    if found is None:
        raise NotFoundError(f"no user {name}", hint="see them with: outlast user list")
    return found


def _seen(connection: sa.Connection, user_id: int) -> list[str]:
    """Names of everybody who shares a group with a user."""
    mine = sa.select(members.c.group_id).where(members.c.user_id == user_id)
    shared = sa.select(users.c.name).join(members, members.c.user_id == users.c.id).where(members.c.group_id.in_(mine))
    return list(connection.execute(shared).scalars())


def _end_keys(connection: sa.Connection, user_id: int, which: sa.ColumnElement[bool]) -> None:
    connection.execute(sa.delete(keys).where(keys.c.user_id == user_id, which))


def _require_admin(connection: sa.Connection) -> None:
    """Called last in a transaction: without an admin, all of it is undone."""
    admins = sa.select(users.c.id).where(users.c.role == Role.ADMIN, users.c.active)
    if not connection.execute(admins).first():
        raise UsageError("this is the last admin", hint="make somebody else admin first: outlast user change NAME")
