"""The part of `Client` that knows the hub; imports the work when it is asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlast.operations.hubs import Repositories
    from outlast.settings import Settings


class Hubbing:
    """Repositories of this home's hub, or of the server's."""

    settings: Settings

    @cached_property
    def repositories(self) -> Repositories:
        """The hub's repositories: `create`, `list`, `get`, `change`, `rename`, `fork`, `download` and the rest."""
        if self.settings.server:
            from outlast.remote.repositories import ServedRepositories

            return ServedRepositories(self.settings)
        from outlast.operations.hubs import Repositories

        return Repositories(self.settings)
