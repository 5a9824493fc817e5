"""The part of `Client` that knows servers; imports the work when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlast.operations.login import Identity
    from outlast.remote.login import ServerLogin
    from outlast.settings import Settings


class ServerAccess:
    """Logging in to servers."""

    settings: Settings

    def login_server(
        self, url: str, token: str, *, profile: str = "", ca_file: str = "", verify: bool = True, in_file: bool = False
    ) -> ServerLogin:
        """Try a token at a server and keep it; nothing is kept when it does not let us in.

        client.login_server("https://lab.example", os.environ["LAB_TOKEN"])
        """
        from outlast.remote.login import login_server

        return login_server(
            self.settings, url, token, profile=profile, ca_file=ca_file, verify=verify, in_file=in_file
        )  # fmt: skip

    def servers(self, *, check: bool = False) -> list[Identity]:
        """The servers that a token is kept for; with `check` each is asked who we are."""
        from outlast.remote.login import known_servers

        return known_servers(self.settings, check=check)
