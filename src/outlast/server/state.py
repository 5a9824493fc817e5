"""What one server process holds: made once, given to every request."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from fastapi import Request

from outlast.client import Client
from outlast.keeper.home import Home
from outlast.server.accounts.book import Accounts
from outlast.server.accounts.people import Actor
from outlast.server.database import Database
from outlast.server.recent import Recent
from outlast.settings import Settings


@dataclass
class ServerState:
    """The home that is served and everything around it that requests share."""

    settings: Settings
    client: Client
    database: Database
    accounts: Accounts
    #: Who was let in of late; cleared when accounts change.
    recent: Recent = field(default_factory=Recent)

    @classmethod
    def open(cls, settings: Settings) -> ServerState:
        """Open the home and its database; `HomeError` or `PlatformError` when one of them cannot be used."""
        settings = dataclasses.replace(settings, server="", token="")  # its own home, whatever the environment says
        Home(settings.home)
        database = Database(settings.database)
        return cls(settings, Client(settings=settings), database, Accounts(database))

    def client_of(self, actor: Actor) -> Client:
        """A client whose new runs belong to `actor`."""
        return Client(settings=dataclasses.replace(self.settings, user=actor.name))

    def close(self) -> None:
        """Give back what is held."""
        self.database.close()


def state_of(request: Request) -> ServerState:
    """The dependency that gives a route the state."""
    state: ServerState = request.app.state.outlast
    return state
