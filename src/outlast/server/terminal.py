"""Accounts from the terminal: whoever may open the database may change them, with or without a running server."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from outlast.keeper.home import Home
from outlast.server.accounts.book import Accounts
from outlast.server.database import Database
from outlast.settings import Settings

_DEFAULT_ADDRESS = "http://127.0.0.1:8700"


@dataclass(frozen=True)
class Desk:
    """The accounts of a home, and who changes them."""

    accounts: Accounts
    settings: Settings
    database: Database

    def note(self, action: str, target: str, **detail: Any) -> None:
        """Write down what was done, and let the queues' shares follow."""
        self.accounts.audit.add(f"{self.settings.user} (terminal)", action, target, **detail)
        self.accounts.share_out(self.settings)

    def link(self, user: str) -> str:
        """An address where `user` chooses a password, once."""
        base = self.accounts.fact("address") or _DEFAULT_ADDRESS
        return f"{base}/welcome?code={self.accounts.make_link(user)}"


@contextlib.contextmanager
def open_desk(settings: Settings) -> Iterator[Desk]:
    """The accounts of this home, or of the server that the settings name."""
    if settings.server:
        from outlast.server.distant import DistantDesk

        yield cast(Desk, DistantDesk(settings))  # the same verbs, asked over HTTP
        return
    Home(settings.home)
    database = Database(settings.database)
    try:
        yield Desk(Accounts(database), settings, database)
    finally:
        database.close()
