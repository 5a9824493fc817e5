"""Random keys that let somebody in: personal tokens, access keys that sign, sessions of browsers, one-time links.

Each is shown once and kept as a digest; 256 random bits need no slow hash. An access key is the public half of a pair:
its secret is nowhere, see `outlast.server.accounts.pairs`.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from outlast.errors import NotFoundError
from outlast.server.accounts.people import moment
from outlast.server.database import Database
from outlast.server.schema import keys, users

Kind = Literal["token", "access", "session", "link"]

#: A token can be told from other text, for example by scanners that look for leaked ones.
_PREFIX = {"token": "outlast_", "session": "", "link": ""}
SESSION_S = 14 * 86400.0
LINK_S = 2 * 86400.0
#: The time of the last use is written this often at most: a busy token must not write at each request.
_USE_STEP_S = 60.0


@dataclass(frozen=True)
class Key:
    """What is known of a key; never the key itself."""

    id: str
    kind: str
    user_id: int | None  # None: whoever has it becomes the first admin
    user: str | None
    name: str
    created_at: float
    expires_at: float | None
    used_at: float | None

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id, "kind": self.kind, "name": self.name, "user": self.user,
            "created_at": moment(self.created_at), "expires_at": moment(self.expires_at),
            "used_at": moment(self.used_at),
        }  # fmt: skip


class Keys:
    """Keys of all kinds. A key that has run out is as good as none."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def create(
        self, kind: Kind, user_id: int | None, *, name: str = "", lasts_s: float | None = None
    ) -> tuple[str, Key]:
        """A new key, as text that is never shown again, and its record."""
        text = secrets.token_hex(10).upper() if kind == "access" else _PREFIX[kind] + secrets.token_urlsafe(32)
        now = self._clock()
        with self._database.write() as connection:
            connection.execute(sa.delete(keys).where(keys.c.kind.in_(("session", "link")), keys.c.expires_at < now))
            own_id = secrets.token_hex(4)
            connection.execute(
                sa.insert(keys).values(
                    id=own_id, kind=kind, digest=digest(text), user_id=user_id, name=name, created_at=now,
                    expires_at=None if lasts_s is None else now + lasts_s,
                )
            )  # fmt: skip
            return text, _keys(connection, keys.c.id == own_id)[0]

    def find(self, kind: Kind, text: str) -> Key | None:
        """The valid key that `text` is; notes that it was used."""
        now = self._clock()
        valid = (keys.c.kind == kind, keys.c.digest == digest(text), _lasts(now))
        with self._database.read() as connection:
            found = _keys(connection, *valid)
        if not found:
            return None
        if now - (found[0].used_at or 0.0) > _USE_STEP_S:
            with self._database.write() as connection:
                connection.execute(sa.update(keys).where(*valid).values(used_at=now))
        return found[0]

    def take(self, text: str) -> Key | None:
        """Use up a one-time link: of several who try, one gets it."""
        now = self._clock()
        valid = (keys.c.kind == "link", keys.c.digest == digest(text), _lasts(now))
        with self._database.write() as connection:
            found = _keys(connection, *valid)
            gone = connection.execute(sa.delete(keys).where(*valid)).rowcount
        return found[0] if found and gone else None

    def list(self, kind: Kind, user_id: int | None = None) -> list[Key]:
        """Keys of one user, or of everybody, oldest first; those that have run out too."""
        mine = [keys.c.user_id == user_id] if user_id is not None else []
        with self._database.read() as connection:
            return _keys(connection, _listed_as(kind), *mine)

    def revoke(self, kind: Kind, key_id: str, user_id: int | None = None) -> Key:
        """End a key at once; with a user, only one of theirs."""
        mine = [keys.c.user_id == user_id] if user_id is not None else []
        which = (_listed_as(kind), keys.c.id == key_id, *mine)
        with self._database.write() as connection:
            found = _keys(connection, *which)
            connection.execute(sa.delete(keys).where(*which))
        if not found:
            raise NotFoundError(f"no {kind} {key_id}", hint=f"see them with: outlast {kind} list")
        return found[0]

    def forget(self, kind: Kind, text: str) -> None:
        """End the key that `text` is, if it is one."""
        with self._database.write() as connection:
            connection.execute(sa.delete(keys).where(keys.c.kind == kind, keys.c.digest == digest(text)))

    def forget_first_links(self) -> None:
        """End every link that would make a first admin."""
        with self._database.write() as connection:
            connection.execute(sa.delete(keys).where(keys.c.kind == "link", keys.c.user_id.is_(None)))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _listed_as(kind: Kind) -> sa.ColumnElement[bool]:
    """An access key is listed and revoked like a token: both are for programs."""
    return keys.c.kind.in_(("token", "access")) if kind == "token" else keys.c.kind == kind


def _lasts(now: float) -> sa.ColumnElement[bool]:
    return sa.or_(keys.c.expires_at.is_(None), keys.c.expires_at > now)


def _keys(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> list[Key]:
    chosen = (
        sa.select(keys.c.id, keys.c.kind, keys.c.user_id, users.c.name.label("user"), keys.c.name, keys.c.created_at,
                  keys.c.expires_at, keys.c.used_at)
        .join(users, users.c.id == keys.c.user_id, isouter=True)
        .where(*conditions)
        .order_by(keys.c.created_at, keys.c.id)
    )  # fmt: skip
    return [Key(*row) for row in connection.execute(chosen)]
