"""Accounts of a server elsewhere, as the terminal's verbs use those of this home: the same nouns over HTTP."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from outlast.errors import NotFoundError, UsageError
from outlast.remote.server import Server, part_of, server_of
from outlast.server.accounts.keys import Key
from outlast.server.accounts.people import Group, Queue, Quota, Role, User
from outlast.settings import Settings


class DistantDesk:
    """What `Desk` is at home. The server itself writes down what was done."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._server = server_of(settings)
        users = _Users(self._server, settings.user)
        self.accounts = DistantAccounts(users, _Groups(self._server), _Queues(self._server), _Keys(self._server, users))

    def note(self, action: str, target: str, **detail: Any) -> None:
        """Nothing: the server did it with the change itself."""

    def link(self, user: str) -> str:
        """An address where `user` chooses a password, once."""
        made = self._server.ask("POST", f"/users/{part_of(user)}/link")
        return f"{self._server.url}{made['link']}"


@dataclass(frozen=True)
class DistantAccounts:
    """The parts that the terminal's verbs change."""

    users: _Users
    groups: _Groups
    queues: _Queues
    keys: _Keys


@dataclass(frozen=True)
class _Users:
    server: Server
    here: str  # what we are called on this machine

    def list(self) -> list[User]:
        """With the place in this list for an id: the server tells none, and `_Keys` only needs to find the user."""
        return [_user(each, place) for place, each in enumerate(self.server.ask("GET", "/users")["items"])]

    def exist(self) -> bool:
        return bool(self.list())

    def get(self, name: str) -> User:
        found = next((user for user in self.list() if user.name == name), None)
        if found is None:
            raise NotFoundError(f"no user {name!r}", hint="list them with: outlast user list")
        return found

    def get_active(self, name: str) -> User:
        """A user; the name of this machine's user means the one whose token we carry."""
        return self.get(self.server.ask("GET", "/me")["name"] if name == self.here else name)

    def add(self, name: str, role: Role, password: str | None = None, *, restore: bool = False) -> User:
        body = {"name": name, "role": role, "password": password, "restore": restore}
        return _user(self.server.ask("POST", "/users", body))

    def change(self, name: str, *, role: Role | None = None, password: str | None = None) -> User:
        return _user(self.server.ask("PATCH", f"/users/{part_of(name)}", {"role": role, "password": password}))

    def remove(self, name: str) -> User:
        return _user(self.server.ask("DELETE", f"/users/{part_of(name)}"))


@dataclass(frozen=True)
class _Groups:
    server: Server

    def list(self) -> list[Group]:
        return [_group(each) for each in self.server.ask("GET", "/groups")["items"]]

    def get(self, name: str) -> Group:
        found = next((group for group in self.list() if group.name == name), None)
        if found is None:
            raise NotFoundError(f"no group {name!r}", hint="list them with: outlast group list")
        return found

    def put(self, name: str, quota: Quota, queue: str | None = None) -> Group:
        body = {
            "max_stints": quota.stints, "max_accelerators": quota.accelerators, "max_stored_bytes": quota.stored_bytes,
            "queue": queue,
        }  # fmt: skip
        return _group(self.server.ask("PUT", f"/groups/{part_of(name)}", body))

    def join(self, name: str, user: str) -> Group:
        return _group(self.server.ask("PUT", f"/groups/{part_of(name)}/members/{part_of(user)}"))

    def leave(self, name: str, user: str) -> Group:
        return _group(self.server.ask("DELETE", f"/groups/{part_of(name)}/members/{part_of(user)}"))

    def remove(self, name: str) -> None:
        self.server.ask("DELETE", f"/groups/{part_of(name)}")


@dataclass(frozen=True)
class _Queues:
    server: Server

    def list(self) -> list[Queue]:
        return [_queue(each) for each in self.server.ask("GET", "/queues")["items"]]

    def put(self, name: str, weight: float) -> Queue:
        return _queue(self.server.ask("PUT", f"/queues/{part_of(name)}", {"weight": weight}))

    def remove(self, name: str) -> None:
        self.server.ask("DELETE", f"/queues/{part_of(name)}")


@dataclass(frozen=True)
class _Keys:
    server: Server
    users: _Users

    def create(self, kind: str, user_id: int, *, name: str = "", lasts_s: float | None = None) -> tuple[str, Key]:
        if kind != "token":
            raise UsageError(
                "access keys of a server are shown in its console",
                hint=f"open {self.server.url}, or make one at its own terminal",
            )
        body = {"name": name, "expires_s": lasts_s, "user": self.users.list()[user_id].name}
        made = self.server.ask("POST", "/tokens", body)
        return made["token"], _key(made)

    def list(self, kind: str, user_id: int | None = None) -> list[Key]:
        """Everybody's for an admin who names nobody; for others their own."""
        everybody = self.server.ask("GET", "/me")["role"] == Role.ADMIN
        found = self.server.ask("GET", "/tokens", query=[("everybody", str(everybody).lower())])["items"]
        name = None if user_id is None else self.users.list()[user_id].name
        return [_key(each) for each in found if name in (None, each["user"])]

    def revoke(self, kind: str, key_id: str) -> Key:
        return _key(self.server.ask("DELETE", f"/tokens/{part_of(key_id)}"))


def _user(body: dict[str, Any], place: int = 0) -> User:
    created_at = _seconds(body["created_at"])
    return User(place, body["name"], Role(body["role"]), body["active"], body["has_password"], created_at or 0.0,
                tuple(body["groups"]))  # fmt: skip


def _key(body: dict[str, Any]) -> Key:
    times = [_seconds(body[name]) for name in ("created_at", "expires_at", "used_at")]
    return Key(body["id"], body["kind"], None, body["user"], body["name"], times[0] or 0.0, *times[1:])


def _seconds(text: str | None) -> float | None:
    return None if text is None else datetime.datetime.fromisoformat(text).timestamp()


def _group(body: dict[str, Any]) -> Group:
    quota = Quota(body["max_stints"], body["max_accelerators"], body["max_stored_bytes"])
    return Group(body["name"], quota, body["queue"], tuple(body["members"]))


def _queue(body: dict[str, Any]) -> Queue:
    return Queue(body["name"], body["weight"], tuple(body["groups"]))
