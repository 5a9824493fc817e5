"""What users do with their channels, the same for the API and the terminal."""

from __future__ import annotations

import dataclasses
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from outlast.errors import UsageError
from outlast.server.database import Database
from outlast.server.notices.channels import Channel, new_id
from outlast.server.notices.courier import Courier, sender_of
from outlast.server.notices.events import SAMPLE, Event
from outlast.server.notices.targets import check_target
from outlast.server.notices.texts import compose
from outlast.settings import Settings

_SECRET_MOST = 500


@dataclass(frozen=True)
class Added:
    """A new channel, and the key of its signatures if one was made for it: shown this one time."""

    channel: Channel
    secret: str = ""

    def to_json(self) -> dict[str, Any]:
        return self.channel.to_json() | ({"secret": self.secret} if self.secret else {})


class NoticeDesk:
    """The channels of a home's users."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._courier = Courier(settings, database)  # not started: only its parts are used
        self.channels = self._courier.channels

    def add(
        self, user: str, kind: str, target: str, *, secret: str = "", name: str = "",
        events: Iterable[str] = tuple(Event), language: str = "en",
    ) -> Added:  # fmt: skip
        """Keep a channel. A webhook without a secret gets one; what has ended already is not told to it."""
        allowed = Settings.load(os.environ, home=self._settings.home).notice_private
        target = check_target(kind, target, allow_private=allowed)
        if secret and kind not in ("webhook", "dingtalk"):
            raise UsageError(f"{kind} takes no secret", hint="webhook and dingtalk do")
        if len(secret) > _SECRET_MOST or not secret.isprintable():
            raise UsageError("this cannot be a secret", hint=f"up to {_SECRET_MOST} characters on one line")
        made = secrets.token_urlsafe(24) if kind == "webhook" and not secret else ""
        own_id = new_id()
        self._courier.watcher.begin(own_id, user)
        channel = self.channels.add(
            own_id, user, kind, target, secret=secret or made, label=name, events=events, language=language
        )
        return Added(channel, made)

    def list(self, user: str | None) -> list[dict[str, Any]]:
        """Channels without their secrets, each with what became of its last message (`last`, or null)."""
        found = self.channels.list(user)
        last = self._courier.deliveries.last(found)
        return [channel.to_json() | {"last": last.get(channel.id)} for channel in found]

    def test(self, channel: Channel) -> None:
        """Send a sample now, once; `Undelivered` says why it did not arrive."""
        sample = dataclasses.replace(SAMPLE, user=channel.user)
        message = compose(sample, channel.language, delivery=f"test.{secrets.token_hex(8)}")
        sender_of(self._settings).send(channel.kind, channel.target, channel.secret, message)
