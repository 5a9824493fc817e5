"""Channels from the terminal: of this home's users, or one's own on the server that the settings name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from outlast.server.notices.desk import NoticeDesk
from outlast.server.terminal import Desk, open_desk
from outlast.settings import Settings


class Notices(Protocol):
    """What the terminal does with channels; each is shown as JSON, without its secrets."""

    def add(
        self, user: str | None, kind: str, target: str, *, secret: str = "", name: str = "",
        events: Iterable[str] = (), language: str = "en",
    ) -> dict[str, Any]:  # fmt: skip
        """Make a channel; `secret` is there when one was made for it."""

    def list(self, user: str | None) -> list[dict[str, Any]]: ...

    def test(self, channel_id: str) -> None: ...

    def remove(self, channel_id: str) -> dict[str, Any]: ...


@contextlib.contextmanager
def open_notices(settings: Settings) -> Iterator[Notices]:
    if settings.server:
        from outlast.server.notices.distant import DistantNotices

        yield DistantNotices(settings)
        return
    with open_desk(settings) as desk:
        yield HomeNotices(desk)


class HomeNotices:
    """The channels of everybody in this home's database."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._notices = NoticeDesk(desk.settings, desk.database)

    def add(self, user: str | None, kind: str, target: str, **words: Any) -> dict[str, Any]:
        owner = self._owner(user)
        added = self._notices.add(owner, kind, target, **words)
        self._desk.note("notice.add", added.channel.id, user=owner, kind=kind)
        return added.to_json()

    def list(self, user: str | None) -> list[dict[str, Any]]:
        return self._notices.list(user)

    def test(self, channel_id: str) -> None:
        self._notices.test(self._notices.channels.get(channel_id))

    def remove(self, channel_id: str) -> dict[str, Any]:
        found = self._notices.channels.remove(channel_id)
        self._desk.note("notice.remove", found.id, user=found.user)
        return found.to_json()

    def _owner(self, user: str | None) -> str:
        """Whose channel it is; as long as there are no accounts, this machine's user is the only one."""
        name, users = user or self._desk.settings.user, self._desk.accounts.users
        return users.get_active(name).name if users.exist() else name
