"""Where each user wants to be told, kept in the database. What is secret goes in and never comes out again."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from outlast.errors import NotFoundError, UsageError
from outlast.server.accounts.people import moment
from outlast.server.database import Database
from outlast.server.notices.events import Event
from outlast.server.notices.targets import masked
from outlast.server.notices.texts import check_language
from outlast.server.refusals import Conflict
from outlast.server.schema import notice_channels, notice_deliveries, users

#: For each user; everybody's are looked through every few seconds.
MOST = 20
_LABEL_MOST = 64


@dataclass(frozen=True)
class Channel:
    """One way to tell one user."""

    id: str
    user: str
    kind: str
    label: str
    target: str = field(repr=False)
    secret: str = field(repr=False)
    events: tuple[Event, ...]
    language: str
    created_at: float

    def to_json(self) -> dict[str, Any]:
        """Everything but the secrets."""
        return {
            "id": self.id, "kind": self.kind, "name": self.label, "target": masked(self.kind, self.target),
            "signed": bool(self.secret), "events": self.events, "language": self.language, "user": self.user,
            "created_at": moment(self.created_at),
        }  # fmt: skip


class Channels:
    """The channels of everybody. A target is taken as it is: check it first."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def add(
        self, channel_id: str, user: str, kind: str, target: str, *, secret: str = "", label: str = "",
        events: Iterable[str] = tuple(Event), language: str = "en",
    ) -> Channel:  # fmt: skip
        """Keep a channel; it has an id already, because what happened before it is noted first."""
        values = {
            "id": channel_id, "user_name": user, "kind": kind, "label": check_label(label), "target": target,
            "secret": secret, "events": ",".join(check_events(events)), "language": check_language(language),
            "created_at": self._clock(),
        }  # fmt: skip
        with self._database.write() as connection:
            if len(_channels(connection, notice_channels.c.user_name == user)) >= MOST:
                raise Conflict(f"{user} has {MOST} channels already", hint="remove one: outlast notify remove ID")
            connection.execute(sa.insert(notice_channels).values(values))
            return _channels(connection, notice_channels.c.id == channel_id)[0]

    def change(
        self, channel_id: str, user: str, *, label: str | None = None, events: Iterable[str] | None = None,
        language: str | None = None,
    ) -> Channel:  # fmt: skip
        """Give one of a user's channels another name, language or choice of events; None leaves it as it is."""
        values: dict[str, str] = {}
        if label is not None:
            values["label"] = check_label(label)
        if events is not None:
            values["events"] = ",".join(check_events(events))
        if language is not None:
            values["language"] = check_language(language)
        with self._database.write() as connection:
            if values:
                connection.execute(sa.update(notice_channels).where(*_which(channel_id, user)).values(values))
            return _one(connection, channel_id, user)

    def in_use(self) -> list[Channel]:
        """Everybody's but those of removed accounts."""
        gone = sa.select(users.c.name).where(users.c.active.is_(False))
        with self._database.read() as connection:
            return _channels(connection, notice_channels.c.user_name.not_in(gone))

    def get(self, channel_id: str, user: str | None = None) -> Channel:
        """One channel; with a user, only one of theirs."""
        with self._database.read() as connection:
            return _one(connection, channel_id, user)

    def remove(self, channel_id: str, user: str | None = None) -> Channel:
        """Forget a channel, its secrets, and what was still to be sent to it."""
        with self._database.write() as connection:
            found = _one(connection, channel_id, user)
            connection.execute(sa.delete(notice_channels).where(notice_channels.c.id == found.id))
            connection.execute(sa.delete(notice_deliveries).where(notice_deliveries.c.channel_id == found.id))
        return found

    def list(self, user: str | None = None) -> list[Channel]:
        """A user's, or everybody's, oldest first."""
        mine = [notice_channels.c.user_name == user] if user is not None else []
        with self._database.read() as connection:
            return _channels(connection, *mine)


def new_id() -> str:
    return secrets.token_hex(4)


def check_events(words: Iterable[str]) -> list[str]:
    """The events that a user named, in their usual order; `UsageError` names the unknown one."""
    wanted = {word.strip() for word in words} - {""}
    unknown = sorted(wanted - set(Event))
    if unknown or not wanted:
        what = f"unknown event {unknown[0]!r}" if unknown else "no event is named"
        raise UsageError(what, hint=f"events: {', '.join(Event)}")
    return [event.value for event in Event if event in wanted]


def check_label(text: str) -> str:
    if len(text) > _LABEL_MOST or not text.isprintable():
        raise UsageError("this cannot be a channel's name", hint=f"up to {_LABEL_MOST} characters on one line")
    return text


def _which(channel_id: str, user: str | None) -> list[sa.ColumnElement[bool]]:
    mine = [notice_channels.c.user_name == user] if user is not None else []
    return [notice_channels.c.id == channel_id, *mine]


def _one(connection: sa.Connection, channel_id: str, user: str | None) -> Channel:
    found = _channels(connection, *_which(channel_id, user))
    if not found:
        raise NotFoundError(f"no channel {channel_id}", hint="see them with: outlast notify list")
    return found[0]


def _channels(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> list[Channel]:
    order = (notice_channels.c.created_at, notice_channels.c.id)
    rows = connection.execute(sa.select(notice_channels).where(*conditions).order_by(*order))
    return [
        Channel(row.id, row.user_name, row.kind, row.label, row.target, row.secret,
                tuple(Event(word) for word in row.events.split(",")), row.language, row.created_at)
        for row in rows
    ]  # fmt: skip
