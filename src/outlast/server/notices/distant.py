"""One's own channels on a server that is asked over HTTP: the same verbs as `NoticeDesk`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outlast.errors import UsageError
from outlast.remote.server import part_of, server_of
from outlast.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable


class DistantNotices:
    """The channels of the one whose token we carry."""

    def __init__(self, settings: Settings) -> None:
        self._server = server_of(settings)
        self._here = settings.user

    def add(
        self, user: str | None, kind: str, target: str, *, secret: str = "", name: str = "",
        events: Iterable[str] = (), language: str = "en",
    ) -> dict[str, Any]:  # fmt: skip
        self._require_own(user)
        body = {"kind": kind, "target": target, "secret": secret, "name": name, "language": language}
        made: dict[str, Any] = self._server.ask("POST", "/me/notices", body | {"events": list(events)})
        return made

    def list(self, user: str | None) -> list[dict[str, Any]]:
        self._require_own(user)
        found: list[dict[str, Any]] = self._server.ask("GET", "/me/notices")["items"]
        return found

    def test(self, channel_id: str) -> None:
        self._server.ask("POST", f"/me/notices/{part_of(channel_id)}/test")

    def remove(self, channel_id: str) -> dict[str, Any]:
        removed: dict[str, Any] = self._server.ask("DELETE", f"/me/notices/{part_of(channel_id)}")
        return removed

    def _require_own(self, user: str | None) -> None:
        if user is not None and user not in (self._here, self._server.ask("GET", "/me")["name"]):
            raise UsageError("a server tells only of one's own channels", hint="leave --user out")
