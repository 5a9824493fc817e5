"""The nouns of accounts: who there is, what they may do, and what they share."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from outlast.errors import NotFoundError, UsageError
from outlast.server.refusals import NotAllowed

NAME_PATTERN = r"^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$"


class Role(StrEnum):
    """What an account may do; each includes the ones before it."""

    VIEWER = "viewer"
    MEMBER = "member"
    ADMIN = "admin"

    def reaches(self, needed: Role) -> bool:
        order = list(Role)
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True)
class Actor:
    """The one who asks. `sees` are the users whose runs may be seen; None means everybody's."""

    id: int
    name: str
    role: Role
    groups: tuple[str, ...] = ()
    via: str = "local"  # local, session or token
    sees: frozenset[str] | None = None

    def may_see(self, owner: str) -> bool:
        return self.sees is None or owner in self.sees

    def may_change(self, owner: str) -> bool:
        """Admins change every run, members their own, viewers none."""
        return self.role is Role.ADMIN or (self.role is Role.MEMBER and owner == self.name)

    def require_sight(self, owner: str, what: str) -> None:
        """`NotFoundError` for what may not be seen: whether it exists is nobody else's business."""
        if not self.may_see(owner):
            raise NotFoundError(f"no such {what}")

    def require_change(self, owner: str, what: str) -> None:
        """As `require_sight`; `NotAllowed` for what may be seen but not changed."""
        self.require_sight(owner, what)
        if not self.may_change(owner):
            raise NotAllowed(f"this {what} belongs to {owner}", hint="ask them, or an admin")

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "role": self.role, "groups": self.groups, "via": self.via}


@dataclass(frozen=True)
class User:
    """An account. A removed one stays, inactive: its name is written in runs and must not pass to another person."""

    id: int
    name: str
    role: Role
    active: bool
    has_password: bool
    created_at: float
    groups: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name, "role": self.role, "active": self.active, "has_password": self.has_password,
            "created_at": moment(self.created_at), "groups": self.groups,
        }  # fmt: skip


@dataclass(frozen=True)
class Quota:
    """What the members of a group may use at once; None means no limit."""

    stints: int | None = None
    accelerators: int | None = None
    stored_bytes: int | None = None


@dataclass(frozen=True)
class Group:
    """People who see each other's runs, share a quota, and wait in one queue."""

    name: str
    quota: Quota = Quota()
    queue: str | None = None
    members: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name, "max_stints": self.quota.stints, "max_accelerators": self.quota.accelerators,
            "max_stored_bytes": self.quota.stored_bytes, "queue": self.queue, "members": self.members,
        }  # fmt: skip


@dataclass(frozen=True)
class Queue:
    """A share of the machines ("virtual cluster"); when all are busy, queues get time in proportion to `weight`."""

    name: str
    weight: float
    groups: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "weight": self.weight, "groups": self.groups}


def is_name(text: str) -> bool:
    return re.fullmatch(NAME_PATTERN, text) is not None and not text.endswith("\n")


def check_name(name: str, what: str) -> str:
    """`name` if a user, a group or a queue can be called so."""
    if not is_name(name):
        raise UsageError(
            f"{name!r} cannot be the name of a {what}",
            hint="up to 64 letters, digits, dots, dashes and underscores; the first and the last a letter or digit",
        )
    return name


def check_role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError:
        raise UsageError(f"unknown role {text!r}", hint=f"roles: {', '.join(reversed(Role))}") from None


def moment(seconds: float | None) -> str | None:
    """A time as it is shown: ISO 8601 in UTC."""
    if seconds is None:
        return None
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="seconds")
